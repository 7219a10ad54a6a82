// seed: \x03\x00\x00\x00\x02\xf6\xf7\x00\x00\x00\x01\xa0
// seed: \x01\xa1\x01\x02\xa0\xbf\x01\x02\xff
// seeds hex: transport/*.json
// seed: \x00\xa0\xa0\xa0\xa0\xa0\xa0\xa0\xa0\xa0\xa0\xa0\xa0\xa0\xa0\xa0\xa0\xa0\xaf
// options: -max_len=2048
import Bluetooth
import Bytes

/// A channel's stream: the same messages, or the same refusal, in pieces of whatever size. The first byte chooses it.
func fuzz(_ input: [UInt8]) {
  guard let size = input.first else { return }
  let bytes = input.dropFirst()
  let whole = outcome(of: bytes, piece: max(bytes.count, 1))
  let parts = outcome(of: bytes, piece: Int(size) + 1)
  // How many messages end in one record is a matter of where records end.
  let isCrowded = [whole, parts].contains(.failure(.tooManyMessages(limit: MessageStream.messagesPerRecord)))
  // What is both too long and no map is refused for what was seen first.
  expect(isCrowded || (try? whole.get()) == (try? parts.get()), "pieces change nothing")
}

private func outcome(of bytes: ByteView, piece: Int) -> Result<[[UInt8]], MessageStream.Violation> {
  let limit = 300
  var stream = MessageStream(limit: limit)
  var messages: [[UInt8]] = []
  var rest = bytes
  while !rest.isEmpty {
    do throws(MessageStream.Violation) {
      let found = try stream.receive(rest.prefix(piece))
      expect(found.count <= MessageStream.messagesPerRecord, "no crowd in one record")
      messages += found
    } catch {
      return .failure(error)
    }
    rest = rest.dropFirst(piece)
  }
  expect(messages.allSatisfy { $0.count <= limit } && stream.byteCount <= limit + 4, "within the limit")
  return .success(messages)
}
