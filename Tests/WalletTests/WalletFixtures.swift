import Bytes
import CivilTime
import Crypto
import Foundation
import Issuer
import Mdoc
import TestSupport
import Wallet

let testNow = UnixTime(seconds: 1_790_000_000)

/// A document of a seeded issuer.
func storedDocument(
  _ kind: DocumentKind = .mdl, age: Int = 30, key: Curve = .p256, method: DeviceAuthenticationMethod = .signature,
  seed: UInt64 = 5
) throws -> StoredCredential {
  var random = SplitMix64(state: seed)
  var issue = TestIssue(kind, age: age, now: testNow)
  issue.deviceCurve = key
  return StoredCredential(credential: try issue.issue(random: &random).credential, method: method)
}

func itemsRequest(_ docType: String, _ nameSpace: String, _ elements: String...) -> ItemsRequest {
  ItemsRequest(
    docType: docType,
    nameSpaces: [
      .init(nameSpace: nameSpace, elements: elements.map { .init(identifier: $0, intentToRetain: false) })
    ])
}

let mdlRequest = itemsRequest(
  "org.iso.18013.5.1.mDL", "org.iso.18013.5.1", "family_name", "given_name", "birth_date", "age_over_18")
