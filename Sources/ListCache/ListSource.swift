import Bytes
import Crypto

/// What a list is about. The raw value is in files, events and output.
package enum ListKind: String, CaseIterable, Sendable {
  /// Revoked signers of an issuer (CRL).
  case revocation
  /// Status of documents: a status list or an identifier list.
  case status
  /// Issuers (VICAL).
  case issuers
}

/// A list by its kind and its address.
package struct ListSource: Hashable, Sendable {
  package let kind: ListKind
  /// To the character as the certificate, the document or the configuration has it.
  package let address: String

  package init(_ kind: ListKind, _ address: String) {
    self.kind = kind
    self.address = address
  }

  /// What its files in the cache begin with.
  var fileName: String { "\(kind.rawValue)-\(digest(.sha256, Array(address.utf8)).hex)" }
}

extension ListSource: Comparable {
  package static func < (left: ListSource, right: ListSource) -> Bool {
    (left.kind.rawValue, left.address) < (right.kind.rawValue, right.address)
  }
}
