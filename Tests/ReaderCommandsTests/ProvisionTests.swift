import CivilTime
import Commands
import Crypto
import Foundation
import Kernel
import Testing
import WalletCommands

@testable import ReaderCommands

/// A workshop where bundles are made and a board that gets them, gone with the test.
private final class Workshop {
  let path = NSTemporaryDirectory() + "mdoc-provision-\(UInt64.random(in: 0 ... .max))"
  var site: String { path + "/site" }
  var source: String { path + "/source" }
  private(set) var err = ""

  init() throws {
    for folder in ["/board/simulated", "/source/trust", "/site/generations/board/simulated"] {
      try FileManager.default.createDirectory(atPath: path + folder, withIntermediateDirectories: true)
    }
    // Found beside the source, and beside the generations.
    let facts =
      "name = \"simulated\"\n[camera]\nkind = \"pictures\"\n[radio]\nkind = \"air\"\n[panel]\nkind = \"terminal\"\n"
    for place in ["/board/simulated", "/site/generations/board/simulated"] {
      try facts.write(toFile: path + place + "/board.toml", atomically: true, encoding: .utf8)
    }
    try configure()
    try addRoot("first")
    for name in ["key", "other"] {
      let key = try PrivateKey.generate(.p256)
      try write(try key.pkcs8PEM(), to: name + ".pem")
      try write(PEM.encode("PUBLIC KEY", CertificateDraft.publicKeyInfo(of: key.publicKey)), to: name + ".pub")
    }
    try write("10000000abcdef\u{0}", to: "serial")
    #expect(run("enrol", path + "/key.pub") == 0)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ text: String, to name: String) throws {
    try text.write(toFile: "\(path)/\(name)", atomically: true, encoding: .utf8)
  }

  func configure(_ more: String = "") throws {
    try write(
      """
      board = "simulated"
      [[request.document]]
      doc_type = "org.iso.18013.5.1.mDL"
      [request.document.name_spaces]
      "org.iso.18013.5.1" = ["age_over_18"]
      [trust]
      folder = "trust"
      \(more)
      """, to: "source/reader.toml")
  }

  func addRoot(_ name: String) throws {
    let console = Console(program: "mdoc-wallet", input: -1) { _, _ in }
    let words = ["issue", "--wallet", "\(path)/wallet-\(name)", "--anchor-out", "\(path)/\(name).root"]
    try #require(WalletCommands.run(words, console: console) == 0)
    let reader = Console(program: "mdoc-reader") { _, _ in }
    try #require(
      ReaderCommands.run(
        ["trust", "add", "\(path)/\(name).root", "--config", source + "/reader.toml"], console: reader) == 0)
  }

  private(set) var out = ""

  func run(_ words: String...) -> Int32 {
    out = ""
    err = ""
    let console = Console(program: "mdoc-reader") { if $1 { self.out += $0 } else { self.err += $0 } }
    return ReaderCommands.run(
      ["provision"] + words + ["--site", site, "--serial-file", path + "/serial"], console: console)
  }

  func make(_ number: Int, key: String = "key", _ more: String...) -> String {
    let bundle = "\(path)/\(number)-\(key).bundle"
    let words = ["--key", "\(path)/\(key).pem", "--number", "\(number)", "--out", bundle]
    out = ""
    err = ""
    let console = Console(program: "mdoc-reader") { if $1 { self.out += $0 } else { self.err += $0 } }
    #expect(ReaderCommands.run(["provision", "make", source] + words + more, console: console) == 0, "\(err)")
    return bundle
  }

  /// Every file of the state in force; nil before the first.
  func state() -> [String: Data]? {
    // The enumerator does not follow the link it begins at.
    let current = URL(fileURLWithPath: site + "/current").resolvingSymlinksInPath().path
    guard let names = FileManager.default.enumerator(atPath: current) else { return nil }
    var state: [String: Data] = [:]
    for case let name as String in names {
      if let data = FileManager.default.contents(atPath: current + "/" + name) { state[name] = data }
    }
    return state.isEmpty ? nil : state
  }
}

