import Bytes

/// Diagnostic notation of decoded items (RFC 8949 section 8; embedded items as in RFC 8610 appendix G), in lines.
///
/// Without `showsValues` only what `disclosure` names is shown; of everything else, kind and size as a comment:
/// `/ text, 5 bytes /`. The text is safe for a terminal: no character of it controls anything.
package struct CBORDiagnostic: Sendable {
  /// Longest byte string that counts as short, in bytes: a UUID, an address, a key identifier.
  package static let shortSize = 16
  /// Embedded items inside one another that are still opened.
  private static let embeddingLimit = 8

  private let disclosure: CBORDisclosure
  private let showsValues: Bool
  private let lineLength: Int

  package init(_ disclosure: CBORDisclosure, showsValues: Bool = false, lineLength: Int = 110) {
    self.disclosure = disclosure
    self.showsValues = showsValues
    self.lineLength = lineLength
  }

  /// The notation of an item, without a newline at the end.
  package func text(of item: CBORItem) -> String {
    var lines = DiagnosticLines(length: lineLength)
    lines.append(piece(item, disclosure, embedding: 0), indent: 0, before: "", after: "")
    return lines.text
  }

  /// Kind and size of an item that is not shown: `text, 5 bytes`; of an integer, the kind alone.
  package static func kind(of item: CBORItem) -> String {
    switch item.kind {
    case .unsigned, .negative: return "integer"
    case .float: return "number"
    case .bytes: return "bytes, " + counted(item.bytes?.count ?? 0, "byte")
    case .text: return "text, " + counted(CBORItem.stringContent(item.node, in: item.document.bytes).count, "byte")
    case .array: return "array of \(item.count ?? 0)"
    case .map: return "map of \(item.count ?? 0)"
    case .simple: return item.bool != nil ? "bool" : "simple value"
    case .tag:
      switch item.tagNumber {
      case 0: return "date-time"
      case 1004: return "date"
      case 24: return "embedded item, " + counted(item.embeddedBytes?.count ?? 0, "byte")
      default: return "tag \(item.tagNumber ?? 0)"
      }
    }
  }

  private static func counted(_ count: Int, _ unit: String) -> String { "\(count) \(unit)\(count == 1 ? "" : "s")" }

  /// A text with everything escaped that is not simply a visible character or a space, as JSON escapes it.
  ///
  /// - Parameter keepingQuotes: leaves quotes and backslashes as they are, for text that is not put in quotes.
  package static func escaped(_ text: String, keepingQuotes: Bool = false) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"" where !keepingQuotes: result += "\\\""
      case "\\" where !keepingQuotes: result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default:
        if isVisible(scalar) {
          result.unicodeScalars.append(scalar)
        } else {
          for unit in String(scalar).utf16 { result += "\\u" + [UInt8(unit >> 8), UInt8(unit & 255)].hex }
        }
      }
    }
    return result
  }

  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return (0x20...0x7e).contains(scalar.value) }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .surrogate, .privateUse, .unassigned:
      return false
    default: return true
    }
  }

  // MARK: Pieces

  private func hidden(_ item: CBORItem) -> DiagnosticPiece { .leaf("/ \(CBORDiagnostic.kind(of: item)) /") }

  private func piece(_ item: CBORItem, _ disclosure: CBORDisclosure, embedding: Int) -> DiagnosticPiece {
    switch item.kind {
    case .array: return array(item, disclosure, embedding: embedding)
    case .map: return map(item, disclosure, embedding: embedding)
    case .tag: return tag(item, disclosure, embedding: embedding)
    case .bytes:
      if case .embedded(let content) = disclosure, let opened = opened(item.bytes, content, embedding: embedding) {
        return opened
      }
      return showsValues || disclosure.shows(item) ? .leaf(scalar(item)) : hidden(item)
    default: return showsValues || disclosure.shows(item) ? .leaf(scalar(item)) : hidden(item)
    }
  }

  private func array(_ item: CBORItem, _ disclosure: CBORDisclosure, embedding: Int) -> DiagnosticPiece {
    guard showsValues || disclosure.element(0) != nil, let elements = item.elements else { return hidden(item) }
    let pieces = elements.enumerated().map { place, element in
      piece(element, disclosure.element(place) ?? .nothing, embedding: embedding)
    }
    return .group(item.node.isIndefinite ? "[_ " : "[", pieces, "]")
  }

  private func map(_ item: CBORItem, _ disclosure: CBORDisclosure, embedding: Int) -> DiagnosticPiece {
    guard showsValues || disclosure.isMap, let entries = item.entries else { return hidden(item) }
    let pieces = entries.map { key, value -> DiagnosticPiece in
      let member = disclosure.member(key)
      let left = member == nil ? piece(key, .nothing, embedding: embedding) : .leaf(scalar(key))
      return .pair(left, piece(value, member ?? disclosure.unlisted, embedding: embedding))
    }
    return .group(item.node.isIndefinite ? "{_ " : "{", pieces, "}")
  }

  private func tag(_ item: CBORItem, _ disclosure: CBORDisclosure, embedding: Int) -> DiagnosticPiece {
    guard let number = item.tagNumber, let content = item.tagged else { return hidden(item) }
    var inner = disclosure
    switch disclosure {
    case .nothing where !showsValues: return hidden(item)
    case .tagged(number, let expected): inner = expected
    default: break
    }
    if number == 24 {
      if case .embedded(let content) = inner { inner = content }
      if let opened = opened(item.embeddedBytes, inner, embedding: embedding) { return opened.wrapped("24(", ")") }
    }
    return piece(content, inner, embedding: embedding).wrapped("\(number)(", ")")
  }

  /// `<<item>>` for bytes that hold one item; nil when they do not, or too deep.
  private func opened(_ bytes: ByteView?, _ disclosure: CBORDisclosure, embedding: Int) -> DiagnosticPiece? {
    guard embedding < CBORDiagnostic.embeddingLimit, let bytes, let item = try? decodeCBOR(bytes) else { return nil }
    return piece(item, disclosure, embedding: embedding + 1).wrapped("<<", ">>")
  }

  // MARK: Scalars

  private func scalar(_ item: CBORItem) -> String {
    switch item.kind {
    case .unsigned: String(item.node.argument)
    case .negative: item.node.argument == .max ? "-18446744073709551616" : "-\(item.node.argument + 1)"
    case .bytes: item.node.isIndefinite ? chunks(item) : "h'\((item.bytes ?? []).hex)'"
    case .text: item.node.isIndefinite ? chunks(item) : "\"\(CBORDiagnostic.escaped(item.text ?? ""))\""
    case .simple: simple(item)
    case .float: number(item)
    default: "/ \(CBORDiagnostic.kind(of: item)) /"
    }
  }

  private func chunks(_ item: CBORItem) -> String {
    let parts = CBORItem.chunks(item.node, in: item.document.bytes).map { chunk in
      item.kind == .bytes
        ? "h'\(chunk.hex)'" : "\"\(CBORDiagnostic.escaped(String(decoding: chunk, as: UTF8.self)))\""
    }
    return "(_ \(parts.joined(separator: ", ")))"
  }

  private func simple(_ item: CBORItem) -> String {
    switch item.simpleValue {
    case 20: "false"
    case 21: "true"
    case 22: "null"
    case 23: "undefined"
    case let value: "simple(\(value ?? 0))"
    }
  }

  private func number(_ item: CBORItem) -> String {
    guard let value = item.double else { return "NaN" }
    if value.isNaN { return "NaN" }
    return value.isInfinite ? (value < 0 ? "-Infinity" : "Infinity") : "\(value)"
  }
}
