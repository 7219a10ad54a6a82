import Appliance
import Bytes
import CivilTime
import Commands
import Crypto
import Foundation
import Issuer
import Kernel
import Pictures
import Testing
import Wallet
import WalletCommands

@testable import ReaderCommands

/// A real issuer root, as people paste it: bare base64.
private let pasted = """
  MIICYzCCAgmgAwIBAgIKXhjLoCkLWBxREDAKBggqhkjOPQQDAjA4MQswCQYDVQQGEwJBVTEpMCcGA1UEAwwgbW9udGNsaWZmLWRt\
  di5tYXR0cmxhYnMuY29tIElBQ0EwHhcNMjQwMTE4MjMxNDE4WhcNMzQwMTE1MjMxNDE4WjA4MQswCQYDVQQGEwJBVTEpMCcGA1UE\
  AwwgbW9udGNsaWZmLWRtdi5tYXR0cmxhYnMuY29tIElBQ0EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASBnqobOh8baMW7mpSZ\
  aQMawj6wgM5e5nPd6HXpdB8eUVPlCMKribQ7XiiLU96rib/yQLH2k1CUeZmEjxoEi42xo4H6MIH3MBIGA1UdEwEB/wQIMAYBAf8C\
  AQAwDgYDVR0PAQH/BAQDAgEGMB0GA1UdDgQWBBRFZwEOI9yq232NG+OzNQzFKa/LxDAuBgNVHRIEJzAlhiNodHRwczovL21vbnRj\
  bGlmZi1kbXYubWF0dHJsYWJzLmNvbTCBgQYDVR0fBHoweDB2oHSgcoZwaHR0cHM6Ly9tb250Y2xpZmYtZG12LnZpaS5hdTAxLm1h\
  dHRyLmdsb2JhbC92Mi9jcmVkZW50aWFscy9tb2JpbGUvaWFjYXMvMjk0YmExYmMtOTFhMS00MjJmLThhMTctY2IwODU0NWY0ODYw\
  L2NybDAKBggqhkjOPQQDAgNIADBFAiAlZYQP95lGzVJfCykhcpCzpQ2LWE/AbjTGkcGISNsu7gIhAJfP54a2hXz4YiQN4qJERlOR\
  jyL1Ru9M0/dtQppohFm6
  """

private let engagement = """
  mdoc:owBjMS4wAYIB2BhYS6QBAiABIVgghaBYJe7KSqcEolhmnIJaYJ2AIevkKbEy5xP7tkwlqAwiWCAMGCGe6uFI2hKeghb59h_\
  K4hPV-Ldq6vnaxsRiySMH9gKBgwIBowD0AfULUKRoj0ZH60Qco-m0k97qRSQ
  """

/// A folder with a configuration, gone with the test.
private final class SiteFolder {
  let path = NSTemporaryDirectory() + "mdoc-site-\(UInt64.random(in: 0 ... .max))"
  var configuration: String { path + "/reader.toml" }

