/// What of an item may be shown: the shape it is expected to have, and which of its contents are no secret there.
///
/// Whatever does not have the expected shape is not shown, so that a document that is wrong shows less, never more.
package indirect enum CBORDisclosure: Sendable {
  /// Its kind and size only.
  case nothing
  case integer
  /// `true` and `false`.
  case flag
  /// Byte strings of at most `CBORDiagnostic.shortSize` bytes.
  case shortBytes
  /// Integers, simple values, numbers and short byte strings, and containers of such; no text.
  case scalars
  /// A text that passes the test.
  case text(@Sendable (String) -> Bool)
  /// An array of any length.
  case list(CBORDisclosure)
  /// An array whose places mean different things; places beyond are not shown.
  case tuple([CBORDisclosure])
  /// A map with these text keys; a value under another key is not shown, nor is the key.
  case record([String: CBORDisclosure])
  /// A map whose keys are names: name spaces, element identifiers, doc types.
  case names(CBORDisclosure)
  /// A map with integer keys; `others` goes for those that are not listed.
  case labels([Int64: CBORDisclosure], others: CBORDisclosure)
  /// A byte string that holds an item without saying so by tag 24.
  case embedded(CBORDisclosure)
  /// An item of unknown shape: containers are opened and integer keys of the size of labels shown. Text keys are
  /// shown when listed, and what is listed goes for their values.
  case structure([String: CBORDisclosure])
  /// An item of exactly this tag; without the tag nothing is shown.
  case tagged(UInt64, CBORDisclosure)

  /// A name as name spaces, elements and doc types have them.
  package static let name = CBORDisclosure.text(CBORDisclosure.isName)

  /// Whether a text can be such a name: up to 128 printable ASCII characters without spaces and quotes.
  package static func isName(_ text: String) -> Bool {
    let characters = text.utf8
    return (1...128).contains(characters.count)
      && characters.allSatisfy { (0x21...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c }
  }

  /// What goes for a member of a map; nil when not even the key may be shown.
  func member(_ key: CBORItem) -> CBORDisclosure? {
    switch self {
    case .record(let members): key.text.flatMap { members[$0] }
    case .names(let value): key.text.map(CBORDisclosure.isName) == true ? value : nil
    case .labels(let members, let others): key.int.map { members[$0] ?? others }
    case .scalars: key.isInteger ? .scalars : nil
    case .structure(let members): key.isLabel ? self : key.text.flatMap { members[$0] }
    default: nil
    }
  }

  /// What goes for an element of an array; nil when this is not expected to be an array.
  func element(_ place: Int) -> CBORDisclosure? {
    switch self {
    case .list(let element): element
    case .tuple(let elements): place < elements.count ? elements[place] : .nothing
    case .scalars: .scalars
    case .structure: self
    default: nil
    }
  }

  /// What goes for the value under a key that may not be shown.
  var unlisted: CBORDisclosure {
    if case .structure = self { self } else { .nothing }
  }

  /// Whether a map is expected.
  var isMap: Bool {
    switch self {
    case .record, .names, .labels, .scalars, .structure: true
    default: false
    }
  }

  /// Whether this item, no container and no tag, may be shown.
  func shows(_ item: CBORItem) -> Bool {
    switch self {
    case .integer: item.isInteger
    case .flag: item.bool != nil
    case .shortBytes: isShort(item)
    case .scalars: isShort(item) || item.isInteger || item.kind == .simple || item.kind == .float
    case .text(let passes): item.text.map(passes) == true
    // A detached payload, an absent part: null says nothing about anybody where an item is embedded.
    case .embedded: item.isNull
    default: false
    }
  }

  private func isShort(_ item: CBORItem) -> Bool {
    item.bytes.map { $0.count <= CBORDiagnostic.shortSize } ?? false
  }
}

extension CBORItem {
  /// Whether it is an integer as small as the registered labels of COSE and the like.
  fileprivate var isLabel: Bool { int.map { (-65_536...65_535).contains($0) } ?? false }
}
