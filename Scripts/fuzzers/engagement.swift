// seed: mdoc:owBjMS4wAYIB2BhYS6QBAiABIVgghaBYJe7KSqcEolhmnIJaYJ2AIevkKbEy5xP7tkwlqAwiWCAMGCGe6uFI2hKeghb59h_K4hPV-Ldq6vnaxsRiySMH9gKBgwIBowD0AfULUKRoj0ZH60Qco-m0k97qRSQ
// seeds text: engagement/*.json
// seeds hex: engagement/*.json
// options: -max_len=2048
import Bytes
import Mdoc

/// The text of a QR code, and the bytes in it.
func fuzz(_ input: [UInt8]) {
  if let uri = try? EngagementURI(content: input) { read(uri.engagement[...]) }
  if let uri = try? EngagementURI(String(decoding: input, as: UTF8.self)) { read(uri.engagement[...]) }
  read(input[...])
}

private func read(_ bytes: ByteView) {
  guard let engagement = try? DeviceEngagement(bytes) else { return }
  expect(engagement.encoded.elementsEqual(bytes), "an engagement keeps its bytes")
  expect(engagement.bleIdent.count == 16, "the Ident value has 16 bytes")
  _ = try? engagement.requiredBluetooth()
}
