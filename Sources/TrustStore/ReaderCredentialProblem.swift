import Crypto
import Kernel

/// Why a reader cannot say who it is. No case holds a secret, nor an address with one in it.
package enum ReaderCredentialProblem: Error, Sendable {
  case unreadable(SystemError)
  case noCertificate(String, CertificateInput.Violation)
  /// A certificate in the file did not sign the one before it.
  case chainOutOfOrder(String)
  /// Others may read the file of a secret.
  case exposed(String, Secret, SecretFile.Exposure)
  /// A file without a PIN in its first line.
  case noPIN(String)
  case noKey(String)
  /// The address of a key without its query, and why there is no key.
  case store(String, KeyStoreFault)
  case otherKey(String)
}

extension ReaderCredentialProblem: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unreadable(let error): "\(error)"
    case .noCertificate(let path, let why): "\(path): \(why)"
    case .chainOutOfOrder(let path): "\(path): a certificate in it did not sign the one before it"
    case .exposed(let path, let secret, .mode(let mode)):
      "\(path): others may read this \(secret.rawValue) (mode \(String(mode, radix: 8)))"
    case .exposed(let path, let secret, .group(let name, let others)):
      "\(path): the group \(name) may read this \(secret.rawValue), and "
        + (others.isEmpty ? "no account is in it" : "\(ReaderCredentialProblem.list(others)) in it")
    case .noPIN(let path): "\(path): its first line is no PIN"
    case .noKey(let path): "\(path): there is no private key here that can be used"
    case .store(_, .provider(let name, let reasons)):
      "the OpenSSL provider \(name) cannot be loaded" + ReaderCredentialProblem.because(reasons.first)
    case .store(let address, let fault): "\(address): \(ReaderCredentialProblem.text(fault))"
    case .otherKey(let path): "\(path): the certificate is for another key than the one configured"
    }
  }

  private static func text(_ fault: KeyStoreFault) -> String {
    switch fault {
    case .provider, .otherKey: ""
    case .noStore: "no provider answers to such an address"
    case .storeClosed(let reasons): "the store does not open" + because(reasons.last)
    case .tokenAbsent: "there is no such token"
    case .pinMissing: "the token asks for a PIN, and none is named"
    case .pinRefused: "the token does not take the PIN"
    case .keyAbsent(let reasons): "there is no such private key" + because(reasons.last)
    case .cannotSign(let reasons): "the key is there, and does not sign" + because(reasons.last)
    }
  }

  /// OpenSSL's queue has the cause first where a module does not load; where a store fails, what it tried comes before.
  private static func because(_ reason: String?) -> String { reason.map { ": \($0)" } ?? "" }

  private static func list(_ names: [String]) -> String {
    let named = names.prefix(4).joined(separator: ", ")
    return names.count == 1 ? "\(named) is" : names.count > 4 ? "\(named) and others are" : "\(named) are"
  }

  /// One line saying what to do.
  package var remedy: String {
    switch self {
    case .unreadable: "check the path, and that the reader's user may read it"
    case .noCertificate: "write the certificate as PEM, leaf first; README, Reader authentication, has the commands"
    case .chainOutOfOrder: "order them leaf first, each signed by the next; leave the root out"
    case .exposed(let path, _, .mode):
      "chmod 0600 \(path), or as root: chown root:mdoc-reader and chmod 0640"
    case .exposed(let path, _, .group):
      "chown root:mdoc-reader \(path): a group in which the reader's user is, and nobody else"
    case .noPIN: "write the PIN into it, and nothing before it"
    case .noKey: "a PEM file with one key that is not encrypted, on a curve of ISO/IEC 18013-5"
    case .store(_, let fault): ReaderCredentialProblem.remedy(fault)
    case .otherKey: "ask the reader CA for a certificate of this key, or configure the key it is for"
    }
  }

  private static func remedy(_ fault: KeyStoreFault) -> String {
    switch fault {
    case .provider(let name, _):
      "install the module (Debian 13: pkcs11-provider, tpm2-openssl), see that the reader's user may open what it drives, "
        + "or correct provider = \"\(name)\""
    case .noStore: "correct key_uri, or name the OpenSSL provider: provider = \"pkcs11\""
    case .storeClosed:
      "install what leads to all tokens (Debian 13: p11-kit-modules) and the module of this one; p11-kit list-modules, as the reader's "
        + "user, says which are set up"
    case .tokenAbsent: "connect it, or correct key_uri; p11-kit list-tokens says which are there"
    case .pinMissing:
      "write it into a file for the reader alone, and that at the end of key_uri: ?pin-source=file:/etc/mdoc-reader/pin"
    case .pinRefused: "correct the file of pin-source before the next try: a token locks itself after a few wrong ones"
    case .keyAbsent: "correct key_uri; for a token, pkcs11-tool --login --list-objects says what is in it"
    case .cannotSign: "check in the module's own tools that the key may sign"
    case .otherKey: "ask the reader CA for a certificate of this key, or configure the key it is for"
    }
  }
}
