import Crypto
import Foundation
import Kernel
import TestSupport
import Testing
import Wallet

/// Nothing of a visitor stays: not on any output or in any file, and not in the reader's memory.
@Suite("Nothing of a visitor stays", .serialized)
struct PrivacyTests {
  private static let configuration = """
    board = "simulated"
    [[request.document]]
    doc_type = "org.iso.18013.5.1.mDL"
    [request.document.name_spaces]
    "org.iso.18013.5.1" = [ELEMENTS]
    [[request.document.condition]]
    age_at_least = 18
    [timeouts]
    connect_seconds = 2
    idle_seconds = 2
    response_seconds = 5
    total_seconds = 20
    [signals]
    display_seconds = 0.5
    relay_pulse_seconds = 0.1
    [trust]
    folder = "trust"
    [refresh]
    folder = "cache"
    notes_file = "notes"
    [status]
    file = "status.json"
    [clock]
    file = "clock"
    """

  /// A site in a folder of its own; removed by the caller.
  private static func makeSite(for wallet: MarkedWallet) throws -> String {
    let folder = NSTemporaryDirectory() + "mdoc-privacy-\(UInt64.random(in: 0 ... .max))"
    for name in ["pictures", "air", "trust", "cache", "board/simulated"] {
      try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
    }
    try "name = \"simulated\"\n[camera]\nkind = \"pictures\"\n[radio]\nkind = \"air\"\n[panel]\nkind = \"terminal\"\n"
      .write(toFile: folder + "/board/simulated/board.toml", atomically: true, encoding: .utf8)
    let elements = MarkedWallet.elements.map { "\"\($0)\"" }.joined(separator: ", ")
    try configuration.replacingOccurrences(of: "ELEMENTS", with: elements)
      .write(toFile: folder + "/reader.toml", atomically: true, encoding: .utf8)
    // As `trust add` names it.
    let name = digest(.sha256, wallet.authority.certificate).hex
    try wallet.authority.pem.write(toFile: "\(folder)/trust/\(name).pem", atomically: true, encoding: .utf8)
    return folder
  }

