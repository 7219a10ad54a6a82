import Bytes
internal import COpenSSL
import CivilTime

/// An X.509 certificate revocation list: what it says. Nothing in it has been verified.
///
/// `@unchecked Sendable`: the OpenSSL object is not changed after `init`; its look-up sorts the entries once, under
/// its own lock.
package final class CertificateRevocationList: @unchecked Sendable {
  /// Longest encoding accepted, in bytes: a million entries with reasons.
  package static let maximumSize = 64 << 20

  package let issuer: DistinguishedName
  package let thisUpdate: UnixTime
  /// Nil when the list does not say: then it is never current.
  package let nextUpdate: UnixTime?
  package let extensions: [CertificateExtension]
  /// How many entries there are.
  package let revokedCount: Int
  /// Whether the algorithm inside the signed part is that outside of it.
  package let algorithmsAgree: Bool

  private let list: OpaquePointer  // owned, freed in deinit
  private let signedPart: SignedPart

  /// Reads one DER list; bytes after it are refused.
  package init(_ der: some Collection<UInt8>) throws(CertificateError) {
    guard der.count <= CertificateRevocationList.maximumSize else { throw .tooLarge }
    let encoded = Array(der)
    guard let signedPart = SignedPart(encoded[...]) else { throw .malformed }
    guard let list = parse(encoded) else {
      ERR_clear_error()
      throw .malformed
    }
    do throws(CertificateError) {
      guard let issuer = distinguishedName(X509_CRL_get_issuer(list)) else { throw .malformed }
      guard let thisUpdate = unixTime(X509_CRL_get0_lastUpdate(list)) else { throw .dateUnreadable }
      if let time = X509_CRL_get0_nextUpdate(list) {
        guard let nextUpdate = unixTime(time) else { throw .dateUnreadable }
        self.nextUpdate = nextUpdate
      } else {
        nextUpdate = nil
      }
      self.issuer = issuer
      self.thisUpdate = thisUpdate
    } catch {
      X509_CRL_free(list)
      throw error
    }
    extensions = readExtensions(count: X509_CRL_get_ext_count(list)) { X509_CRL_get_ext(list, $0) }
    revokedCount = max(0, Int(OPENSSL_sk_num(X509_CRL_get_REVOKED(list))))
    var reader = signedPart.content
    _ = reader.next(DERTag.integer)
    algorithmsAgree = reader.next(DERTag.sequence)?.encoded == signedPart.algorithmIdentifier
    self.list = list
    self.signedPart = signedPart
  }

  deinit { X509_CRL_free(list) }

  package var hasCriticalExtension: Bool { extensions.contains { $0.isCritical } }

  /// Whether the list names this serial number, whatever the reason it gives.
  package func names(_ serialNumber: SerialNumber) -> Bool {
    guard let number = ASN1_INTEGER_new() else { return false }
    defer { ASN1_INTEGER_free(number) }
    let bytes = serialNumber.isZero ? [0] : serialNumber.magnitude
    guard ASN1_STRING_set(number, bytes, Int32(bytes.count)) == 1 else { return false }
    if serialNumber.isNegative { number.pointee.type = V_ASN1_NEG_INTEGER }
    return X509_CRL_get0_by_serial(list, nil, number) != 0
  }

  /// Whether this key signed this list: ECDSA with SHA-256, SHA-384 or SHA-512 over the bytes as received, the
  /// algorithm named alike inside and outside.
  package func isSigned(by key: PublicKey) -> Bool { algorithmsAgree && signedPart.isSigned(by: key) }

  /// Whether `now` is within thisUpdate and nextUpdate, both included.
  package func isCurrent(at now: UnixTime) -> Bool {
    guard let nextUpdate else { return false }
    return thisUpdate <= now && now <= nextUpdate
  }
}

private func parse(_ encoded: [UInt8]) -> OpaquePointer? {
  encoded.withUnsafeBufferPointer { buffer in
    // d2i moves the pointer, not the bytes; both live for this closure.
    var position = buffer.baseAddress
    guard let list = d2i_X509_CRL(nil, &position, buffer.count) else { return nil }
    guard let start = buffer.baseAddress, position == start + buffer.count else {
      X509_CRL_free(list)
      return nil
    }
    return list
  }
}
