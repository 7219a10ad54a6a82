import Kernel
import Testing

@testable import GPIO

/// A chip with these names; an empty text is a line without one.
func chip(_ number: Int, _ label: String, _ names: [String]) -> ChipFacts {
  ChipFacts(
    path: "/dev/gpiochip\(number)", name: "gpiochip\(number)", label: label, lines: names.map { LineFacts(name: $0) })
}

/// The header of a Raspberry Pi as its kernel names it.
let header = ["ID_SDA", "ID_SCL"] + (2..<28).map { "GPIO\($0)" }

@Suite("Line resolution") struct LineResolutionTests {
  private let settings = LineSettings(
    chip: "pinctrl-rp1",
    outputs: [
      .green: .init(.name("GPIO5")), .red: .init(.name("GPIO6")), .blue: .init(.offset(13)),
      .relay: .init(.name("GPIO17")),
    ],
    inputs: [.button: .init(.name("GPIO22"))])

  private func settings(relay place: LineSettings.Place, chip: String? = nil) -> LineSettings {
    LineSettings(chip: "pinctrl-rp1", outputs: [.relay: .init(place, chip: chip)])
  }

  @Test("lines are found by the label of the chip whatever its number is", arguments: [0, 4, 10])
  func label(number: Int) throws {
    let others = [chip(1, "gpio-brcmstb", ["A", ""]), chip(2, "raspberrypi-exp-gpio", ["GPIO17"])]
    let found = try LineResolution.find(
      settings, in: ChipList(chips: others + [chip(number, "pinctrl-rp1", header)]))
    #expect(found.outputs.mapValues(\.offset) == [.green: 5, .red: 6, .blue: 13, .relay: 17])
    #expect(found.inputs.mapValues(\.offset) == [.button: 22])
    #expect(found.outputs.values.allSatisfy { $0.path == "/dev/gpiochip\(number)" })
    #expect(found.outputs[.relay]?.title == "pinctrl-rp1 (gpiochip\(number)) line 17 \"GPIO17\"")
  }

  @Test("a chip may be named by its name, and a line by another chip than the others")
  func name() throws {
    let list = ChipList(chips: [chip(0, "pinctrl-rp1", header), chip(3, "expander", ["", "DOOR"])])
    let found = try LineResolution.find(settings(relay: .name("DOOR"), chip: "gpiochip3"), in: list)
    #expect(found.outputs[.relay]?.title == "expander (gpiochip3) line 1 \"DOOR\"")
  }

