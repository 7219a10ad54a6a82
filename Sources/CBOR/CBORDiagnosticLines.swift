/// A part of the notation before it is laid out in lines.
struct DiagnosticPiece {
  enum Content {
    case leaf(String)
    case pair([DiagnosticPiece])
    case group(open: String, [DiagnosticPiece], close: String)
  }

  let content: Content
  /// Characters it takes on one line.
  let width: Int

  static func leaf(_ text: String) -> DiagnosticPiece { DiagnosticPiece(content: .leaf(text), width: text.count) }

  static func pair(_ key: DiagnosticPiece, _ value: DiagnosticPiece) -> DiagnosticPiece {
    DiagnosticPiece(content: .pair([key, value]), width: key.width + 2 + value.width)
  }

  static func group(_ open: String, _ pieces: [DiagnosticPiece], _ close: String) -> DiagnosticPiece {
    let separators = 2 * max(0, pieces.count - 1)
    let width = pieces.reduce(open.count + close.count + separators) { $0 + $1.width }
    return DiagnosticPiece(content: .group(open: open, pieces, close: close), width: width)
  }

  /// The same with texts around it that stay on its lines.
  func wrapped(_ open: String, _ close: String) -> DiagnosticPiece {
    let content: Content =
      switch self.content {
      case .leaf(let text): .leaf(open + text + close)
      case .pair(let parts): .pair(parts)
      case .group(let inner, let pieces, let end): .group(open: open + inner, pieces, close: end + close)
      }
    return DiagnosticPiece(content: content, width: width + open.count + close.count)
  }

  /// On one line.
  var flat: String {
    switch content {
    case .leaf(let text): text
    case .pair(let parts): parts.map(\.flat).joined(separator: ": ")
    case .group(let open, let pieces, let close): open + pieces.map(\.flat).joined(separator: ", ") + close
    }
  }
}

/// Pieces in lines of limited length: what fits stays on one line, what does not is opened.
struct DiagnosticLines {
  let length: Int
  private(set) var text = ""

  init(length: Int) { self.length = length }

  mutating func append(_ piece: DiagnosticPiece, indent: Int, before: String, after: String) {
    let margin = String(repeating: " ", count: indent)
    if indent + before.count + piece.width + after.count <= length {
      return add(margin + before + piece.flat + after)
    }
    switch piece.content {
    case .leaf(let text): add(margin + before + text + after)
    case .pair(let parts):
      // Keys are scalars, or short comments in the place of others.
      append(parts[1], indent: indent, before: before + parts[0].flat + ": ", after: after)
    case .group(let open, let pieces, let close):
      add(margin + before + (open.last == " " ? String(open.dropLast()) : open))
      for (place, inner) in pieces.enumerated() {
        append(inner, indent: indent + 2, before: "", after: place + 1 < pieces.count ? "," : "")
      }
      add(margin + close + after)
    }
  }

  private mutating func add(_ line: String) { text += text.isEmpty ? line : "\n" + line }
}
