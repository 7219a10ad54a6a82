import Bytes
import CBOR

/// The status member of a mobile security object: where to ask whether the document was revoked.
package struct StatusReference: Hashable, Sendable {
  /// What to look for in the list.
  package enum Place: Hashable, Sendable {
    /// An index into a token status list.
    case index(UInt64)
    /// A key of an identifier list.
    case identifier(ByteView)
  }

  /// The address of the list, and the subject its token has to name.
  package let uri: String
  package let place: Place
  /// DER of the certificate whose key signed the top of the token's chain; nil: the issuer's root.
  package let certificate: ByteView?

  package init(uri: String, place: Place, certificate: ByteView? = nil) {
    self.uri = uri
    self.place = place
    self.certificate = certificate
  }

  /// Nil when the member can not be used: neither list in it, or one of wrong kinds. Of both, the status list counts.
  package init?(_ status: CBORItem) {
    if let list = status[key: "status_list"] {
      guard let index = list[key: "idx"]?.uint else { return nil }
      self.init(list, place: .index(index))
    } else if let list = status[key: "identifier_list"] {
      guard let identifier = list[key: "id"]?.bytes else { return nil }
      self.init(list, place: .identifier(identifier))
    } else {
      return nil
    }
  }

  private init?(_ list: CBORItem, place: Place) {
    guard let uri = list[key: "uri"]?.text else { return nil }
    let certificate = list[key: "certificate"]
    guard certificate == nil || certificate?.kind == .bytes else { return nil }
    self.init(uri: uri, place: place, certificate: certificate?.bytes)
  }
}
