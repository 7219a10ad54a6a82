import GPIO
import Kernel
import Panel
import TestSupport
import Testing

@testable import Appliance

/// A chip that no machine has.
private let settings = LineSettings(chip: "no-such-chip", outputs: [.relay: .init(.name("DOOR"))])

@Suite("The panel on lines")
struct LinePanelTests {
  private final class Log {
    var faults: [String] = []
    var ends: [PanelError] = []
    func take(_ event: PanelEvent) {
      switch event {
      case .fault(let reason): faults.append(reason)
      case .hopeless(let error): ends.append(error)
      case .recovered, .note, .input: break
      }
    }
  }

  @Test("a chip that is not there is a fault that names the fact, and after a while no use in waiting")
  func missingChip() throws {
    let log = Log()
    let panel = try LinePanel(settings, patience: .milliseconds(20), on: EventLoop(), handler: log.take)
    #expect(log.faults.count == 1)
    #expect(log.faults.first?.hasPrefix("panel.lines.relay: there is no chip \"no-such-chip\"") == true)
    panel.lookAgain()
    #expect(log.faults.count == 2 && log.ends.isEmpty)
    _ = try EventLoop().run(until: .now + .milliseconds(40))
    panel.lookAgain()
    #expect(log.ends.map(\.code) == ["chipMissing"])
    panel.close()
  }

  @Test("the end for a chip that did not come is one after which it is started again; a wrong line is not")
  func ends() throws {
    let late = PanelError.chipMissing(fact: "panel.lines.relay", wanted: "x", existing: [])
    guard case .deviceMissing = ApplianceError(late) else {
      Issue.record("a missing chip is a wrong board")
      return
    }
    let wrong = PanelError.lineMissing(fact: "panel.lines.relay", wanted: "x", chip: "y", nearest: [])
    guard case .wrongBoard = ApplianceError(wrong) else {
      Issue.record("a missing line is a missing device")
      return
    }
  }
}
