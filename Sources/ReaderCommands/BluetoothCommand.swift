import Bluetooth
import Commands
import JSON
import KernelBluetooth

/// `bluetooth`: makes the adapter ready as the service does, advertises, listens, and says what works and what to do
/// about the rest.
enum BluetoothCommand {
  static let verb = Verb(
    name: "bluetooth",
    summary: "Test the Bluetooth adapter: who holds it, Low Energy, advertising, listening.",
    usage: "bluetooth [--adapter NAME] [--seconds N] [--json]",
    options: [
      CommandOption("--adapter", "NAME", "the adapter, as hci0 (default: the first)"),
      CommandOption("--seconds", "N", "how long to listen, 1 to 60 (default 3)"), .json,
    ], operandLimit: 0, run: { try run($0, console: $1) })

  private static func run(_ arguments: Arguments, console: Console) throws -> Int32 {
    var settings = AdapterSettings()
    settings.name = arguments["--adapter"]
    let text = arguments["--seconds"] ?? "3"
    guard let seconds = Int64(text), (1...60).contains(seconds) else {
      throw CommandError.usage("bluetooth", "\(text) is no number of seconds from 1 to 60", hint: "leave --seconds out")
    }
    let report = try AdapterTest.run(settings, listeningFor: .seconds(seconds))
    var list = CheckList()
    list.add(report)
    if arguments.has("--json") { console.data(list.document.text) } else { console.data(text: list.text) }
    return list.hasFailure ? 1 : 0
  }
}

extension CheckList {
  /// What is known of the Bluetooth adapter, for `bluetooth` and for `check`.
  mutating func add(_ report: AdapterReport) {
    if let facts = report.facts { add(facts) }
    if let problem = report.problem { fail("bluetooth", "\(problem)", problem.remedy) }
    guard let facts = report.facts else { return }
    add("advertising", report.advertising, detail: "a service of 128 bits, every 20 to 30 ms")
    add(
      "listening", report.listening,
      detail: "\(report.devices.count) devices heard, \(report.advertisements) advertisements")
    guard report.isUsable else { return }
    if facts.doesBothModes && report.didBoth {
      pass("both modes", "advertises and listens at the same time")
    } else {
      warn("both modes", "not at once: 3 s each in turn", "wallets that offer both modes take a little longer")
    }
  }

  private mutating func add(_ facts: AdapterFacts) {
    let others = facts.present.filter { $0 != facts.name }
    pass(
      "adapter",
      "\(facts.name), \(facts.information.address), Bluetooth \(facts.information.versionText), maker \(facts.information.manufacturer)"
        + (others.isEmpty ? "" : "; not used: \(others.joined(separator: ", "))"))
    if facts.holders.isEmpty {
      pass("owner", "this program alone")
    } else {
      warn(
        "owner", "also open by \(facts.holders.map(\.description).joined(separator: ", "))",
        "end it, unless you know what it does there")
    }
    if facts.settings.isSuperset(of: [.powered, .lowEnergy]) {
      pass("low energy", facts.settings.contains(.bredr) ? "on; BR/EDR is on too" : "on; BR/EDR is off")
    } else {
      fail("low energy", "off", "use an adapter with Bluetooth 4.0 or later")
    }
    if facts.hasPrivateAddresses {
      pass("address", "a fresh one for each transaction")
    } else {
      warn("address", "always the same one", "phones can recognise this reader; a kernel from 4.1 on can hide it")
    }
    if facts.hasFastConnections {
      pass("connections", "7.5 to 15 ms asked for, supervision 4 s, for all devices (Set Default System Configuration)")
    } else {
      warn(
        "connections", "the kernel's own, 30 to 50 ms", "large portraits take longer; a kernel from 5.8 on is faster")
    }
  }

  private mutating func add(_ what: String, _ result: Result<Bool, CommandFailure>?, detail: String) {
    switch result {
    case .success?: pass(what, detail)
    case .failure(let failure)?:
      fail(what, failure.text, "switch the power off and on; if it stays so, use another adapter")
    case nil: break
    }
  }
}

extension CommandFailure {
  /// For people.
  fileprivate var text: String {
    switch self {
    case .refused(let command, _, let reason): "\(command): \(reason)"
    case .noAnswer(let command): "\(command): no answer"
    case .lost(let error): error.description
    }
  }
}
