// seeds hex: device-responses/*.json issuer-signed/*.json verdicts/*/*.json
// seeds files: annex-d/*
// options: -max_len=16384
import Bytes
import CBOR
import CivilTime
import Crypto
import Mdoc
import MdocVerification
import Trust

nonisolated(unsafe) private let verifier = Verifier(anchors: [], policy: VerificationPolicy())
private let transcript: [UInt8] = [0x83, 0xf6, 0xf6, 0xf6]

/// A whole verification without anchors: nothing may be accepted, and nothing may trap.
func fuzz(_ input: [UInt8]) {
  let verdict = verifier.verify(
    input[...],
    in: Verifier.Circumstances(
      transcript: transcript[...],
      requested: [
        ItemsRequest(
          docType: "org.iso.18013.5.1.mDL",
          nameSpaces: [
            ItemsRequest.NameSpaceRequest(
              nameSpace: "org.iso.18013.5.1",
              elements: ["family_name", "birth_date", "portrait", "age_over_18"].map {
                ItemsRequest.ElementRequest(identifier: $0, intentToRetain: false)
              })
          ])
      ], readerKey: nil, now: UnixTime(seconds: 1_760_000_000)))
  expect(!verdict.allFindings.isEmpty, "without an anchor there is a finding")
}
