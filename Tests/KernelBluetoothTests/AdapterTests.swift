import Bluetooth
import Glibc
import Kernel
import Testing

@testable import KernelBluetooth

@Suite("The adapter")
struct AdapterTests {
  /// Every problem, for the rules below.
  static let problems: [AdapterProblem] = [
    .kernelLacksBluetooth, .notPermitted(call: "bind"), .noAdapter, .adapterMissing("hci1", present: ["hci0"]),
    .adapterMissing("hci1", present: []), .held("hci0", by: [AdapterHolder(name: "bluetoothd", pid: 7)]),
    .held("hci0", by: []), .blocked("hci0"), .noLowEnergy("hci0"),
    .refused("hci0", command: "Set Powered on", reason: "rejected"), .silent("hci0", command: "Set Powered on"),
    .removed("hci0"), .poweredOff("hci0"), .hardwareError("hci0", code: 3),
    .system(SystemError("read", code: 5, subject: "hci0")),
  ]

  @Test("each problem says what and what to do, in one line each", arguments: problems)
  func texts(problem: AdapterProblem) {
    for text in ["\(problem)", problem.remedy] {
      #expect(text.count > 8)
      #expect(!text.contains("\n"))
      #expect(!text.hasSuffix("."))
    }
    #expect(problem.code.allSatisfy { $0.isLetter })
  }

  @Test("a daemon is named, and so is how to end it")
  func daemon() {
    let problem = AdapterProblem.held("hci0", by: [AdapterHolder(name: "bluetoothd", pid: 812)])
    #expect("\(problem)" == "hci0 is held by bluetoothd (812)")
    #expect(problem.remedy.contains("systemctl disable --now bluetooth.service"))
  }

  @Test("an adapter that is gone is why it was off or silent; nothing else takes the place of what was said")
  func explains() {
    let earlier: [AdapterProblem] = [
      .poweredOff("hci0"), .silent("hci0", command: "x"), .refused("hci0", command: "x", reason: "y"),
      .hardwareError("hci0", code: 1),
    ]
    for problem in earlier {
      #expect(AdapterProblem.removed("hci0").explains(problem))
      #expect(!AdapterProblem.removed("hci1").explains(problem))
      #expect(!problem.explains(.removed("hci0")))
    }
    for problem in [AdapterProblem.removed("hci0"), .noAdapter, .held("hci0", by: []), .blocked("hci0")] {
      #expect(!AdapterProblem.removed("hci0").explains(problem))
    }
  }

  @Test("an adapter that is not there is a problem with a reason, and never an end")
  func missing() throws {
    var settings = AdapterSettings()
    settings.name = "hci77"
    let report = try AdapterTest.run(settings, listeningFor: .milliseconds(1))
    #expect(report.facts == nil)
    #expect(!report.isUsable)
    // Whatever this machine has: no Bluetooth at all, no permission, or other adapters.
    let code = try #require(report.problem).code
    #expect(["kernelLacksBluetooth", "notPermitted", "adapterMissing", "noAdapter", "adapterHeld"].contains(code))
  }

  @Test("a channel that is not answered is told from one that is refused")
  func channels() {
    #expect(ChannelRefusal(SystemError("connect", code: ETIMEDOUT, subject: "a phone")) == .timeout)
    for code in [ECONNREFUSED, EACCES, ENOPROTOOPT, EHOSTDOWN] {
      #expect(ChannelRefusal(SystemError("connect", code: code, subject: "a phone")) == .refused)
    }
  }

  @Test("the adapter of this machine advertises and listens")
  func present() throws {
    guard Files.exists("/sys/class/bluetooth/hci0") else {
      print("the adapter of this machine: skipped, there is no /sys/class/bluetooth/hci0; the virtual board has one")
      return
    }
    let report = try AdapterTest.run(AdapterSettings(), listeningFor: .milliseconds(500))
    #expect(report.problem == nil)
    #expect(report.isUsable)
    #expect(report.facts?.settings.isSuperset(of: [.powered, .lowEnergy, .privacy]) == true)
    #expect(report.facts?.settings.contains(.bredr) == false)
    #expect(report.facts?.hasFastConnections == true)
  }
}
