import Pictures
import QRScan
import Testing
import Wallet

private let engagement =
  "mdoc:owBjMS4wAYIB2BhYS6QBAiABIVgghaBYJe7KSqcEolhmnIJaYJ2AIevkKbEy5xP7tkwlqAwiWCAMGCGe6uFI2hKeghb59h_K4hPV-Ldq6vnaxsRiySMH9gKBgwIBowD0AfULUKRoj0ZH60Qco-m0k97qRSQ"

@Suite("A QR code")
struct QRCodeTests {
  @Test("is the same text again after it was a picture", arguments: [3, 5, 8], [false, true])
  func decoded(moduleSize: Int, isInverse: Bool) throws {
    let code = try #require(QRCode(engagement))
    let picture = code.pixels(moduleSize: moduleSize, inverse: isInverse)
    let png = try PNG.encode(LumaImage(width: picture.side, height: picture.side, pixels: picture.grey))
    let image = try PNG.decode(png)
    let found = try #require(try QRDecoder().decodeStill(image)).codes
    #expect(found.map { String(decoding: $0, as: UTF8.self) } == [engagement])
  }

  @Test("has its quiet zone and module size to the pixel")
  func layout() throws {
    let code = try #require(QRCode("mdoc:abc"))
    let picture = code.pixels(moduleSize: 3, quietZone: 4)
    #expect(picture.side == (code.width + 8) * 3 && picture.grey.count == picture.side * picture.side)
    #expect(picture.grey.prefix(12 * picture.side).allSatisfy { $0 == 255 })
    // The corner of the first finder pattern.
    #expect(picture.grey[12 * picture.side + 12] == 0 && picture.grey[12 * picture.side + 11] == 255)
    let inverse = code.pixels(moduleSize: 3, quietZone: 4, inverse: true)
    #expect(inverse.grey == picture.grey.map { ~$0 })
  }

  @Test("shows the same modules as terminal text")
  func terminal() throws {
    let code = try #require(QRCode("mdoc:abc"))
    let lines = code.terminalText(quietZone: 2).split(separator: "\n")
    let side = code.width + 4
    #expect(lines.count == (side + 1) / 2 && lines.allSatisfy { $0.count == side })
    for row in 0..<code.width {
      for column in 0..<code.width {
        let character = Array(lines[(row + 2) / 2])[column + 2]
        let painted: Set<Character> =
          (row + 2).isMultiple(of: 2) ? ["\u{2588}", "\u{2580}"] : ["\u{2588}", "\u{2584}"]
        #expect(painted.contains(character) != code.modules[row * code.width + column])
      }
    }
  }

  @Test("is not made of nothing, or of more than a code holds")
  func limits() {
    #expect(QRCode("") == nil)
    #expect(QRCode(String(repeating: "x", count: 2400)) == nil)
    #expect(QRCode(String(repeating: "x", count: 2300))?.width == 177)
  }
}
