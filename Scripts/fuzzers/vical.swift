// seeds files: vical/*.cbor
// options: -max_len=65536
import Bytes
import CBOR
import CivilTime
import Crypto
import Trust
import VICAL

/// A list with its own signer as trust point: whatever verifies is consistent, and without one nothing does.
func fuzz(_ input: [UInt8]) {
  guard let unverified = try? UnverifiedVICAL(input[...]) else { return }
  expect((try? unverified.verified(under: [], at: nil)) == nil, "nobody vouches for a list of nobody")
  let header = (try? decodeCBOR(input))?.untagged(18).element(1)?[label: 33]
  let chain = header?.bytes.map { [$0] } ?? header?.elements?.prefix(4).compactMap(\.bytes) ?? []
  let trustPoints = chain.compactMap { try? Certificate($0) }
  guard let list = try? unverified.verified(under: trustPoints, at: nil) else { return }
  expect(list.version.hasPrefix("1."), "the version is known")
  for entry in list.entries {
    expect(!entry.docTypes.isEmpty, "a root is for some doc types")
    expect((try? entry.certificate.publicKey.get()) != nil, "a root has a key")
  }
  expect(Set(list.skipped.map(\.number)).count == list.skipped.count, "each entry is skipped once")
  expect((try? list.succeed(list))?.isEmpty == true, "a list may take its own place")
  expect(list.anchors(source: "fuzz").count == list.entries.count, "each entry is an anchor")
}
