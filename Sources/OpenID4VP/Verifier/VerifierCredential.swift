import CivilTime
import Crypto

/// What a verifier signs its requests with.
package struct VerifierCredential: Sendable {
  package let key: PrivateKey
  /// The leaf first; a root is left out, for who believes it has it.
  package let chain: [Certificate]

  package init(key: PrivateKey, chain: [Certificate]) {
    self.key = key
    self.chain = chain
  }

  /// Why a verifier with such a credential would be refused; empty when nothing is wrong (looked at before it serves anybody).
  ///
  /// - Parameters:
  ///   - dnsName: the name it goes by; nil where it goes by the certificate's hash.
  package func faults(dnsName: String?, responseHost: String, now: UnixTime) -> [CredentialFault] {
    guard let leaf = chain.first else { return [.noCertificate] }
    var faults: [CredentialFault] = []
    if (try? leaf.publicKey.get()) != key.publicKey { faults.append(.otherKey) }
    if now < leaf.notBefore { faults.append(.notYetValid) }
    if now > leaf.notAfter { faults.append(.expired) }
    if let dnsName {
      let names = leaf.subjectAltName.value?.dnsNames ?? []
      if !names.contains(where: { $0.lowercased() == dnsName.lowercased() }) { faults.append(.nameNotInCertificate) }
      if dnsName.lowercased() != responseHost.lowercased() { faults.append(.otherHost) }
    }
    return faults
  }
}

/// What is wrong with a verifier's own set-up.
package enum CredentialFault: String, Error, Equatable, Sendable {
  case noCertificate
  /// The key is not that of the certificate.
  case otherKey
  case expired
  case notYetValid
  /// The name it goes by is none of the certificate's DNS names.
  case nameNotInCertificate
  /// Answers would go to another host than the name it goes by.
  case otherHost
}
