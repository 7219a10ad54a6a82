import Appliance
import CivilTime
import Commands
import Crypto
import Foundation
import Issuer
import Kernel
import ListCache
import Synchronization
import TestSupport
import Testing
import Trust
import TrustStore
import WalletCommands

@testable import ReaderCommands

/// Ends `mdoc-reader` at every call that writes, by a library preloaded into it, and looks at what is left.
@Suite("A power cut at any moment", .serialized)
struct PowerLossTests {
  private static let library = PowerLossTests.makeLibrary()

  /// Nil, with a printed reason, where there is no C compiler or no program.
  private static func makeLibrary() -> (library: String, program: String)? {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    guard let program = RunningReader.program else {
      print("skipped: a power cut at any moment: mdoc-reader is not built beside the tests")
      return nil
    }
    // It has put calls of its own in the place of those that are counted here.
    if ProcessInfo.processInfo.environment["MDOC_SANITIZER"] == "thread" {
      print("skipped: a power cut at any moment: the thread sanitizer writes past the library that cuts")
      return nil
    }
    let library = NSTemporaryDirectory() + "mdoc-stop-\(UInt64.random(in: 0 ... .max)).so"
    let source = tests.appendingPathComponent("PowerLoss/stop_at_write.c").path
    for compiler in ["cc", "clang", "gcc"]
    where
      (try? run("/usr/bin/env", [compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], [:]))?.status == 0
    {
      return (library, program)
    }
    print("skipped: a power cut at any moment: no C compiler (cc, clang or gcc)")
    return nil
  }

