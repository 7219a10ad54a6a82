/// A look at TOML text before it is parsed: how deep it nests, and where its statements begin.
///
/// The parser builds and frees nested tables by recursion, so depth is bounded before it sees the text. Only strings,
/// comments and brackets are told apart; where the text is no TOML, the parser stops at the same place at the latest.
struct TOMLShape {
  struct Statement {
    /// From 1.
    let line: Int
    let isHeader: Bool
    /// Without the value: `[a.b]`, `key.path`.
    let name: String
  }

  /// Dots in one dotted key, and brackets within brackets.
  static let maximumDepth = 16
  static let maximumSize = 256 << 10

  private(set) var statements: [Statement] = []
  /// The line where the text nests too deeply.
  private(set) var tooDeepLine: Int?

  private let text: [UInt8]
  private var place = 0
  private var line = 1
  private var depth = 0
  private var dots = 0
  private var statementStart = 0
  private var statementLine = 1
  private var hasName = false

  init(_ text: [UInt8]) {
    self.text = text
    while place < text.count, tooDeepLine == nil { step() }
    endStatement(at: text.count)
  }

  private func byte(_ offset: Int) -> UInt8? {
    text.indices.contains(place + offset) ? text[place + offset] : nil
  }

  private mutating func step() {
    switch text[place] {
    case UInt8(ascii: "\n"):
      if depth == 0 { endStatement(at: place) }
      place += 1
      line += 1
      dots = 0
      if depth == 0 { beginStatement() }
      return
    case UInt8(ascii: "#"):
      if depth == 0 { endStatement(at: place) }
      while place < text.count, text[place] != UInt8(ascii: "\n") { place += 1 }
      return
    case UInt8(ascii: "\""), UInt8(ascii: "'"):
      skipString(text[place])
      return
    case UInt8(ascii: "["), UInt8(ascii: "{"):
      depth += 1
      dots = 0
    case UInt8(ascii: "]"), UInt8(ascii: "}"):
      depth = max(0, depth - 1)
      dots = 0
    case UInt8(ascii: "="):
      if depth == 0 { endStatement(at: place) }
      dots = 0
    case UInt8(ascii: ","): dots = 0
    case UInt8(ascii: "."): dots += 1
    default: break
    }
    if depth > TOMLShape.maximumDepth || dots > TOMLShape.maximumDepth { tooDeepLine = line }
    place += 1
  }

  private mutating func skipString(_ quote: UInt8) {
    let isLong = byte(1) == quote && byte(2) == quote
    let hasEscapes = quote == UInt8(ascii: "\"")
    place += isLong ? 3 : 1
    while let current = byte(0) {
      if current == UInt8(ascii: "\n") {
        if !isLong { return }
        line += 1
      }
      if hasEscapes, current == UInt8(ascii: "\\") {
        if byte(1) == UInt8(ascii: "\n") { line += 1 }
        place += 2
        continue
      }
      if current == quote, !isLong || byte(1) == quote && byte(2) == quote {
        place += isLong ? 3 : 1
        // A long string may end in up to two quotes of its own.
        while isLong, byte(0) == quote { place += 1 }
        return
      }
      place += 1
    }
  }

  private mutating func beginStatement() {
    statementStart = place
    statementLine = line
    hasName = false
  }

  private mutating func endStatement(at end: Int) {
    guard !hasName else { return }
    hasName = true
    let characters = text[min(statementStart, end)..<end].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    guard let first = characters.first, first != UInt8(ascii: "\r") else { return }
    statements.append(
      Statement(
        line: statementLine, isHeader: first == UInt8(ascii: "["), name: String(decoding: characters, as: UTF8.self)))
  }
}
