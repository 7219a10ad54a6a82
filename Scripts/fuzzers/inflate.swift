// seed: \x78\xda\xdb\xb9\x18\x00\x02\x17\x01\x5d
// seed: \x78\x9c\x03\x00\x00\x00\x00\x01
// seed: \x78\x9c\x4b\x4c\x4a\x06\x00\x02\x4d\x01\x27
// options: -max_len=4096
import Bytes
import Inflate

/// A compressed list: never more than the limit, and the same whatever the limit is.
func fuzz(_ input: [UInt8]) {
  guard let content = try? inflate(input[...], limit: 1 << 16) else { return }
  expect(content.count <= 1 << 16, "no more than was allowed")
  expect((try? inflate(input[...], limit: content.count)) == content, "what fits exactly is taken")
  guard !content.isEmpty else { return }
  expect((try? inflate(input[...], limit: content.count - 1)) == nil, "what is one byte too long is refused")
}
