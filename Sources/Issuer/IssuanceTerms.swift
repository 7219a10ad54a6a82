import CBOR
import COSE
import CivilTime
import Crypto

/// How a document is issued: dates, digests and decoys, and hooks that make it wrong in exactly one way.
package struct IssuanceTerms: Sendable {
  /// The algorithm of the value digests.
  package var digest = HashAlgorithm.sha256
  /// `signed` of the validity information.
  package var signed: UnixTime
  package var validFrom: UnixTime
  package var validUntil: UnixTime
  package var expectedUpdate: UnixTime?
  /// Digests of no item, for each name space.
  package var decoys = 2
  /// Bytes of each item's random.
  package var randomSize = 32
  /// KeyAuthorizations: what the device may sign itself; nil leaves them out.
  package var keyAuthorizations: CBORValue?
  /// The status member of the MSO: a status list or identifier list reference; nil leaves it out.
  package var status: CBORValue?
  /// The algorithm number of the protected header; nil for the classic one of the signer's curve.
  package var algorithm: COSEAlgorithm?
  /// Signs instead of the signer named in x5chain.
  package var signingKey: PrivateKey?

  /// Changes an item before it is hashed: name space and item.
  package var editItem: (@Sendable (String, inout MapDraft) -> Void)?
  /// Changes the MSO before it is signed.
  package var editMSO: (@Sendable (inout MapDraft) -> Void)?
  /// Changes the payload (tag 24 around the MSO) before it is signed.
  package var editPayload: (@Sendable (inout [UInt8]) -> Void)?
  /// Changes the four parts of issuerAuth after it was signed: protected, unprotected, payload, signature.
  package var editIssuerAuth: (@Sendable (inout [CBORValue]) -> Void)?

  /// Signed and valid from a day before `now` on, for `days` days after it.
  package init(now: UnixTime, days: Int = 30) {
    self.init(signed: now.adding(seconds: -86_400), validUntil: now.adding(seconds: Int64(days) * 86_400))
  }

  /// - Parameter validFrom: nil for the instant of signing.
  package init(signed: UnixTime, validFrom: UnixTime? = nil, validUntil: UnixTime) {
    self.signed = signed
    self.validFrom = validFrom ?? signed
    self.validUntil = validUntil
  }
}

/// A map with text keys that is still being changed.
package struct MapDraft: Equatable, Sendable {
  package private(set) var members: [(key: String, value: CBORValue)]

  package init(_ members: KeyValuePairs<String, CBORValue>) {
    self.members = members.map { (key: $0.key, value: $0.value) }
  }

  /// The value under a key; assigning nil removes the member, assigning to a new key appends one.
  package subscript(key: String) -> CBORValue? {
    get { members.first { $0.key == key }?.value }
    set {
      let place = members.firstIndex { $0.key == key }
      switch (place, newValue) {
      case (let place?, let value?): members[place].value = value
      case (let place?, nil): members.remove(at: place)
      case (nil, let value?): members.append((key: key, value: value))
      case (nil, nil): break
      }
    }
  }

  package var value: CBORValue { .map(members.map { CBORValue.Pair(.text($0.key), $0.value) }) }

  package static func == (left: MapDraft, right: MapDraft) -> Bool { left.value == right.value }
}
