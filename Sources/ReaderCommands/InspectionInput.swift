import Bytes
import Commands
import Kernel
import TrustStore

/// Bytes that a verb was given, and the form they came in.
struct InspectionInput: Equatable {
  /// How the bytes were written. The raw value says so to people.
  enum Form: String {
    case binary = "binary"
    case hexadecimal = "hexadecimal text"
    case base64 = "base64 text"
    case base64url = "base64url text"
    case pem = "PEM text"
    case uri = "mdoc: text"
    case otherText = "text that is neither hexadecimal nor base64"
  }

  /// Decoded, except for PEM, `mdoc:` and other text, which stay as they are.
  let bytes: [UInt8]
  let form: Form

  /// Longest file read, in bytes: a response of 4 MiB in hexadecimal, and line ends.
  static let sizeLimit = 9 << 20

  /// The contents of a file. Throws a usage error when it cannot be read.
  static func read(_ path: String) throws(CommandError) -> InspectionInput {
    InspectionInput(content: try contents(of: path, limit: sizeLimit))
  }

  /// The bytes of a file, just as they are. Throws a usage error when it cannot be read.
  ///
  /// - Parameters:
  ///   - limit: in bytes.
  ///   - option: the option that names the file; nil for an operand.
  static func contents(of path: String, limit: Int, option: String? = nil) throws(CommandError) -> [UInt8] {
    do throws(SystemError) {
      return try Files.read(path, limit: limit)
    } catch {
      throw CommandError.usage(
        option.map { "\($0) \(quoted(path))" } ?? quoted(path), error.reason, hint: "check the path and its permissions"
      )
    }
  }

  /// The contents of a file of that name, or else what the text itself says in hexadecimal or base64.
  static func read(fileOrText operand: String) throws(CommandError) -> InspectionInput {
    if Files.exists(operand) { return try read(operand) }
    let input = InspectionInput(content: Array(operand.utf8))
    guard [.hexadecimal, .base64, .base64url].contains(input.form), !input.bytes.isEmpty else {
      throw CommandError.usage(
        quoted(operand), "no such file, and neither hexadecimal nor base64", hint: "give a file, or the bytes as text")
    }
    return input
  }

  init(content: [UInt8]) {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let text = content.starts(with: mark) ? content[3...] : content[...]
    guard !text.isEmpty, text.allSatisfy({ (0x20...0x7e).contains($0) || (0x09...0x0d).contains($0) }) else {
      self.init(bytes: content, form: .binary)
      return
    }
    let characters = text.filter { $0 > 0x20 }
    if characters.prefix(5).map({ $0 | 0x20 }).elementsEqual("mdoc:".utf8) {
      let trimmed = text.drop { $0 <= 0x20 }.reversed().drop { $0 <= 0x20 }.reversed()
      self.init(bytes: Array(trimmed), form: .uri)
    } else if CertificateInput.beginOfPEM(in: content) != nil {
      self.init(bytes: Array(text), form: .pem)
    } else if let decoded = InspectionInput.hexadecimal(characters) {
      self.init(bytes: decoded, form: .hexadecimal)
    } else if let decoded = InspectionInput.base64(characters) {
      let isURL = !characters.contains { [UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "=")].contains($0) }
      self.init(bytes: decoded, form: isURL ? .base64url : .base64)
    } else {
      self.init(bytes: content, form: .otherText)
    }
  }

  /// Bytes that came in another text.
  init(binary bytes: [UInt8]) { self.init(bytes: bytes, form: .binary) }

  private init(bytes: [UInt8], form: Form) {
    self.bytes = bytes
    self.form = form
  }

  /// With or without 0x in front and colons between.
  private static func hexadecimal(_ characters: [UInt8]) -> [UInt8]? {
    var digits = characters[...]
    if digits.starts(with: [UInt8(ascii: "0"), UInt8(ascii: "x")]) { digits = digits.dropFirst(2) }
    return Bytes.bytes(hex: String(decoding: digits.filter { $0 != UInt8(ascii: ":") }, as: UTF8.self))
  }

  /// Either alphabet, with or without padding.
  private static func base64(_ characters: [UInt8]) -> [UInt8]? {
    let unpadded = characters.reversed().drop { $0 == UInt8(ascii: "=") }.reversed()
    let unified = unpadded.map { character -> UInt8 in
      switch character {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      default: character
      }
    }
    return try? Base64.url.decode(String(decoding: unified, as: UTF8.self))
  }
}

/// What bytes look like that are nothing this reader knows.
func appearance(of input: InspectionInput) -> String {
  let bytes = input.bytes
  if input.form == .pem { return "PEM text" }
  if input.form == .otherText {
    let first = bytes.first { $0 > 0x20 }
    if bytes.starts(with: "eyJ".utf8) { return "a JSON Web Token" }
    return first == UInt8(ascii: "{") || first == UInt8(ascii: "[") ? "JSON text" : "some other text"
  }
  if bytes.isEmpty { return "nothing: it is empty" }
  let magics: [([UInt8], String)] = [
    ([0xff, 0xd8, 0xff], "a JPEG picture"), ([0x89, 0x50, 0x4e, 0x47], "a PNG picture"),
    ([0x25, 0x50, 0x44, 0x46], "a PDF document"), ([0x50, 0x4b, 3, 4], "a ZIP archive"), ([0x1f, 0x8b], "gzip data"),
    ([0xd1, 0x02], "an NDEF message"), ([0x91, 0x02], "an NDEF message"),
  ]
  if let known = magics.first(where: { bytes.starts(with: $0.0) }) { return known.1 }
  let kinds = [
    "an integer", "an integer", "a byte string", "a text", "an array", "a map", "a tag", "a simple value",
  ]
  return "CBOR that begins with \(kinds[Int(bytes[0] >> 5)])"
}
