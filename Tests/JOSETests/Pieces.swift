import Bytes
import Crypto
import JSON

@testable import JOSE

/// A private key from its `d`.
func privateKey(_ curve: Curve, _ scalar: String) throws -> PrivateKey {
  try PrivateKey(curve: curve, scalar: Base64.url.decode(scalar))
}

/// Bob's, of RFC 7518 appendix C.
func bob() throws -> PrivateKey { try privateKey(.p256, "VEmDZpDXXK8p8N0Cndsxs924q6nS1RXFASRl6BfUqdw") }

/// JSON that is known to be JSON.
func json(_ text: String) -> JSONValue { JSONValue(reading: Array(text.utf8)) ?? .null }

/// The base64url text of a text.
func encoded(_ text: String) -> String { Base64.url.encode(text.utf8) }

/// A token with one of its parts replaced.
func replacing(_ part: Int, of token: String, with change: (String) -> String) -> String {
  var parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
  parts[part] = change(parts[part])
  return parts.joined(separator: ".")
}

/// The base64url text of the same bytes but for one bit of the first.
func withOneBitOff(_ part: String) -> String {
  var bytes = (try? Base64.url.decode(part)) ?? []
  if !bytes.isEmpty { bytes[0] ^= 1 }
  return Base64.url.encode(bytes)
}

/// A token with another protected header.
func replacingHeader(of token: String, with header: String) -> String {
  replacing(0, of: token) { _ in encoded(header) }
}

/// The protected header of a token with one member set, or taken away for nil.
func changingHeader(of token: String, _ name: String, to value: JSONValue?) -> String {
  let part = token.split(separator: ".", omittingEmptySubsequences: false).first.map(String.init) ?? ""
  guard case .object(let members)? = JSONValue(reading: (try? Base64.url.decode(part)) ?? []) else { return token }
  let changed = members.filter { $0.key != name } + (value.map { [JSONValue.Member(name, $0)] } ?? [])
  return replacingHeader(of: token, with: JSONValue.object(changed).text)
}

/// The curves that libjose signs and agrees on keys with.
let josePairs: [(curve: Curve, algorithm: String)] = [(.p256, "ES256"), (.p384, "ES384"), (.p521, "ES512")]
