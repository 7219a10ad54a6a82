import Appliance
import CivilTime
import Commands
import Configuration
import Glibc
import Kernel
import ListCache
import Panel
import Policy
import ReaderCore
import TrustStore

/// `demo`: the whole reader on the simulated board with five visitors, each with its own wallet process.
enum DemoCommand {
  static let verb = Verb(
    name: "demo", summary: "Show the whole reader at work: five visitors with wallets of their own, no hardware.",
    usage: "demo [--wallet-program FILE]",
    options: [
      CommandOption("--wallet-program", "FILE", "the mdoc-wallet to use (default: the one beside this program)")
    ], operandLimit: 0, run: { try run($0, console: $1) })

  private static func run(_ arguments: Arguments, console: Console) throws -> Int32 {
    let wallet = arguments["--wallet-program"] ?? Files.folder(of: programPath()) + "/mdoc-wallet"
    guard Files.exists(wallet) else {
      throw CommandError.failure(
        wallet, "there is no such program", hint: "build it: swift build --product mdoc-wallet")
    }
    let demo = try Demo(wallet: wallet, console: console)
    defer { demo.cleanUp() }
    return try demo.run() ? 0 : 1
  }

  private static func programPath() -> String {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = buffer.withUnsafeMutableBytes { bytes -> Int in
      guard let start = bytes.baseAddress else { return 0 }
      return readlink("/proc/self/exe", start.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
  }
}

/// One visitor of the demo and what has to come of it.
private struct Visitor {
  let title: String
  /// Options of `mdoc-wallet present`; `WALLETS` stands for the folder of wallets.
  let options: [String]
  let outcome: TransactionReport.Outcome
  /// What one of the reasons has to be; empty when granted.
  let reason: String

  static let all = [
    Visitor(
      title: "an adult", options: ["--wallet", "WALLETS/adult", "--mode", "central"], outcome: .granted, reason: ""),
    Visitor(
      title: "a minor", options: ["--wallet", "WALLETS/minor", "--mode", "peripheral"], outcome: .refused,
      reason: "ageTooLow(18)"),
    Visitor(
      title: "a document of an unknown issuer", options: ["--type", "mdl", "--age", "40"], outcome: .refused,
      reason: "notVerified(noTrustAnchor)"),
    Visitor(
      title: "a wallet that vanishes in the middle of its answer",
      options: ["--wallet", "WALLETS/adult", "--quirk", "early-disconnect"], outcome: .failed, reason: "linkLost"),
    Visitor(
      title: "the next visitor, as if nothing had happened", options: ["--wallet", "WALLETS/adult", "--mode", "both"],
      outcome: .granted, reason: ""),
  ]
}

private final class Demo {
  /// How long one visitor may take before the demo has failed.
  private static let patience = Duration.seconds(20)

  private let wallet: String
  private let console: Console
  private let folder: String
  private var appliance: Appliance?
  private var visitors = Visitor.all[...]
  private var current: Visitor?
  private var process: ChildProcess?
  private var number = 0
  private var relayPulses = 0
  private var isRelayActive = false
  private var rows: [(title: String, isExpected: Bool, text: String)] = []
  private var watchdog: EventLoop.Timer?
  private var pause: EventLoop.Timer?

  init(wallet: String, console: Console) throws {
    self.wallet = wallet
    self.console = console
    var template = Array("/tmp/mdoc-demo-XXXXXX".utf8CString)
    guard let path = mkdtemp(&template) else { throw SystemError.last("mkdtemp", "/tmp") }
    folder = String(cString: path)
    for name in ["pictures", "air", "trust", "wallets"] { try Files.makeFolder("\(folder)/\(name)", mode: 0o700) }
  }

  func cleanUp() {
    process?.end()
    removeAll(folder)
  }

  private func removeAll(_ path: String) {
    for name in (try? Files.list(path)) ?? [] {
      let entry = "\(path)/\(name)"
      if (try? Files.facts(entry).kind) == .folder { removeAll(entry) } else { try? Files.remove(entry) }
    }
    _ = rmdir(path)
  }

  /// Whether every outcome was the expected one.
  func run() throws -> Bool {
    console.data("Preparing: a test issuer, an adult's and a minor's driving licence, and a reader that asks for 18.")
    try issue("adult", age: "34")
    try issue("minor", age: "16")
    let trust = "\(folder)/trust"
    var parts = Appliance.Parts(
      template: try DemoTemplate.adultsOnly(),
      signals: .init(display: .milliseconds(800), relayPulse: .milliseconds(500)),
      camera: .pictures("\(folder)/pictures"), radio: .air("\(folder)/air"),
      panel: .terminal(descriptor: STDOUT_FILENO), events: .none)
    parts.timeouts.idle = .seconds(5)
    let appliance = try Appliance(parts) {
      Appliance.TrustMaterial(store: TrustStore(folder: trust), lists: { CachedLists() }, configured: [], own: nil)
    }
    self.appliance = appliance
    appliance.onReport = { [unowned self] in take($0) }
    appliance.onReady = { [unowned self] in pause?.set(after: .milliseconds(200)) }
    appliance.onPanel = { [unowned self] in watch($0) }
    pause = appliance.loop.timer("next visitor") { [unowned self] in next() }
    watchdog = appliance.loop.timer("patience") { [unowned self] in giveUp() }
    try appliance.run()
    report()
    return rows.count == Visitor.all.count && rows.allSatisfy(\.isExpected)
  }

  private func issue(_ name: String, age: String) throws {
    let root = "\(folder)/\(name).pem"
    let options = ["--wallet", "\(folder)/wallets/\(name)", "--age", age, "--portrait", "40000", "--anchor-out", root]
    let status = try start(["issue"] + options, log: name).wait()
    guard status == 0 else {
      throw CommandError.failure(
        "mdoc-wallet issue", "exit status \(status)", hint: "run it by hand to see what it says")
    }
    _ = try TrustStore(folder: "\(folder)/trust").add(
      Files.read(root, limit: 65_536), at: .wallClock())
  }

  private func start(_ words: [String], log name: String) throws(SystemError) -> ChildProcess {
    let log = ChildProcess.Stream.appended(to: "\(folder)/\(name).log")
    return try ChildProcess(wallet, words, output: log, error: log)
  }

  private func next() {
    finishRow()
    guard let visitor = visitors.popFirst() else {
      appliance?.stop()
      return
    }
    number += 1
    current = visitor
    relayPulses = 0
    console.data("\nVisitor \(number): \(visitor.title)")
    let options = visitor.options.map { $0.replacing("WALLETS", with: "\(folder)/wallets") }
    let qr = ["--air", "\(folder)/air", "--qr", "\(folder)/pictures/code.png", "--yes", "--timeout", "15"]
    do {
      process?.end()
      process = try start(["present"] + qr + options, log: "visitor-\(number)")
      watchdog?.set(after: Demo.patience)
    } catch {
      console.remark("mdoc-reader: \(error)")
      appliance?.stop()
    }
  }

  private var lastReport: TransactionReport?

  private func take(_ report: TransactionReport) {
    watchdog?.cancel()
    lastReport = report
    let reasons = report.reasons.isEmpty ? "" : ": " + report.reasons.joined(separator: ", ")
    console.data("  \(report.outcome.rawValue)\(reasons)")
    let times = TransactionReport.Span.allCases.compactMap { span in
      report.spans[span].map { "\(span.rawValue) \($0.formatted)" }
    }
    console.data("  \(times.joined(separator: ", "))")
    if let link = report.link {
      let size = report.responseSize.map { ", answer of \($0) bytes" } ?? ""
      console.data("  \(link.mode.rawValue), MTU \(link.mtu), \(link.roundTrips) round trips\(size)")
    }
  }

  /// Judges the last visitor, once the reader is ready again and the relay has had its time.
  private func finishRow() {
    guard let visitor = current, let report = lastReport else { return }
    current = nil
    lastReport = nil
    let isReasonRight = visitor.reason.isEmpty ? report.reasons.isEmpty : report.reasons.contains(visitor.reason)
    let pulses = visitor.outcome == .granted ? 1 : 0
    let isExpected = report.outcome == visitor.outcome && isReasonRight && relayPulses == pulses && !isRelayActive
    let reasons = report.reasons.isEmpty ? "" : " (\(report.reasons.joined(separator: ", ")))"
    rows.append((visitor.title, isExpected, "\(report.outcome.rawValue)\(reasons), relay pulses: \(relayPulses)"))
  }

  private func watch(_ state: PanelState) {
    if state.lines.isRelayActive, !isRelayActive { relayPulses += 1 }
    isRelayActive = state.lines.isRelayActive
  }

  private func giveUp() {
    console.remark("mdoc-reader: visitor \(number): nothing came of it in \(Demo.patience.components.seconds) s")
    let log = (try? Files.read("\(folder)/visitor-\(number).log", limit: 65_536)) ?? []
    console.remark("the wallet said: \(String(decoding: log, as: UTF8.self))")
    appliance?.stop()
  }

  private func report() {
    console.data("")
    for row in rows { console.data("\(row.isExpected ? "as expected" : "UNEXPECTED ")  \(row.title): \(row.text)") }
    if rows.count < Visitor.all.count {
      console.data("UNEXPECTED   only \(rows.count) of \(Visitor.all.count) visitors were served")
    }
  }
}

/// The request of the demo, through the same configuration text that a site writes.
private enum DemoTemplate {
  static func adultsOnly() throws -> RequestTemplate {
    let text = """
      board = "simulated"
      [[request.document]]
      doc_type = "org.iso.18013.5.1.mDL"
      [request.document.name_spaces]
      "org.iso.18013.5.1" = ["age_over_18", "portrait"]
      [[request.document.condition]]
      age_at_least = 18
      """
    return try ReaderConfiguration(text: text).template
  }
}
