// seed: owBjMS4wAYIB2BhY
// seed: MIICYzCCAgmgAwIBAgIKXhjLoCkLWBxREDAKBggqhkjOPQQDAjA4==
import Bytes

/// What decodes is written again as the same text; hex likewise.
func fuzz(_ input: [UInt8]) {
  let text = String(decoding: input, as: UTF8.self)
  if let decoded = try? Base64.url.decode(text) {
    expect((try? Base64.url.decode(Base64.url.encode(decoded))) == decoded, "base64url is stable")
  }
  if let decoded = try? Base64.standard.decode(text) {
    expect((try? Base64.standard.decode(Base64.standard.encode(decoded))) == decoded, "base64 is stable")
  }
  if let decoded = bytes(hex: text) { expect(bytes(hex: decoded.hex) == decoded, "hex is stable") }
}
