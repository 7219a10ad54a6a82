import Commands
import Pictures
import Wallet

/// How the QR code is shown.
struct CodeShape {
  static let options = [
    CommandOption("--qr", "FILE.png", "write the QR code here as a picture"),
    CommandOption("--module-size", "N", "pixels of one module of the picture, 1 to 40 (default 8)"),
    CommandOption("--quiet-zone", "N", "modules of light around the code, 0 to 20 (default 4)"),
    CommandOption("--inverse", "light modules on a dark ground"),
    CommandOption("--terminal-qr", "print the QR code on the terminal as well"),
  ]

  let moduleSize: Int
  let quietZone: Int

  init(_ arguments: Arguments) throws(CommandError) {
    moduleSize = try arguments.integer("--module-size", in: 1...40) ?? 8
    quietZone = try arguments.integer("--quiet-zone", in: 0...20) ?? 4
  }

  /// Shows what is asked for; nothing where no code is.
  func show(_ text: String, arguments: Arguments, console: Console) throws {
    guard arguments.has("--qr") || arguments.has("--terminal-qr") else { return }
    guard let code = QRCode(text) else {
      throw CommandError.failure(
        "QR code", "what it should say is too long for one", hint: "leave --qr and --terminal-qr out")
    }
    let isInverse = arguments.has("--inverse")
    if let path = arguments["--qr"] {
      let picture = code.pixels(moduleSize: moduleSize, quietZone: quietZone, inverse: isInverse)
      do throws(PictureFileError) {
        guard let image = try? LumaImage(width: picture.side, height: picture.side, pixels: picture.grey) else {
          throw .refused(path, .tooLarge(width: picture.side, height: picture.side))
        }
        try PictureFile.write(image, to: path)
      } catch {
        throw CommandError.failure(path, "\(error)", hint: "choose another file for --qr")
      }
    }
    if arguments.has("--terminal-qr") { console.data(text: code.terminalText(inverse: isInverse)) }
  }
}