  init(_ text: String = SiteFolder.good) throws {
    let board = path + "/board/simulated"
    for folder in [board, path + "/pictures", path + "/air"] {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }
    let facts =
      "name = \"simulated\"\n[camera]\nkind = \"pictures\"\n[radio]\nkind = \"air\"\n[panel]\nkind = \"terminal\"\n"
    try facts.write(toFile: board + "/board.toml", atomically: true, encoding: .utf8)
    try text.write(toFile: configuration, atomically: true, encoding: .utf8)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  static let good = """
    board = "simulated"
    [[request.document]]
    doc_type = "org.iso.18013.5.1.mDL"
    [request.document.name_spaces]
    "org.iso.18013.5.1" = ["age_over_18"]
    [trust]
    folder = "trust"
    [status]
    file = "status.json"
    """

  func run(_ words: String...) -> (status: Int32, out: String, err: String) {
    var out = ""
    var err = ""
    let console = Console(program: "mdoc-reader") { if $1 { out += $0 } else { err += $0 } }
    let status = ReaderCommands.run(words + ["--config", configuration], console: console)
    return (status, out, err)
  }
}

@Suite("The verbs of a technician")
struct VerbTests {
  @Test("a pasted root is added, listed with subject and dates, shown and removed")
  func trust() throws {
    let site = try SiteFolder()
    let file = site.path + "/pasted.txt"
    try pasted.write(toFile: file, atomically: true, encoding: .utf8)
    let added = site.run("trust", "add", file)
    #expect(added.status == 0 && added.out.hasPrefix("added "))
    let digits = String(added.out.dropFirst(6).prefix(64))
    #expect(site.run("trust", "add", file).out == "already there \(digits)\n")
    let listed = site.run("trust", "list")
    #expect(listed.status == 0)
    #expect(
      listed.out.contains("montcliff-dmv.mattrlabs.com IACA") && listed.out.contains("2024-01-18 to 2034-01-15"),
      "\(listed.out)")
    let shown = site.run("trust", "show", String(digits.prefix(8)))
    #expect(shown.out.contains("key          P-256") && shown.out.contains("trusted as   issuer root"))
    #expect(site.run("trust", "remove", String(digits.prefix(8))).out == "removed \(digits)\n")
    let gone = site.run("trust", "show", String(digits.prefix(8)))
    #expect(gone.status == 1 && gone.out.isEmpty)
    #expect(gone.err.contains("no certificate of the store") && gone.err.contains("trust list"))
  }

