import Bytes
import CBOR
import COSE

/// IssuerSigned of a document: the disclosed items and the issuer's signature.
package struct IssuerSigned: Sendable {
  /// The items of each name space, in the order received; nil when the map around them is wrong.
  package let nameSpaces: [IssuerNameSpace]?
  package let issuerAuth: COSESign1

  /// Throws `malformed` when issuerAuth is missing, no COSE_Sign1, or without payload. Items are read leniently:
  /// one that is wrong is marked, so that it does not hide the others.
  package init(_ item: CBORItem?) throws(COSEError) {
    guard let item, item.kind == .map, let auth = item[key: "issuerAuth"] else { throw .malformed }
    issuerAuth = try COSESign1(auth)
    guard issuerAuth.structure.payload != nil else { throw .malformed }
    nameSpaces = item[key: "nameSpaces"].map(IssuerSigned.read) ?? .some([])
  }

  private static func read(_ item: CBORItem) -> [IssuerNameSpace]? {
    guard let entries = item.entries else { return nil }
    var result: [IssuerNameSpace] = []
    for (key, value) in entries {
      guard let nameSpace = key.text, let elements = value.elements else { return nil }
      var items: [IssuerSignedItem] = []
      var hasMalformed = false
      items.reserveCapacity(value.count ?? 0)
      for element in elements {
        if let item = IssuerSignedItem(element) { items.append(item) } else { hasMalformed = true }
      }
      result.append(IssuerNameSpace(nameSpace: nameSpace, items: items, hasMalformedItem: hasMalformed))
    }
    return result
  }
}

/// The disclosed items of one name space.
package struct IssuerNameSpace: Sendable {
  package let nameSpace: String
  package let items: [IssuerSignedItem]
  /// Whether an item was left out because it is none.
  package let hasMalformedItem: Bool
}

/// One disclosed element with its salt, as the issuer hashed it.
package struct IssuerSignedItem: Sendable {
  /// IssuerSignedItemBytes as received: tag head, byte string head and content. The digest is over these.
  package let encoded: ByteView
  /// Below 2^31.
  package let digestID: UInt64
  /// Bytes of the salt `random`, at least 16 by the standard.
  package let randomSize: Int
  package let elementIdentifier: String
  package let elementValue: CBORItem

  /// Nil for anything but T24(map) with the four members of the right kinds. Further members are ignored.
  package init?(_ item: CBORItem) {
    guard let content = try? item.embedded(), let digestID = content.uint(under: "digestID"), digestID < 1 << 31,
      let random = content.bytes(under: "random"), let identifier = content.text(under: "elementIdentifier"),
      let value = content[key: "elementValue"]
    else { return nil }
    encoded = item.encoded
    self.digestID = digestID
    randomSize = random.count
    elementIdentifier = identifier
    elementValue = value
  }
}
