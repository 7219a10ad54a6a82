// seeds text: x509-limbo/*.json verdicts/revocation/*.json
// options: -max_len=8192
import Bytes
import CivilTime
import Crypto
import Trust

/// The root of the test, which signed nothing.
private let key = try? PrivateKey.generate(.p256)

/// A list in DER, or the first one in PEM text: what is read is consistent, and nobody is revoked or cleared by a list
/// that no root signed.
func fuzz(_ input: [UInt8]) {
  var encoded = input
  if let block = try? PEM.blocks(in: input).first { encoded = block.bytes }
  guard let list = try? CertificateRevocationList(encoded), let key else { return }
  expect(list.revokedCount <= encoded.count / 5, "each entry has bytes of its own")
  expect(!list.isSigned(by: key.publicKey), "a key that signed nothing signed nothing")
  _ = list.names(SerialNumber(magnitude: [1]))
  _ = (list.number, list.isDelta, list.hasScope, list.hasCriticalExtension)
  expect(list.isNoOlder(than: list), "a list is no older than itself")
  let root = CertificateDraft.issuerRoot(
    serialNumber: SerialNumber(magnitude: [1]), name: [NameAttribute(.commonName, "Root")],
    notBefore: UnixTime(seconds: 0), notAfter: UnixTime(seconds: 1 << 32), publicKey: key.publicKey,
    contact: IssuerContact(email: "a@example.com", crlAddress: "http://example.com/"))
  guard let der = try? root.encoded(signedBy: key), let certificate = try? Certificate(der) else { return }
  expect(list.fault(under: certificate)?.isFatal == true, "another root's list is as if it were not there")
  let answer = RevocationLists([list]).answer(
    for: certificate, under: TrustAnchor(certificate, source: "fuzz"), at: UnixTime(seconds: 1_780_000_000))
  expect(answer == .unknown, "another root's list says nothing")
}
