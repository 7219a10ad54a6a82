// seeds text: x509-limbo/*.json
// seeds files: vical/*
// seeds hex: issuer-signed/*.json device-responses/*.json
// seed: -----BEGIN CERTIFICATE-----\nMIICYzCCAgmgAwIBAgIKXhjLoCkLWBxREDAKBggqhkjOPQQDAjA4\n-----END CERTIFICATE-----\n
// options: -max_len=8192
import Crypto

/// Certificates, revocation lists and PEM text.
func fuzz(_ input: [UInt8]) {
  if let certificate = try? Certificate(input) {
    expect(certificate.encoded == input, "a certificate keeps its bytes")
    _ = (certificate.subject.description, certificate.issuer.description)
  }
  _ = try? CertificateRevocationList(input)
  _ = try? PEM.blocks(in: String(decoding: input, as: UTF8.self))
}
