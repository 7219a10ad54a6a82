// seed: \x00\x03\x02\x17\x00\x09\x06\x01\x00\xff\xff\x00\x28\x0f\x18
// seed: \x01\x03\x03\x00\x02\x09\x07\x01\x00\x10\x00
// seed: \x02\x03\x02\x00\x02\x05\x12\x04\x00\x01\x00\x04\x52\x03\x00\x01
// options: -max_len=2048
import Bluetooth
import Bytes

/// A conversation with a peer that says anything: the first byte chooses role and mode, then length and PDU in turn.
func fuzz(_ input: [UInt8]) {
  guard let choice = input.first else { return }
  let mode = choice & 2 == 0 ? MdocMode.allCases[0] : MdocMode.allCases[1]
  guard let service = UUID128(text: "a4688f46-47eb-441c-a3e9-b493deea4524") else { return }
  var link =
    choice & 1 == 0
    ? GATTLink.server(mode: mode, service: service, ident: [UInt8](repeating: 7, count: 16))
    : GATTLink.client(mode: mode, service: service, ident: [UInt8](repeating: 7, count: 16))
  var now = ContinuousClock.now
  link.handle(.connected, at: now)
  drain(&link, now)
  var rest = input.dropFirst()
  while let length = rest.popFirst() {
    now = now.advanced(by: .milliseconds(Int(length)))
    link.handle(.received(rest.prefix(Int(length))), at: now)
    rest = rest.dropFirst(Int(length))
    drain(&link, now)
  }
}

private func drain(_ link: inout GATTLink, _ now: ContinuousClock.Instant) {
  var outputs = 0
  while link.nextOutput(at: now) != nil {
    outputs += 1
    expect(outputs < 1000, "one input gives a bounded number of outputs")
  }
}
