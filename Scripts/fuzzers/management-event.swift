// seed: \x01\x00\x00\x00\x09\x00\x03\x00\x00\x02\x00\x00\x00\x01\x00
// seed: \x01\x00\x00\x00\x16\x00\x04\x00\x00\x4b\x18\xcf\xd8\x4d\xca\x09\x02\x00\xff\xff\x01\x00\x81\x02\x00\x00\x00\x00
// seed: \x02\x00\x00\x00\x03\x00\x05\x00\x12
// seed: \x03\x00\x00\x00\x01\x00\x01
// seed: \x06\x00\x00\x00\x04\x00\x01\x02\x00\x00
// seed: \x0c\x00\x00\x00\x08\x00\x4b\x18\xcf\xd8\x4d\xca\x02\x03
// seed: \x12\x00\x00\x00\x11\x00\x4b\x18\xcf\xd8\x4d\xca\x02\xc8\x00\x00\x00\x00\x03\x00\x02\x01\x06
// options: -max_len=600
import Bluetooth
import Bytes

/// A packet of the kernel's management interface, and the answers that it may carry.
func fuzz(_ input: [UInt8]) {
  let event = ManagementEvent(input[...])
  expect(ManagementEvent(([0xff] + input)[1...]) == event, "where bytes begin does not matter")
  guard let event else { return }
  expect(ManagementEvent(input.dropLast()) == nil, "a packet that is cut is none")
  expect(ManagementEvent((input + [0])[...]) == nil, "a packet with more than it says is none")
  switch event.content {
  case .commandComplete(_, let status, let parameters):
    expect(!status.description.isEmpty, "a status has a name")
    if let indices = ControllerList.indices(parameters) {
      expect(parameters.count == 2 + 2 * indices.count, "a list is as long as it says")
    }
    if let information = ControllerInformation(parameters) {
      expect(parameters.count >= 17, "information has all its fields")
      expect(!information.versionText.isEmpty, "a version has a name")
    }
  case .commandStatus(_, let status): expect(!status.description.isEmpty, "a status has a name")
  case .deviceFound(let found):
    expect(found.data.fields.reduce(0) { $0 + 2 + $1.data.count } <= input.count - 20, "its data is in the packet")
  case .deviceDisconnected(let address, _):
    expect(address.description.utf8.count == 17, "an address has six pairs of digits")
  case .controllerError, .indexAdded, .indexRemoved, .newSettings, .other: break
  }
}
