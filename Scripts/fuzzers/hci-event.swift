// seed: \x04\x0e\x04\x01\x0c\x20\x00
// seed: \x04\x0e\x0c\x01\x1c\x20\x00\xff\xff\x3f\xff\xff\x03\x00\x00
// seed: \x04\x0f\x04\x01\x01\x0b\x20
// seed: \x04\x10\x01\x03
// seed: \x04\x3e\x0f\x02\x01\x00\x01\x4b\x18\xcf\xd8\x4d\xca\x03\x02\x01\x06\xc8
// seed: \x04\x3e\x18\x02\x02\x00\x00\x4b\x18\xcf\xd8\x4d\xca\x00\xc8\x00\xff\x00\x00\x00\x00\x00\x00\x01\x00\xc8
// seed: \x04\x3e\x1d\x0d\x01\x13\x00\x01\x4b\x18\xcf\xd8\x4d\xca\x01\x00\xff\x7f\xc8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x02\x01\x06
// options: -max_len=258
import Bluetooth
import Bytes

/// An event of the controller: whole it is one thing, cut or longer it is none.
func fuzz(_ input: [UInt8]) {
  let event = HCIEvent(input[...])
  expect(HCIEvent(([0xff] + input)[1...]) == event, "where bytes begin does not matter")
  guard let event else { return }
  expect(HCIEvent(input.dropLast()) == nil, "an event that is cut is none")
  expect(HCIEvent((input + [0])[...]) == nil, "an event with more than it says is none")
  switch event {
  case .advertisements(let heard):
    // The shortest report has 10 bytes: kinds, address, no data, RSSI.
    expect(heard.count * 10 <= input.count, "a report has its bytes")
    for one in heard {
      expect(BluetoothAddress(wire: one.address.wire, kind: one.address.kind) == one.address, "an address is stable")
      expect(one.address.description.utf8.count == 17, "an address has six pairs of digits")
    }
  case .commandComplete(_, let status, let parameters):
    expect(!status.description.isEmpty, "a status has a name")
    expect((LEStates(parameters) == nil) == (parameters.count < 8), "states have 8 bytes")
  case .commandStatus(_, let status): expect(!status.description.isEmpty, "a status has a name")
  case .hardwareError, .other: break
  }
}
