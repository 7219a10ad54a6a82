/// How the content of a JWE is encrypted (`enc`, RFC 7518 section 5.1): the AES modes that libjose has, which are all.
package enum ContentEncryption: String, CaseIterable, Sendable {
  case a128GCM = "A128GCM"
  case a192GCM = "A192GCM"
  case a256GCM = "A256GCM"
  case a128CBCHS256 = "A128CBC-HS256"
  case a192CBCHS384 = "A192CBC-HS384"
  case a256CBCHS512 = "A256CBC-HS512"
}