  @Test("of several chips with one label, the one that has the line is taken")
  func twoChips() throws {
    let list = ChipList(chips: [chip(0, "pinctrl-rp1", ["A", "B"]), chip(1, "pinctrl-rp1", header)])
    #expect(
      try LineResolution.find(settings(relay: .name("GPIO17")), in: list).outputs[.relay]?.path == "/dev/gpiochip1")
    #expect(try LineResolution.find(settings(relay: .offset(20)), in: list).outputs[.relay]?.path == "/dev/gpiochip1")
  }

  struct Refusal: Sendable {
    let settings: LineSettings
    let list: ChipList
    let error: PanelError
    let text: String
  }

  private static func relay(_ place: LineSettings.Place) -> LineSettings {
    LineSettings(chip: "pinctrl-rp1", outputs: [.relay: .init(place)])
  }
  private static let pi = ChipList(chips: [chip(0, "pinctrl-rp1", header), chip(1, "expander", ["", ""])])

  static let refusals = [
    Refusal(
      settings: relay(.name("GPIO71")), list: pi,
      error: .lineMissing(
        fact: "panel.lines.relay", wanted: "GPIO71", chip: "pinctrl-rp1 (gpiochip0)",
        nearest: ["GPIO11", "GPIO17", "GPIO21"]),
      text:
        "panel.lines.relay: pinctrl-rp1 (gpiochip0) has no line \"GPIO71\"; the nearest are \"GPIO11\", \"GPIO17\", \"GPIO21\""
    ),
    Refusal(
      settings: relay(.offset(28)), list: pi,
      error: .offsetTooLarge(fact: "panel.lines.relay", wanted: 28, chip: "pinctrl-rp1 (gpiochip0)", count: 28),
      text: "panel.lines.relay: pinctrl-rp1 (gpiochip0) has no line 28, its lines are 0 to 27"),
    Refusal(
      settings: LineSettings(chip: "pinctrl-bcm2711", outputs: [.green: .init(.offset(1))]), list: pi,
      error: .chipMissing(
        fact: "panel.lines.green", wanted: "pinctrl-bcm2711",
        existing: ["pinctrl-rp1 (gpiochip0)", "expander (gpiochip1)"]),
      text:
        "panel.lines.green: there is no chip \"pinctrl-bcm2711\"; there are pinctrl-rp1 (gpiochip0), expander (gpiochip1)"
    ),
    Refusal(
      settings: relay(.offset(1)), list: ChipList(chips: []),
      error: .chipMissing(fact: "panel.lines.relay", wanted: "pinctrl-rp1", existing: []),
      text: "panel.lines.relay: there is no chip \"pinctrl-rp1\"; there are none"),
    Refusal(
      settings: relay(.offset(1)), list: ChipList(chips: [], denied: ["/dev/gpiochip0"]),
      error: .chipDenied(fact: "panel.lines.relay", path: "/dev/gpiochip0"),
      text: "panel.lines.relay: /dev/gpiochip0 may not be opened"),
    Refusal(
      settings: LineSettings(
        chip: "pinctrl-rp1", outputs: [.green: .init(.name("GPIO17")), .relay: .init(.offset(17))]), list: pi,
      error: .lineShared(
        facts: ["panel.lines.green", "panel.lines.relay"], line: "pinctrl-rp1 (gpiochip0) line 17 \"GPIO17\""),
      text: "panel.lines.green and panel.lines.relay: both are pinctrl-rp1 (gpiochip0) line 17 \"GPIO17\""),
    Refusal(
      settings: LineSettings(
        chip: "pinctrl-rp1", outputs: [.relay: .init(.offset(17))], inputs: [.doorContact: .init(.name("GPIO17"))]),
      list: pi,
      error: .lineShared(
        facts: ["panel.lines.relay", "panel.lines.door_contact"], line: "pinctrl-rp1 (gpiochip0) line 17 \"GPIO17\""),
      text: "panel.lines.relay and panel.lines.door_contact: both are pinctrl-rp1 (gpiochip0) line 17 \"GPIO17\""),
    Refusal(
      settings: relay(.name("X")), list: ChipList(chips: [chip(0, "pinctrl-rp1", ["X", "Y", "X"])]),
      error: .lineAmbiguous(fact: "panel.lines.relay", wanted: "X", chip: "pinctrl-rp1 (gpiochip0)", offsets: [0, 2]),
      text: "panel.lines.relay: pinctrl-rp1 (gpiochip0) has several lines \"X\", at the offsets 0, 2"),
    Refusal(
      settings: relay(.name("")), list: ChipList(chips: [chip(0, "pinctrl-rp1", ["", ""])]),
      error: .lineMissing(fact: "panel.lines.relay", wanted: "", chip: "pinctrl-rp1 (gpiochip0)", nearest: []),
      text: "panel.lines.relay: pinctrl-rp1 (gpiochip0) has no line \"\""),
    Refusal(
      settings: relay(.offset(0)),
      list: ChipList(chips: [chip(0, "pinctrl-rp1", ["A"]), chip(1, "pinctrl-rp1", ["B"])]),
      error: .chipAmbiguous(
        fact: "panel.lines.relay", wanted: "pinctrl-rp1", chips: ["pinctrl-rp1 (gpiochip0)", "pinctrl-rp1 (gpiochip1)"]),
      text: "panel.lines.relay: several chips are \"pinctrl-rp1\": pinctrl-rp1 (gpiochip0), pinctrl-rp1 (gpiochip1)"),
  ]

  @Test("a wrong fact is refused by its name, with what is there", arguments: refusals)
  func refused(_ refusal: Refusal) {
    #expect(throws: refusal.error) { try LineResolution.find(refusal.settings, in: refusal.list) }
    #expect(refusal.error.description == refusal.text)
    #expect(!refusal.error.remedy.isEmpty)
    let isDenied = refusal.error.code == "chipDenied"
    #expect(refusal.error.isWrongFact == !isDenied)
    // Only a chip may come late; the lines of one that is there do not change.
    #expect(refusal.error.mayStillCome == (refusal.error.code == "chipMissing"))
  }

  @Test("a busy line names its holder, also one without a name, and no name breaks the line of a log")
  func busy() {
    let line = "pinctrl-rp1 (gpiochip0) line 8 \"GPIO8\""
    let spi = PanelError.lineBusy(fact: "panel.lines.relay", line: line, consumer: "spi0 CS0")
    #expect(spi.description == "panel.lines.relay: \(line) is held by \"spi0 CS0\"")
    #expect(spi.remedy == "stop spi0 CS0, or choose another line")
    let unnamed = PanelError.lineBusy(fact: "panel.lines.relay", line: line, consumer: "")
    #expect(unnamed.description == "panel.lines.relay: \(line) is held by the kernel or a program without a name")
    let evil = PanelError.lineBusy(fact: "panel.lines.relay", line: line, consumer: "a\nb\u{1b}[2J")
    #expect(evil.description == "panel.lines.relay: \(line) is held by \"a?b?[2J\"")
  }
}
