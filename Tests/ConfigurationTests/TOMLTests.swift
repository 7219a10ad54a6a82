import Foundation
import TestSupport
import Testing

@testable import Configuration

@Suite("TOML text") struct TOMLTests {
  @Test(
    "a key that stands twice is named with both lines",
    arguments: [
      ("a = 1\nb = 2\n\na = 3\n", "4 a: set twice, in line 1 and in line 4"),
      ("[trust]\nfolder = \"a\"\n# x\nfolder = \"b\"\n", "4 trust.folder: set twice, in line 2 and in line 4"),
      ("[trust]\nfolder = \"a\"\n[events]\n[trust]\nx = 1\n", "4 trust: set twice, in line 1 and in line 4"),
      ("[[a]]\nb = 1\n[[a]]\nc = 1\nb = 2\nb = 3\n", "6 a.b: set twice, in line 5 and in line 6"),
      ("a.\"b c\" = 1\na.\"b c\" = [\n 2 ]\n", "2 a.b c: set twice, in line 1 and in line 2"),
      ("[t]\nx = \"\"\"\n[t]\nx = 5\n\"\"\"\n'x' = 1 # = 2\n", "6 t.x: set twice, in line 2 and in line 6"),
      ("[t]\nx = 1\nx.y = 2\n", "3 t.x.y: set twice, in line 2 and in line 3"),
      ("a = { b = 1, b = 2 }\n", "1 a: set twice, again in line 1"),
    ])
  func duplicates(text: String, expected: String) {
    #expect(brief(text) == [expected])
  }

  @Test(
    "text that is no TOML is refused at its line",
    arguments: [
      ("a = 1\nb = \n", 2), ("\0\0\0\0", 1), ("a = yes", 1), ("x = 1\n\na = [1,\n", 3), ("a = 1979-13-01", 1),
      ("a = \"x\ny\"", 1), ("[a\n", 1), ("a = 99999999999999999999", 1), ("\u{feff}\u{feff}a = 1", 1),
    ])
  func syntax(text: String, line: Int) {
    let found = errors(text)
    #expect(found.count == 1)
    #expect(found.first?.problem.hasPrefix("not valid TOML: ") == true)
    #expect(found.first.map { (line...(line + 1)).contains($0.line) } == true, "\(found)")
    #expect(found.first?.key.isEmpty == true)
  }

  @Test("four bytes that brought another decoder down, a file of zeros and none at all have their errors")
  func smallFiles() throws {
    #expect(brief("-=0") == ["0 board: is missing", "0 request.document: is missing", "1 -: unknown key"])
    #expect(brief("") == ["0 board: is missing", "0 request.document: is missing"])
    for bytes: [UInt8] in [
      [0], [0, 0, 0, 0], [UInt8](repeating: 0, count: 4096), [0x2d, 0x3d], [0x3d, 0x30], [0x2d],
    ] {
      #expect(throws: ConfigurationErrors.self) { try ReaderConfiguration(bytes: bytes) }
    }
  }

  @Test("bytes that are no UTF-8 are refused")
  func notUTF8() {
    for bytes: [UInt8] in [[0xff], [0x61, 0x3d, 0x22, 0xc3, 0x28, 0x22], [0xed, 0xa0, 0x80], [0xf5], [0x80, 0x80]] {
      #expect(throws: ConfigurationErrors.self) { try ReaderConfiguration(bytes: bytes) }
    }
  }

  @Test(
    "deep nesting and large text are refused before they are parsed",
    arguments: [
      String(repeating: "[", count: 200_000), "a = " + String(repeating: "[", count: 200_000),
      "a = " + String(repeating: "{a=", count: 60_000), "a" + String(repeating: ".a", count: 100_000) + " = 1",
      "[a" + String(repeating: ".a", count: 100_000) + "]\nx = = 1", "\"#\"" + String(repeating: ".a", count: 100_000),
      "'\"'" + String(repeating: " . 'a'", count: 40_000) + "= 1",
      "a = \"\"\"\"\"\"\nb" + String(repeating: ".b", count: 100_000),
    ])
  func deep(text: String) {
    #expect(errors(text).map(\.problem) == ["nests deeper than 16 levels"])
  }