  @Test("a list of issuers is imported once its provider is trusted, listed with its age, and removed as a whole")
  func issuerList() throws {
    let site = try SiteFolder()
    let now = UnixTime.wallClock()
    var random = RandomSource()
    let start = now.adding(seconds: -10 * 86_400)
    let provider = try IssuerAuthority(commonName: "Provider", notBefore: start, random: &random)
    let signer = try provider.makeSigner(
      notBefore: start, notAfter: now.adding(seconds: 86_400), purposes: [.vicalSigner], random: &random)
    let issuer = try Certificate(IssuerAuthority(commonName: "Issuer", notBefore: start, random: &random).certificate)
    var draft = VICALDraft(
      provider: "Test", date: now.adding(seconds: -3 * 86_400), nextUpdate: now.adding(seconds: -86_400),
      entries: [VICALDraft.Entry(issuer, docTypes: ["org.iso.18013.5.1.mDL"])])
    draft.entries.append(draft.entries[0])
    draft.entries[1]["serialNumber"] = 7
    let file = site.path + "/list.cbor"
    try Data(draft.encoded(signedBy: signer)).write(to: URL(fileURLWithPath: file))
    let root = site.path + "/provider.pem"
    try provider.pem.write(toFile: root, atomically: true, encoding: .utf8)

    let early = site.run("trust", "import", file)
    #expect(early.status == 1 && early.err.contains("vicalSignerUntrusted") && early.err.contains("--list-signer"))
    #expect(site.run("trust", "add", root, "--list-signer", "--signer").status == 2)
    #expect(site.run("trust", "add", root, "--list-signer").status == 0)
    #expect(site.run("check").out.contains("nobody is trusted"))
    let imported = site.run("trust", "import", file)
    #expect(imported.status == 0 && imported.out.hasPrefix("imported test-"), "\(imported)")
    #expect(imported.err.contains("skipped entry 2 (UT): ") && imported.err.contains("serialNumberMismatch"))
    let name = String(imported.out.dropFirst(9).dropLast())
    #expect(site.run("trust", "import", file).out == "already there \(name)\n")
    let listed = site.run("trust", "list")
    #expect(
      listed.status == 0 && listed.out.contains("list \(name)  Test  issued \(draft.date.date()), 3 days ago, stale"),
      "\(listed)")
    #expect(listed.out.contains("only for org.iso.18013.5.1.mDL") && listed.out.contains("signs lists"))
    let document = site.run("trust", "list", "--json").out
    #expect(document.contains("\"source\":\"list\"") && document.contains("\"ageDays\":3"), "\(document)")
    let alone = site.run("trust", "remove", issuer.fingerprint.hex)
    #expect(alone.status == 1 && alone.err.contains("comes from the list \(name)"), "\(alone)")
    // Added here too, it is still a root of the list when it is removed here.
    let local = site.path + "/issuer.der"
    try Data(issuer.encoded).write(to: URL(fileURLWithPath: local))
    #expect(site.run("trust", "add", local).status == 0)
    let removed = site.run("trust", "remove", issuer.fingerprint.hex)
    #expect(removed.out == "removed \(issuer.fingerprint.hex)\n")
    #expect(removed.err.contains("the list of issuers \(name) has this root, so it is still trusted"), "\(removed)")
    #expect(site.run("trust", "remove", name).out == "removed \(name)\n")
    #expect(site.run("check").out.contains("nobody is trusted"))
  }

  @Test("what is no certificate is refused, and nothing is written")
  func noCertificate() throws {
    let site = try SiteFolder()
    let file = site.path + "/odd.txt"
    try "hello".write(toFile: file, atomically: true, encoding: .utf8)
    let result = site.run("trust", "add", file)
    #expect(result.status == 1 && result.err.hasPrefix("mdoc-reader: trust add: "))
    #expect(!FileManager.default.fileExists(atPath: site.path + "/trust"))
  }

  @Test("check names each fault with its remedy, and passes when there is none")
  func check() throws {
    let site = try SiteFolder()
    let empty = site.run("check")
    #expect(empty.status == 1)
    #expect(empty.out.contains("fail  trust") && empty.out.contains("mdoc-reader trust add FILE"), "\(empty.out)")
    let file = site.path + "/pasted.txt"
    try pasted.write(toFile: file, atomically: true, encoding: .utf8)
    _ = site.run("trust", "add", file)
    let full = site.run("check")
    #expect(full.status == 0 && !full.out.contains("fail"), "\(full.out)")
    try FileManager.default.removeItem(atPath: site.path + "/air")
    let noAir = site.run("check")
    #expect(noAir.status == 1 && noAir.out.contains("fail  radio"))
  }

  @Test("a misspelt key stops every verb with file, line and the nearest key, exit 2")
  func misspelt() throws {
    let site = try SiteFolder(SiteFolder.good + "\n[timeouts]\nconect_seconds = 5\n")
    for verb in ["run", "status"] {
      let result = site.run(verb)
      #expect(result.status == 2 && result.out.isEmpty)
      #expect(result.err.contains("reader.toml:11:") && result.err.contains("connect_seconds"), "\(result.err)")
    }
    #expect(site.run("check").status == 1)
  }

  @Test("each fault of a file is a line with the program's name, and its remedy a line below")
  func severalFaults() throws {
    let site = try SiteFolder(SiteFolder.good + "\n[timeouts]\nidle_seconds = 0\nconnect_seconds = 500\n")
    let name = "mdoc-reader: \(site.configuration)"
    let run = site.run("run")
    #expect(run.status == 2)
    #expect(
      run.err == """
        \(name):11: timeouts.idle_seconds: 0 is out of range
          write 1 to 120 seconds
        \(name):12: timeouts.connect_seconds: 500 is out of range
          write 1 to 120 seconds

        """)
    let check = site.run("check")
    #expect(check.status == 1 && check.out.components(separatedBy: "fail  configuration").count == 3)
  }

  @Test("retaining is refused at the start, since nothing keeps what is retained yet")
  func retaining() throws {
    let text = SiteFolder.good.replacingOccurrences(
      of: "[\"age_over_18\"]", with: "[{ element = \"age_over_18\", retain = true }]"
    ).replacingOccurrences(of: "[[request", with: "[request]\nretention_sink = \"kept\"\n[[request")
    let result = try SiteFolder(text).run("run")
    #expect(result.status == 2 && result.err.contains("retaining elements is not built yet"), "\(result.err)")
  }

  @Test("status says that no reader runs, and what one that ended had done")
  func status() throws {
    let site = try SiteFolder()
    let none = site.run("status")
    #expect(none.status == 1 && none.err.contains("the reader is not running"))
    try #"{"state":"stopped","pid":1,"granted":2,"refused":1,"failed":0,"version":"x","started":"y","anchors":1}"#
      .write(toFile: site.path + "/status.json", atomically: true, encoding: .utf8)
    let ended = site.run("status")
    #expect(ended.status == 1 && ended.out.contains("visitors  2 granted, 1 refused, 0 failed"))
    #expect(ended.err.contains("not running"))
  }

  @Test("clock shows what is kept and what speaks against the clock; accept takes it as it is")
  func clock() throws {
    let site = try SiteFolder(SiteFolder.good + "\n[clock]\nfile = \"clock\"")
    let fresh = site.run("clock")
    #expect(fresh.status == 0 && fresh.out.hasSuffix("nothing speaks against it\n"), "\(fresh)")
    #expect(
      fresh.out.contains("good before     nothing is kept") && fresh.out.contains("this version    \(Release.date)"))
    #expect(fresh.out.contains("vouched before  no time server or technician yet"))

    try "latest 2099-01-01T00:00:00Z\nsynchronized 2098-01-01T00:00:00Z\n".write(
      toFile: site.path + "/clock", atomically: true, encoding: .utf8)
    let late = site.run("clock")
    #expect(late.status == 1 && late.out.contains("good before     2099-01-01T00:00:00Z"), "\(late)")
    #expect(late.out.contains("vouched before  2098-01-01T00:00:00Z"))
    #expect(late.out.contains("doubtful: it says 20") && late.out.contains(", and it was 2098-01-01T00:00:00Z already"))
    let document = site.run("clock", "--json")
    #expect(document.status == 1 && document.out.contains(#""latest":"2099-01-01T00:00:00Z""#), "\(document)")
    #expect(document.out.contains(#""doubt":"it says "#))

    let misspelt = site.run("clock", "acept")
    #expect(misspelt.status == 2 && misspelt.err.contains("clock accept"))
    #expect(site.run("clock", "accept").status == 0)
    let taken = site.run("clock")
    #expect(taken.status == 0 && !taken.out.contains("2099") && !taken.out.contains("2098"), "\(taken)")
    #expect(!taken.out.contains("no time server or technician yet"))
  }

  @Test("a picture of the engagement is read at several sizes and in inverse", arguments: [2, 4, 9], [false, true])
  func scan(moduleSize: Int, inverse: Bool) throws {
    let site = try SiteFolder()
    let code = try #require(QRCode(engagement)?.pixels(moduleSize: moduleSize, quietZone: 4, inverse: inverse))
    let image = try LumaImage(width: code.side, height: code.side, pixels: code.grey)
    let file = site.path + "/code.png"
    try PictureFile.write(image, to: file)
    var out = ""
    let status = ReaderCommands.run(
      ["scan", file], console: Console(program: "mdoc-reader") { if $1 { out += $0 } })
    #expect(status == 0)
    #expect(out.contains("centralClient a4688f46-47eb-441c-a3e9-b493deea4524"), "\(out)")
    #expect(!out.contains("peripheralServer"))
  }

  @Test("a picture without a code, and a file that is no picture, say what to do")
  func noCode() throws {
    let site = try SiteFolder()
    let file = site.path + "/blank.png"
    try PictureFile.write(try LumaImage(width: 64, height: 64, pixels: [UInt8](repeating: 255, count: 4096)), to: file)
    for path in [file, site.configuration] {
      var err = ""
      let status = ReaderCommands.run(
        ["scan", path], console: Console(program: "mdoc-reader") { if !$1 { err += $0 } })
      #expect(status == 1 && err.split(separator: "\n").count == 2, "\(err)")
    }
  }
}
