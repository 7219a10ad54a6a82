import CivilTime
import Crypto
import Kernel
import Trust

/// The certificate and the key by which the reader says who it is, read from where they are kept.
package struct ReaderCredential: Sendable {
  /// Where a private key is.
  package enum KeyPlace: Sendable {
    case file(String)
    /// An address in a store of OpenSSL, and the provider to load for it.
    case store(String, provider: String?)
  }

  package let key: PrivateKey
  /// The reader certificate and those between it and the reader root, leaf first; at least one.
  package let chain: [Certificate]

  package var certificate: Certificate { chain[0] }

  /// Reads both, and proves that they belong together.
  package init(certificates path: String, key place: KeyPlace) throws(ReaderCredentialProblem) {
    chain = try ReaderCredential.readChain(path)
    guard case .success(let publicKey) = chain[0].publicKey else { throw .otherKey(path) }
    key = try ReaderCredential.readKey(place, publicKey, certificates: path)
    guard publicKey.curve == key.curve, publicKey.x == key.publicKey.x, publicKey.y == key.publicKey.y else {
      throw .otherKey(path)
    }
  }

  /// What wallets may mind about the certificate, now.
  package struct Finding: Equatable, Sendable {
    package let text: String
    /// Whether wallets are known to refuse a reader for it.
    package let isHard: Bool
  }

  /// The faults of the certificate against its profile, and of its dates.
  package func findings(at now: UnixTime) -> [Finding] {
    var findings = certificate.readerProfileFaults.map { fault in
      Finding(text: "\(fault.explanation) (\(fault.rawValue))", isHard: fault.isHard)
    }
    for (place, issuer) in chain.enumerated().dropFirst() {
      let title = "certificate \(place + 1) of its chain"
      if issuer.issuer == issuer.subject {
        findings.append(Finding(text: "\(title) is a root, which is left out (rootInChain)", isHard: false))
      }
      if !issuer.isAuthority { findings.append(Finding(text: "\(title) is no authority (chain)", isHard: true)) }
      if now < issuer.notBefore || now > issuer.notAfter {
        findings.append(Finding(text: "\(title) is not valid now (chain)", isHard: true))
      }
    }
    if now < certificate.notBefore {
      findings.append(Finding(text: "it is valid from \(certificate.notBefore) only (notYetValid)", isHard: true))
    }
    if now > certificate.notAfter {
      findings.append(Finding(text: "it was valid until \(certificate.notAfter) (expired)", isHard: true))
    } else if now.adding(seconds: 30 * 86_400) > certificate.notAfter {
      findings.append(Finding(text: "it is valid until \(certificate.notAfter) only (expiresSoon)", isHard: false))
    }
    return findings
  }

  private static func readChain(_ path: String) throws(ReaderCredentialProblem) -> [Certificate] {
    let bytes: [UInt8]
    do { bytes = try Files.read(path, limit: CertificateInput.maximumSize) } catch { throw .unreadable(error) }
    let chain: [Certificate]
    do { chain = try CertificateInput.certificates(in: bytes) } catch { throw .noCertificate(path, error) }
    for (certificate, issuer) in zip(chain, chain.dropFirst()) {
      guard certificate.issuer == issuer.subject, let key = try? issuer.publicKey.get(), certificate.isSigned(by: key)
      else { throw .chainOutOfOrder(path) }
    }
    return chain
  }

  private static func readKey(
    _ place: KeyPlace, _ publicKey: PublicKey, certificates: String
  ) throws(ReaderCredentialProblem) -> PrivateKey {
    switch place {
    case .file(let path):
      let bytes = try SecretFile.read(path, as: .key, limit: 64 << 10)
      guard let key = try? PrivateKey(pem: String(decoding: bytes, as: UTF8.self)) else { throw .noKey(path) }
      return key
    case .store(let address, let provider):
      let parts = PKCS11Address(address)
      if let file = parts?.pinFile {
        let pin = try SecretFile.read(file, as: .pin, limit: 4 << 10).prefix { $0 != UInt8(ascii: "\n") }
        guard !pin.isEmpty else { throw .noPIN(file) }
      }
      if let file = ReaderCredential.file(in: address) { _ = try SecretFile.read(file, as: .key, limit: 64 << 10) }
      do throws(KeyStoreFault) {
        // A module of a token may start threads of its own.
        return try Signals.held { () throws(KeyStoreFault) in
          try PrivateKey(store: address, provider: provider, publicKey: publicKey)
        }
      } catch {
        if error == .otherKey { throw .otherKey(certificates) }
        throw .store(parts?.shown ?? address, error)
      }
    }
  }

  /// The file of an address that is one of OpenSSL's own file store: `file:/path`, `file:///path`, `/path`.
  private static func file(in address: String) -> String? {
    if address.hasPrefix("file:///") { return String(address.dropFirst(7)) }
    if address.hasPrefix("file:") { return String(address.dropFirst(5)) }
    return address.hasPrefix("/") ? address : nil
  }
}