  @Test("other characters that end lines elsewhere do not hide depth in a comment or string")
  func lineEnds() {
    let keys = "a" + String(repeating: ".a", count: 50_000) + " = 1\n"
    for end in ["\r", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}"] {
      for text in ["# x\(end)\(keys)", "x = 'a\(end)\(keys)", "x = \"a\(end)\(keys)"] {
        // Refused for depth, for syntax, or read as one comment or string; never parsed as keys.
        #expect(!errors(text).contains { $0.key.hasPrefix("a") }, "\(end.unicodeScalars.map(\.value))")
      }
    }
  }

  @Test("a file of very many unknown keys is refused by its first hundred")
  func manyKeys() {
    let text = (0..<15_000).map { "k\($0) = 1\n" }.joined()
    #expect(errors(text + minimal).count == 100)
  }

  @Test("a megabyte of brackets is refused for its size")
  func megabyte() {
    for text in ["[", "]", "{", "[]", "a", "\"", "#"] {
      #expect(errors(String(repeating: text, count: 1 << 20)).map(\.problem) == ["is larger than 256 KiB"])
    }
  }

  @Test("sixteen levels pass the parser, strings and comments do not count")
  func allowedDepth() {
    let nested = "x = " + String(repeating: "[", count: 16) + String(repeating: "]", count: 16)
    #expect(brief(minimal + nested) == ["5 request.document[1].x: unknown key"])
    let dots = String(repeating: ".", count: 500)
    #expect(brief(minimal + "x = '\(dots)[[[[[' # \(dots)") == ["5 request.document[1].x: unknown key"])
  }

  @Test("mutated files never trap, and either load or say why", arguments: 1...8)
  func mutations(seed: UInt64) {
    var random = SplitMix64(state: seed)
    let original = Array(
      (minimal + "[timeouts]\nconnect_seconds = 5.5\n[[request.document.condition]]\nelement = \"family_name\"\n"
        + "one_of = [1, \"a\", 2020-01-01, { a.b = 'c' }]\n[verification.signer_key_usages]\n\"a\" = '''2.5'''\n").utf8)
    let bites: [[UInt8]] = [
      "[", "]", "{", "}", "=", "\"", "'", "\n", ".", "#", "\"\"\"", "\\", "-", "\0", "\u{ff}", "0x",
    ]
    .map { Array($0.utf8) }
    for _ in 0..<250 {
      var bytes = original
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let place = Int.random(in: 0..<max(1, bytes.count), using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes.insert(contentsOf: bites.randomElement(using: &random) ?? [], at: place)
        case 1: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...9, using: &random)))
        case 2: if bytes.indices.contains(place) { bytes[place] = UInt8.random(in: 0...255, using: &random) }
        case 3: bytes.insert(contentsOf: bytes.prefix(place), at: place)
        default: bytes.removeSubrange(place...)
        }
        if bytes.isEmpty { bytes = [0x61] }
      }
      do throws(ConfigurationErrors) {
        _ = try ReaderConfiguration(bytes: bytes)
      } catch {
        let isComplete = !error.errors.isEmpty && error.errors.allSatisfy { !$0.problem.isEmpty && !$0.remedy.isEmpty }
        #expect(isComplete, "seed \(seed): \(bytes)")
      }
      _ = try? BoardFacts(bytes: bytes)
    }
  }
}

@Suite("Board facts") struct BoardFactsTests {
  private func brief(_ text: String) -> [String] {
    do throws(ConfigurationErrors) {
      _ = try BoardFacts(text: text)
      return []
    } catch {
      return error.errors.map { "\($0.line) \($0.key): \($0.problem)" }
    }
  }

  @Test("the simulated board loads")
  func simulated() throws {
    let text = "name = \"simulated\"\ncamera.kind = \"pictures\"\nradio.kind = \"air\"\npanel.kind = \"terminal\"\n"
    let facts = try BoardFacts(text: text)
    #expect(facts.name == "simulated")
    #expect(facts.camera == .pictures && facts.radio == .air && facts.panel == .terminal)
  }

