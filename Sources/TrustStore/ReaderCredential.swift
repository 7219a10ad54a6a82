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
    key = try ReaderCredential.readKey(place)
    guard case .success(let publicKey) = chain[0].publicKey, publicKey.curve == key.curve,
      publicKey.x == key.publicKey.x, publicKey.y == key.publicKey.y
    else { throw .otherKey(path) }
    // A key in a module may be there and not be allowed to sign.
    guard (try? key.signature(for: [0], hash: key.curve.kind == .edwards ? nil : .sha256)) != nil else {
      throw .cannotSign
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

  private static func readKey(_ place: KeyPlace) throws(ReaderCredentialProblem) -> PrivateKey {
    switch place {
    case .file(let path):
      let bytes: [UInt8]
      let facts: FileFacts
      do throws(SystemError) {
        facts = try Files.facts(path)
        bytes = try Files.read(path, limit: 64 << 10)
      } catch {
        throw .unreadable(error)
      }
      // Nobody but its owner; where root owns it, the group of the service may read it.
      guard facts.mode & (facts.owner == 0 ? 0o037 : 0o077) == 0 else { throw .openKey(path, mode: facts.mode) }
      guard let key = try? PrivateKey(pem: String(decoding: bytes, as: UTF8.self)) else { throw .noKey(path) }
      return key
    case .store(let address, let provider):
      do {
        return try PrivateKey(store: address, provider: provider)
      } catch {
        if case .providerMissing(let name) = error { throw .providerMissing(name) }
        throw .noKey(address)
      }
    }
  }
}

/// Why a reader cannot say who it is.
package enum ReaderCredentialProblem: Error, Sendable {
  case unreadable(SystemError)
  case noCertificate(String, CertificateInput.Violation)
  /// A certificate in the file did not sign the one before it.
  case chainOutOfOrder(String)
  /// Others may read the file of the key.
  case openKey(String, mode: UInt32)
  case noKey(String)
  case providerMissing(String)
  case otherKey(String)
  case cannotSign
}

extension ReaderCredentialProblem: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unreadable(let error): "\(error)"
    case .noCertificate(let path, let why): "\(path): \(why)"
    case .chainOutOfOrder(let path): "\(path): a certificate in it did not sign the one before it"
    case .openKey(let path, let mode): "\(path): others may read this private key (mode \(String(mode, radix: 8)))"
    case .noKey(let place): "\(place): there is no private key here that can be used"
    case .providerMissing(let name): "the OpenSSL provider \(name) cannot be loaded"
    case .otherKey(let path): "\(path): the certificate is for another key than the one configured"
    case .cannotSign: "the key is there, and does not sign"
    }
  }

  /// One line saying what to do.
  package var remedy: String {
    switch self {
    case .unreadable: "check the path, and that the reader's user may read it"
    case .noCertificate: "write the certificate as PEM, leaf first; README, Reader authentication, has the commands"
    case .chainOutOfOrder: "order them leaf first, each signed by the next; leave the root out"
    case .openKey(let path, _): "chmod 0600 \(path), or as root: chown root:mdoc-reader and chmod 0640"
    case .noKey: "a PEM file with one key that is not encrypted, on a curve of ISO/IEC 18013-5; or the right address"
    case .providerMissing(let name):
      "install the module (Debian: pkcs11-provider, tpm2-openssl) or correct provider = \"\(name)\""
    case .otherKey: "ask the reader CA for a certificate of this key, or configure the key it is for"
    case .cannotSign: "check in the module's own tools that the key may sign without being asked for a PIN"
    }
  }
}