@Suite("Provisioning a board")
struct ProvisionTests {
  @Test("a bundle is tried, applied, followed by another and taken back")
  func wholeWay() throws {
    let shop = try Workshop()
    let first = shop.make(1)
    #expect(shop.run(first, "--dry-run") == 0 && shop.state() == nil)
    #expect(shop.out.contains("+ trusted: ") && shop.out.contains("+ configuration: board = \"simulated\""))
    #expect(shop.run(first) == 0)
    let one = try #require(shop.state())
    #expect(one["reader.toml"] == FileManager.default.contents(atPath: shop.source + "/reader.toml"))
    #expect(shop.run("show") == 0 && shop.out.hasPrefix("number 1, "))

    try shop.configure("[signals]\nbuzzer = false")
    try shop.addRoot("second")
    let second = shop.make(2)
    #expect(shop.run(second, "--dry-run") == 0 && shop.state() == one)
    #expect(shop.out.contains("+ configuration: buzzer = false") && !shop.out.contains("board ="))
    #expect(shop.out.components(separatedBy: "+ trusted: ").count == 2)
    #expect(shop.run(second) == 0)
    let two = try #require(shop.state())
    #expect(two != one && two.count == one.count + 1)

    #expect(shop.run("rollback") == 0 && shop.state() == one)
    #expect(shop.run("rollback") == 1 && shop.err.contains("no state before"))
    // An older one does not come in by the way back.
    #expect(shop.run(first) == 1 && shop.err.contains("number 2 was applied already"))
    #expect(shop.run(second) == 0 && shop.state() == two)
    // Only the one before is kept.
    #expect(shop.run(shop.make(9)) == 0)
    let kept = try FileManager.default.contentsOfDirectory(atPath: shop.site + "/generations").filter {
      UInt($0) != nil
    }
    #expect(kept.sorted() == ["2", "9"])
  }

  @Test("whatever is wrong with a bundle refuses it whole, by name, and changes nothing")
  func refusals() throws {
    let shop = try Workshop()
    #expect(shop.run(shop.make(5)) == 0)
    let before = try #require(shop.state())
    func refused(_ bundle: String, _ why: String) {
      #expect(shop.run(bundle) == 1)
      #expect(shop.err.contains(why), "\(shop.err)")
      #expect(shop.state() == before)
    }
    refused(shop.make(6, key: "other"), "no provisioning key of this board signed it")
    refused(shop.make(5), "number 5 was applied already")
    refused(shop.make(4), "number 5 was applied already")
    refused(shop.make(6, key: "key", "--serial", "another"), "this one has '10000000abcdef'")
    let cut = shop.make(7)
    let bytes = try #require(FileManager.default.contents(atPath: cut))
    try bytes.prefix(bytes.count / 2).write(to: URL(fileURLWithPath: cut))
    refused(cut, "no bundle")
    refused(shop.path + "/none", "none")
    #expect(shop.run(shop.make(8, key: "key", "--serial", "10000000abcdef")) == 0)
  }

  @Test("content that the reader would not start with makes no bundle, and one made elsewhere is not applied")
  func brokenContent() throws {
    let shop = try Workshop()
    let cases = [
      ("colour = \"red\"", "unknown key"),
      ("[reader_authentication]\ncertificate = \"none.pem\"\nkey = \"/etc/k\"", "there is no certificate"),
    ]
    let key = try PrivateKey(pem: String(contentsOfFile: shop.path + "/key.pem", encoding: .utf8))
    for (number, (line, why)) in cases.enumerated() {
      try shop.configure(line)
      #expect(shop.run("make", shop.source, "--key", shop.path + "/key.pem", "--number", "1", "--out", "/none") == 2)
      #expect(shop.err.contains(why), "\(shop.err)")
      let bundle = try ProvisioningBundleMaker.bundle(of: shop.source, number: UInt64(number + 1), key: key)
      let path = shop.path + "/broken"
      try Data(bundle).write(to: URL(fileURLWithPath: path))
      #expect(shop.run(path) == 2 && shop.err.contains(why) && shop.state() == nil)
      #expect(!Files.exists(shop.site + "/generations/.staged"))
    }
    try shop.configure()
    try FileManager.default.removeItem(atPath: shop.source + "/trust")
    #expect(shop.run("make", shop.source, "--key", shop.path + "/key.pem", "--number", "1", "--out", "/none") == 2)
    #expect(shop.err.contains("nobody would be trusted"))
  }

