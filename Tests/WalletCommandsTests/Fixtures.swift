import CivilTime
import Issuer
import Mdoc
import TestSupport
import Wallet

/// A licence of a seeded issuer.
func storedDocument() throws -> StoredCredential {
  var random = SplitMix64(state: 5)
  let issue = TestIssue(.mdl, age: 30, now: UnixTime(seconds: 1_790_000_000))
  return StoredCredential(credential: try issue.issue(random: &random).credential, method: .signature)
}

let mdlRequest = ItemsRequest(
  docType: "org.iso.18013.5.1.mDL",
  nameSpaces: [
    .init(
      nameSpace: "org.iso.18013.5.1",
      elements: ["family_name", "given_name", "birth_date", "age_over_18"].map {
        .init(identifier: $0, intentToRetain: false)
      })
  ])
