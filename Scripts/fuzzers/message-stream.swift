// seed: \x03\x00\x00\x00\x02\xf6\xf7\x00\x00\x00\x01\xa0
// seed: \x01\xa1\x01\x02\xa0\xbf\x01\x02\xff
// seeds hex: transport/*.json
// options: -max_len=2048
import Bluetooth
import Bytes

/// A channel's stream: the same messages, or the same refusal, in pieces of whatever size. The first byte chooses it.
func fuzz(_ input: [UInt8]) {
  guard let size = input.first else { return }
  let bytes = input.dropFirst()
  let whole = messages(in: bytes, piece: max(bytes.count, 1))
  let parts = messages(in: bytes, piece: Int(size) + 1)
  expect(whole == parts, "pieces change nothing")
}

/// Nil where the stream was refused.
private func messages(in bytes: ByteView, piece: Int) -> [[UInt8]]? {
  let limit = 300
  var stream = MessageStream(limit: limit)
  var messages: [[UInt8]] = []
  var rest = bytes
  while !rest.isEmpty {
    guard let found = try? stream.receive(rest.prefix(piece)) else { return nil }
    messages += found
    rest = rest.dropFirst(piece)
  }
  expect(messages.allSatisfy { $0.count <= limit } && stream.byteCount <= limit + 4, "within the limit")
  return messages
}