  @Test("a private key, and what the configuration does not name, make no bundle")
  func keysStayOut() throws {
    let shop = try Workshop()
    func made() -> Int32 {
      shop.run("make", shop.source, "--key", shop.path + "/key.pem", "--number", "1", "--out", shop.path + "/b")
    }
    let key = try String(contentsOfFile: shop.path + "/key.pem", encoding: .utf8)
    for name in ["site-key.pem", "reader.key", "trust/old.key"] {
      try shop.write(name.hasPrefix("trust") ? String(key.dropLast(40)) : key, to: "source/" + name)
      let isInTrust = name.hasPrefix("trust")
      #expect(made() == (isInTrust ? 0 : 2) || shop.err.contains("key"))
      if !isInTrust { #expect(shop.err.contains("\(name): a private key has no business in a bundle")) }
      try FileManager.default.removeItem(atPath: shop.source + "/" + name)
    }
    try shop.write("old", to: "source/site.bundle")
    #expect(made() == 2 && shop.err.contains("site.bundle: the configuration does not name it"))
    try FileManager.default.removeItem(atPath: shop.source + "/site.bundle")
    #expect(made() == 0)
    // Nor does an enrolment keep one.
    try FileManager.default.removeItem(atPath: shop.site + "/provisioning.pem")
    try shop.write(key + String(contentsOfFile: shop.path + "/key.pub", encoding: .utf8), to: "both.pem")
    #expect(shop.run("enrol", shop.path + "/both.pem") == 0)
    #expect(try !String(contentsOfFile: shop.site + "/provisioning.pem", encoding: .utf8).contains("PRIVATE"))
    #expect(shop.run(shop.path + "/b") == 0)
  }

  @Test("a reader certificate of another board is not applied")
  func otherBoard() throws {
    let shop = try Workshop()
    let (own, other) = (try PrivateKey.generate(.p256), try PrivateKey.generate(.p256))
    try shop.write(try own.pkcs8PEM(), to: "reader.key")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: shop.path + "/reader.key")
    try shop.configure("[reader_authentication]\ncertificate = \"reader.pem\"\nkey = \"\(shop.path)/reader.key\"")
    for (number, key) in [other, own].enumerated() {
      let certificate = try CertificateDraft.readerAuthentication(
        serialNumber: SerialNumber(magnitude: [1]), issuer: [NameAttribute(.commonName, "CA")],
        issuerKey: own.publicKey,
        subject: [NameAttribute(.commonName, "Door")], notBefore: UnixTime(seconds: 1_700_000_000),
        notAfter: UnixTime(seconds: 1_900_000_000), publicKey: key.publicKey,
        contact: IssuerContact(email: "a@example.com", crlAddress: "http://example.com/crl")
      ).encoded(signedBy: own)
      try shop.write(PEM.encode("CERTIFICATE", certificate), to: "source/reader.pem")
      let status = shop.run(shop.make(number + 1))
      #expect(status == (key === own ? 0 : 2))
      if key === other { #expect(shop.err.contains("is for another key") && shop.state() == nil) }
    }
    #expect(shop.out.contains("+ reader certificate: CN=Door"))
  }

  @Test("one at a time")
  func locked() throws {
    let shop = try Workshop()
    let bundle = shop.make(1)
    let held = try FileLock(shop.site + "/.lock")
    #expect(held != nil)
    #expect(shop.run(bundle) == 1 && shop.err.contains("another provision is at work") && shop.state() == nil)
  }

  @Test("a board has one enrolment, and none without a key")
  func enrolment() throws {
    let shop = try Workshop()
    #expect(shop.run("enrol", shop.path + "/other.pub") == 1 && shop.err.contains("its provisioning key already"))
    try FileManager.default.removeItem(atPath: shop.site + "/provisioning.pem")
    #expect(shop.run("enrol", shop.path + "/key.pem") == 1 && shop.err.contains("no public key"))
    #expect(shop.run(shop.make(1)) == 1 && shop.err.contains("no provisioning key of this board signed it"))
  }
}
