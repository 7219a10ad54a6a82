// seed: \x03\x01ab\x03\x00cd
// seeds hex: transport/*.json
// options: -max_len=2048
import Bluetooth
import Bytes

/// Characteristic values put together: a message is exactly the data of its parts, and never longer than the limit.
func fuzz(_ input: [UInt8]) {
  let limit = 300
  var reassembler = Reassembler(limit: limit)
  var expected: [UInt8] = []
  var rest = input[...]
  while let length = rest.popFirst() {
    let value = rest.prefix(Int(length))
    rest = rest.dropFirst(Int(length))
    do {
      expected += value.dropFirst()
      guard let message = try reassembler.receive(value) else { continue }
      expect(message == expected && message.count <= limit, "a message is the data of its parts")
      expected = []
    } catch {
      return
    }
  }
}