  @Test("an unknown kind is refused with the kinds there are, and nothing else of its table is complained about")
  func kinds() {
    #expect(
      brief("name = \"pi\"\n[camera]\nkind = \"v4l\"\ndevice = 1\n[radio]\nkind = 7\n[panel]\nkind = \"gpoi\"\n") == [
        "3 camera.kind: \"v4l\" is no camera kind", "6 radio.kind: is a whole number, must be text",
        "8 panel.kind: \"gpoi\" is no panel kind",
      ])
  }

  @Test("a board with devices loads, and what is left out has its default")
  func devices() throws {
    let facts = try BoardFacts(
      text: """
        name = "door"
        [camera]
        kind = "v4l2"
        device = "/dev/v4l/by-id/usb-cam"
        formats = ["MJPEG"]
        focus = 120
        [radio]
        kind = "bluetooth"
        [panel]
        kind = "gpio"
        chip = "pinctrl-bcm2711"
        [panel.lines]
        green = { line = "GPIO17" }
        relay = { offset = 27, active = "low" }
        button = { line = "GPIO22", active = "low", bias = "pull_up" }
        """)
    var camera = CameraFacts()
    camera.device = "/dev/v4l/by-id/usb-cam"
    camera.formats = [.mjpeg]
    camera.focus = 120
    #expect(facts.camera == .v4l2(camera) && facts.radio == .bluetooth(adapter: "hci0") && facts.usesL2CAP)
    guard case .gpio(let lines) = facts.panel else { return #expect(Bool(false), "no lines") }
    #expect(lines.chip == "pinctrl-bcm2711" && Set(lines.lines.keys) == [.green, .relay, .button])
    #expect(lines.lines[.relay] == .init(place: .offset(27), isActiveLow: true, bias: .asIs))
    #expect(lines.lines[.button] == .init(place: .name("GPIO22"), isActiveLow: true, bias: .pullUp))
  }

  @Test("channels are switched off for either kind of radio, by true or false only", arguments: ["air", "bluetooth"])
  func channels(kind: String) throws {
    func text(_ value: String) -> String {
      """
      name = "door"
      [camera]
      kind = "pictures"
      [radio]
      kind = "\(kind)"
      l2cap = \(value)
      [panel]
      kind = "terminal"
      """
    }
    #expect(try !BoardFacts(text: text("false")).usesL2CAP)
    #expect(try BoardFacts(text: text("true")).usesL2CAP)
    #expect(brief(text("\"no\"")) == ["6 radio.l2cap: is text, must be true or false"])
  }

  @Test("every board that comes with the program loads, under the name of its folder, and says how to use it")
  func boards() throws {
    let folder = repositoryPath("board")
    let boards = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0 != "common" }.sorted()
    #expect(boards == ["pc", "raspberrypi-4", "raspberrypi-5", "raspberrypi-zero-2w", "simulated", "virtual"])
    for board in boards {
      let facts = try BoardFacts(text: repositoryFile("board/\(board)/board.toml"))
      #expect(facts.name == board)
      #expect(try !repositoryFile("board/\(board)/README.md").isEmpty)
      // The relay's line is one that the Pi pulls down at reset.
      if board.hasPrefix("raspberrypi"), case .gpio(let lines) = facts.panel {
        #expect(lines.lines[PanelFacts.Role.relay] == .init(place: .name("GPIO24"), isActiveLow: false, bias: .asIs))
      }
    }
  }

  @Test("wrong facts of devices are named, each with its line")
  func wrongFacts() {
    #expect(
      brief(
        """
        name = "door"
        [camera]
        kind = "v4l2"
        device = 0
        width = 12
        formats = ["H264", "YUYV", "YUYV"]
        [radio]
        kind = "bluetooth"
        adapter = "usb"
        [panel]
        kind = "gpio"
        [panel.lines]
        green = { line = "GPIO17" }
        red = { line = "GPIO17", active = "up" }
        blue = {}
        relay = { line = "GPIO27", offset = 3 }
        lamp = { line = "GPIO5" }
        """) == [
          "4 camera.device: is a whole number, must be text", "5 camera.width: 12 is out of range",
          "6 camera.formats: an entry is no format known here", "6 camera.formats: \"YUYV\" is there twice",
          "9 radio.adapter: \"usb\" is no adapter name", "10 panel.chip: is missing",
          "14 panel.lines.red: is the line that green has already",
          "14 panel.lines.red.active: \"up\" is not one of \"high\", \"low\"", "15 panel.lines.blue: names no line",
          "16 panel.lines.relay: names the line twice", "17 panel.lines.lamp: unknown key",
        ])
  }

  @Test("missing, unknown and misspelt facts are all named")
  func strict() {
    #expect(
      brief("[camera]\nknd = \"pictures\"\n[lamp]\n") == [
        "0 name: is missing", "0 panel.kind: is missing", "0 radio.kind: is missing", "1 camera.kind: is missing",
        "2 camera.knd: unknown key", "3 lamp: unknown key",
      ])
  }
}