  private static func run(
    _ program: String, _ words: [String], _ environment: [String: String]
  ) throws -> (status: Int32, err: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = words
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let err = Pipe()
    process.standardOutput = FileHandle.nullDevice
    process.standardError = err
    try process.run()
    let text = String(decoding: err.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }

  /// Does `words` again and again from the same start, stopped one writing call later each time, until it is not stopped.
  ///
  /// - Parameters:
  ///   - folder: what the verb changes; made anew by `prepare` each time.
  ///   - state: what a reader makes of the folder; has to be that of before or that of after.
  private func stopEverywhere(
    _ words: [String], in folder: String, atLeast steps: Int = 4, prepare: () throws -> Void, state: () throws -> String
  ) throws {
    guard let (library, program) = PowerLossTests.library else { return }
    try prepare()
    let before = try state()
    var environment = ["LD_PRELOAD": library, "MDOC_STOP_UNDER": folder]
    let whole = try PowerLossTests.run(program, words, environment)
    try #require(whole.status == 0, "\(whole.err)")
    let after = try state()
    try #require(before != after)
    for isTorn in [false, true] {
      environment["MDOC_STOP_TORN"] = isTorn ? "1" : nil
      var changed = false
      var count = 0
      while true {
        count += 1
        try #require(count < 500)
        try prepare()
        environment["MDOC_STOP_AT"] = String(count)
        let result = try PowerLossTests.run(program, words, environment)
        let found = try state()
        #expect(found == before || found == after, "stopped at call \(count)\(isTorn ? " within a write" : "")")
        // Once it is there it stays there.
        #expect(!changed || found == after, "call \(count)")
        changed = found == after
        if result.status != 137 {
          #expect(result.status == 0 && found == after, "\(result.err)")
          break
        }
        // What a cut left is in nobody's way.
        let again = try PowerLossTests.run(program, words, ["LD_PRELOAD": library, "MDOC_STOP_UNDER": folder])
        if found == before {
          #expect(again.status == 0, "\(again.err)")
          #expect(try state() == after, "after call \(count)")
        }
      }
      // A file is opened, written, synchronised and renamed; the folder is synchronised.
      #expect(count > steps)
    }
  }

  /// A site with a root that is trusted, one to come, and bundles.
  private final class Bench {
    let path = NSTemporaryDirectory() + "mdoc-cut-\(UInt64.random(in: 0 ... .max))"
    var live: String { path + "/live" }

    init() throws {
      try FileManager.default.createDirectory(atPath: path + "/board/simulated", withIntermediateDirectories: true)
      let facts =
        "name = \"simulated\"\n[camera]\nkind = \"pictures\"\n[radio]\nkind = \"air\"\n[panel]\nkind = \"terminal\"\n"
      try facts.write(toFile: path + "/board/simulated/board.toml", atomically: true, encoding: .utf8)
      let text = """
        board = "simulated"
        [[request.document]]
        doc_type = "org.iso.18013.5.1.mDL"
        [request.document.name_spaces]
        "org.iso.18013.5.1" = ["age_over_18"]
        [trust]
        folder = "live/trust"
        [clock]
        file = "live/clock"
        """
      try text.write(toFile: path + "/reader.toml", atomically: true, encoding: .utf8)
      for name in ["one", "two"] {
        let console = Console(program: "mdoc-wallet", input: -1) { _, _ in }
        let words = ["issue", "--wallet", "\(path)/wallet-\(name)", "--anchor-out", "\(path)/\(name).pem"]
        try #require(WalletCommands.run(words, console: console) == 0)
      }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func reader(_ words: String...) -> String {
      var out = ""
      let console = Console(program: "mdoc-reader") { if $1 { out += $0 } }
      _ = ReaderCommands.run(words, console: console)
      return out
    }

    /// An empty folder, and the first root in it.
    func prepare() throws {
      try? FileManager.default.removeItem(atPath: live)
      try FileManager.default.createDirectory(atPath: live, withIntermediateDirectories: true)
      _ = reader("trust", "add", path + "/one.pem", "--config", path + "/reader.toml")
    }

    func trusted() -> String { reader("trust", "list", "--json", "--config", path + "/reader.toml") }
  }

  @Test("leaves the old certificates or the new ones: add")
  func add() throws {
    let bench = try Bench()
    try stopEverywhere(
      ["trust", "add", bench.path + "/two.pem", "--config", bench.path + "/reader.toml"], in: bench.live,
      prepare: bench.prepare, state: bench.trusted)
  }

  @Test("leaves the old certificates or the new ones: remove")
  func remove() throws {
    let bench = try Bench()
    try bench.prepare()
    let name = try #require(
      Files.list(bench.live + "/trust").first { $0.hasSuffix(".pem") }?.prefix(64))
    try stopEverywhere(
      ["trust", "remove", String(name), "--config", bench.path + "/reader.toml"], in: bench.live, atLeast: 2,
      prepare: bench.prepare, state: bench.trusted)
  }

  @Test("leaves the old list of issuers or the new one: import")
  func importing() throws {
    let bench = try Bench()
    var random = RandomSource()
    let now = UnixTime(seconds: Int64(Date().timeIntervalSince1970))
    let provider = try IssuerAuthority(
      commonName: "Provider", notBefore: now.adding(seconds: -86_400), random: &random)
    let signer = try provider.makeSigner(
      notBefore: now.adding(seconds: -3600), notAfter: now.adding(seconds: 86_400), purposes: [.vicalSigner],
      random: &random)
    try provider.pem.write(toFile: bench.path + "/provider.pem", atomically: true, encoding: .utf8)
    let root = try Certificate(
      try #require(PEM.blocks(in: String(contentsOfFile: bench.path + "/two.pem", encoding: .utf8)).first).bytes)
    for number in 1...2 {
      let draft = VICALDraft(
        provider: "Provider", date: now.adding(seconds: Int64(number - 3) * 60), issueID: UInt64(number),
        entries: number == 1 ? [] : [.init(root, docTypes: ["org.iso.18013.5.1.mDL"])])
      try Data(draft.encoded(signedBy: signer)).write(to: URL(fileURLWithPath: "\(bench.path)/\(number).vical"))
    }
    let configuration = ["--config", bench.path + "/reader.toml"]
    for before in [[], ["1"]] {
      try stopEverywhere(
        ["trust", "import", bench.path + "/2.vical"] + configuration, in: bench.live,
        prepare: {
          try bench.prepare()
          _ = bench.reader("trust", "add", bench.path + "/provider.pem", "--list-signer", "--config", configuration[1])
          for number in before {
            _ = bench.reader("trust", "import", "\(bench.path)/\(number).vical", "--config", configuration[1])
          }
        }, state: bench.trusted)
    }
  }

  @Test("leaves the old state of a site or the new one: provision and rollback")
  func provision() throws {
    let bench = try Bench()
    let key = try PrivateKey.generate(.p256)
    let source = bench.path + "/source"
    try FileManager.default.createDirectory(atPath: source, withIntermediateDirectories: true)
    let text = try String(contentsOfFile: bench.path + "/reader.toml", encoding: .utf8)
    try text.replacingOccurrences(of: "live/", with: "").write(
      toFile: source + "/reader.toml", atomically: true, encoding: .utf8)
    for (number, name) in ["one", "two", "one"].enumerated() {
      _ = bench.reader("trust", "add", "\(bench.path)/\(name).pem", "--config", source + "/reader.toml")
      try Data(ProvisioningBundleMaker.bundle(of: source, number: UInt64(number + 1), key: key)).write(
        to: URL(fileURLWithPath: "\(bench.path)/\(number + 1).bundle"))
    }
    func prepare(_ applied: Int) throws {
      try? FileManager.default.removeItem(atPath: bench.live)
      try FileManager.default.createDirectory(
        atPath: bench.live + "/generations/board/simulated", withIntermediateDirectories: true)
      try FileManager.default.copyItem(
        atPath: bench.path + "/board/simulated/board.toml",
        toPath: bench.live + "/generations/board/simulated/board.toml")
      try PEM.encode("PUBLIC KEY", CertificateDraft.publicKeyInfo(of: key.publicKey)).write(
        toFile: bench.live + "/provisioning.pem", atomically: true, encoding: .utf8)
      for number in 0..<applied {
        _ = bench.reader("provision", "\(bench.path)/\(number + 1).bundle", "--site", bench.live)
      }
    }
    /// What the reader would start with, whole.
    func state() -> String {
      let current = bench.live + "/current"
      let text = (try? String(contentsOfFile: current + "/reader.toml", encoding: .utf8)) ?? "none"
      return text + bench.reader("trust", "list", "--json", "--config", current + "/reader.toml")
        + bench.reader("provision", "show", "--site", bench.live).prefix { $0 != "," }
    }
    try stopEverywhere(
      ["provision", bench.path + "/1.bundle", "--site", bench.live], in: bench.live, prepare: { try prepare(0) },
      state: state)
    try stopEverywhere(
      ["provision", bench.path + "/3.bundle", "--site", bench.live], in: bench.live, prepare: { try prepare(2) },
      state: state)
    try stopEverywhere(
      ["provision", "rollback", "--site", bench.live], in: bench.live, prepare: { try prepare(2) }, state: state)
  }

  @Test("leaves the old copy of a list or the new one: refresh")
  func refresh() throws {
    let bench = try Bench()
    let configuration = bench.path + "/reader.toml"
    let text = try String(contentsOfFile: configuration, encoding: .utf8)
    try (text + "\n[refresh]\nfolder = \"live/cache\"\nnotes_file = \"live/notes\"\n")
      .write(toFile: configuration, atomically: true, encoding: .utf8)
    let served = Mutex<[UInt8]>([])
    let server = try LoopbackServer { _ in .init(body: served.withLock { $0 }) }
    let now = UnixTime.wallClock()
    var random = SplitMix64(state: 4)
    let issuer = try IssuerAuthority(notBefore: now.adding(seconds: -86_400), random: &random) {
      $0[.crlDistributionPoints] = .crlDistributionPoints(uri: server.address + "/crl")
    }
    let lists = try [1, 2].map { number in
      try RevocationListDraft(
        issuer: issuer.name, issuerKey: issuer.key.publicKey, thisUpdate: now.adding(seconds: -60),
        nextUpdate: now.adding(seconds: 86_400), number: number
      ).encoded(signedBy: issuer.key)
    }
    let words = ["refresh", "--all", "--config", configuration]
    try stopEverywhere(words, in: bench.live) {
      try? FileManager.default.removeItem(atPath: bench.live)
      _ = try TrustStore(folder: bench.live + "/trust").add(issuer.certificate, to: .issuers, at: now)
      served.withLock { $0 = lists[0] }
      _ = bench.reader("refresh", "--config", configuration)
      served.withLock { $0 = lists[1] }
    } state: {
      let lists = CachedListReader(ListCache(folder: bench.live + "/cache")).load()
      return "\(lists.revocation.map { $0.number?.magnitude ?? [] }) \(lists.problems)"
    }
  }

  @Test("leaves the time that was kept or the new one: clock accept")
  func clock() throws {
    let bench = try Bench()
    try stopEverywhere(
      ["clock", "accept", "--config", bench.path + "/reader.toml"], in: bench.live,
      prepare: {
        try? FileManager.default.removeItem(atPath: bench.live)
        try FileManager.default.createDirectory(atPath: bench.live, withIntermediateDirectories: true)
        try "latest 2099-01-01T00:00:00Z\n".write(
          toFile: bench.live + "/clock", atomically: true, encoding: .utf8)
      },
      state: {
        let text = try String(contentsOfFile: bench.live + "/clock", encoding: .utf8)
        return text.hasPrefix("latest 2099") ? text : text.utf8.count == 62 ? "now" : "torn: \(text)"
      })
  }
}