  /// What is where it must not be: in any file of the site, outputs and what a crash leaves among them.
  private static func findings(in folder: String, _ patterns: [String: [UInt8]]) throws -> [String] {
    var found: [String] = []
    for name in try #require(FileManager.default.enumerator(atPath: folder)).compactMap({ $0 as? String }) {
      guard let bytes = FileManager.default.contents(atPath: folder + "/" + name).map(Array.init) else { continue }
      for (title, pattern) in patterns
      where !ProcessMemory.positions(of: pattern, in: bytes[...]).isEmpty
        || !ProcessMemory.positions(of: Array(pattern.hex.utf8), in: bytes[...]).isEmpty
      {
        found.append("\(title) in \(name)")
      }
    }
    return found
  }

  private static func program() -> String? {
    if RunningReader.program == nil {
      print("skipped: nothing of a visitor stays: mdoc-reader is not built beside the tests")
    }
    return RunningReader.program
  }

  @Test(
    "a visitor who is admitted, refused, or fails in any way leaves nothing in files, outputs and memory, and comes to what is declared"
  )
  func visits() throws {
    guard let program = PrivacyTests.program() else { return }
    let wallet = try MarkedWallet()
    let folder = try PrivacyTests.makeSite(for: wallet)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let reader = try RunningReader(in: folder, program: program)
    try #require(reader.awaits(1, "ready"))
    let memory = ProcessMemory(of: reader.id)
    // Their allocators keep what is freed, to find who uses it after that.
    if let sanitizer = ProcessInfo.processInfo.environment["MDOC_SANITIZER"] {
      return print("skipped: nothing of a visitor stays in memory: freed memory is the \(sanitizer) sanitizer's")
    }
    do {
      // What is there is found: the doc type asked for.
      let known = try memory.find(["known": Array("org.iso.18013.5.1.mDL".utf8)])
      #expect(known["known"] != nil)
    } catch let error as ProcessMemory.Unreadable {
      return print("skipped: nothing of a visitor stays in memory: it is not ours to read: \(error)")
    }
    var all = MarkedWallet.personal
    var outcomes: [String: Int] = [:]
    let visits: [(String, isOfAge: Bool, Quirk?)] =
      [("admitted", true, nil), ("refused", false, nil)] + Quirk.allCases.map { ($0.rawValue, true, $0) }
    for (number, (title, isOfAge, quirk)) in visits.enumerated() {
      let visit = try MarkedWallet.Visit(wallet, isOfAge: isOfAge, quirk: quirk, air: folder + "/air")
      try visit.open()
      try reader.show(visit.code)
      try visit.run()
      try #require(reader.awaits(number + 1, "transaction") && reader.awaits(number + 2, "ready"), "\(title)")
      let outcome = reader.events("transaction").last.map(String.init) ?? "none"
      for name in ["granted", "refused", "failed"] where outcome.contains("\"\(name)\"") {
        outcomes[name, default: 0] += 1
      }
      #expect(PrivacyTests.isPromised(outcome, isOfAge: isOfAge, quirk), "\(title): \(outcome)")
      var secrets = visit.secrets
      if quirk != .noStart { #expect(secrets.count == 3, "\(title)") }
      secrets.merge(MarkedWallet.personal) { $1 }
      let found = try memory.find(secrets)
      #expect(found.isEmpty, "\(title), in memory: \(found)")
      for (name, secret) in visit.secrets { all["\(name) of \(title)"] = secret }
    }
    print("privacy: \(visits.count) visits, \(outcomes)")
    #expect(outcomes.count == 3)
    reader.kill(SIGTERM)
    #expect(reader.end() == nil)
    let found = try PrivacyTests.findings(in: folder, all)
    #expect(found.isEmpty, "\(found)")
  }

  /// Whether a visit came to what the quirk's own text says: granted where it is accepted or something is dropped, else not, with
  /// one of the reason codes named there.
  private static func isPromised(_ outcome: String, isOfAge: Bool, _ quirk: Quirk?) -> Bool {
    let isGranted = outcome.contains("\"granted\"")
    guard let text = quirk?.expectation else { return isGranted == isOfAge }
    if text.contains("accepted") || text.hasSuffix("dropped") { return isGranted }
    let words = text.split { !$0.isLetter && !$0.isNumber && $0 != "(" && $0 != ")" }
    let codes = words.filter { $0 == "timeout" || $0.dropFirst().contains { $0.isUppercase } }
    return !isGranted && codes.contains { outcome.contains($0) }
  }

  /// What a bad access, a trap of Swift's own and the kernel's last means do. (SIGABRT is blocked in the threads that run tests,
  /// and so in their children.)
  private static let ends = [SIGSEGV, SIGILL, SIGKILL]

  @Test("a reader that is killed in the middle of a session leaves no core and no word of it", arguments: ends)
  func crash(signal: Int32) throws {
    guard let program = PrivacyTests.program() else { return }
    let wallet = try MarkedWallet()
    let folder = try PrivacyTests.makeSite(for: wallet)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let reader = try RunningReader(in: folder, program: program)
    try #require(reader.awaits(1, "ready"))
    let visit = try MarkedWallet.Visit(wallet, isOfAge: true, quirk: nil, air: folder + "/air")
    visit.onRequest = { reader.kill(signal) }
    try visit.open()
    try reader.show(visit.code)
    try visit.run()
    #expect(reader.end() == signal, "\(reader.events("transaction"))")
    #expect(visit.secrets.count == 3)
    let found = try PrivacyTests.findings(in: folder, MarkedWallet.personal.merging(visit.secrets) { $1 })
    #expect(found.isEmpty, "\(found)")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(!names.contains { $0.hasPrefix("core") }, "\(names)")
  }
}
