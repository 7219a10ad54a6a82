// seeds files: board/*/board.toml
// options: -max_len=4096
import Configuration

/// A board's facts: what is wrong is said in lines that can be printed, and what is taken is what the edges can use.
func fuzz(_ input: [UInt8]) {
  do throws(ConfigurationErrors) {
    let board = try BoardFacts(bytes: input)
    if case .v4l2(let camera) = board.camera {
      expect((160...4096).contains(camera.width) && (120...4096).contains(camera.height), "a picture has a usable size")
      expect((1...120).contains(camera.rate), "a rate is usable")
      expect(Set(camera.formats).count == camera.formats.count, "no format is there twice")
    }
    if case .bluetooth(let adapter) = board.radio {
      expect(UInt16(adapter.dropFirst(3)) != nil && adapter.hasPrefix("hci"), "an adapter has the kernel's name")
    }
    if case .gpio(let panel) = board.panel {
      expect(!panel.lines.isEmpty, "a panel has a line")
      expect(Set(panel.lines.values.map(\.place)).count == panel.lines.count, "each part has its own line")
    }
  } catch {
    expect(!error.errors.isEmpty, "a refusal says why")
    for one in error.errors {
      let text = one.description(in: "board.toml") + one.remedy
      expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control }, "a message is one line")
      expect(text.unicodeScalars.count <= 2000, "a message is not too long")
    }
  }
}
