import Bytes
import CBOR
import Crypto
import Kernel
import Mdoc

/// A credential with what its holder keeps beside it.
package struct StoredCredential: Sendable {
  package let credential: Credential
  /// How the device proves its key when nobody asks for anything else.
  package let method: DeviceAuthenticationMethod

  package init(credential: Credential, method: DeviceAuthenticationMethod) {
    self.credential = credential
    self.method = method
  }
}

/// The documents of a wallet: a folder with one file each, readable by its owner only.
///
/// A file is a CBOR map: `format`, `docType`, `issuerSigned` (a byte string, exactly as issued), `deviceKey` (PKCS #8
/// PEM) and `auth`; under a passphrase that map is sealed in another (`SealedFile`). Files are written whole or not at all, and
/// one that is damaged is never written over, moved or removed unless somebody says so.
package struct CredentialStore: Sendable {
  package let folder: String
  private let passphrase: Passphrase?
  /// What opening costs who guesses; lower in tests only.
  var logN = SealedFile.standardLogN

  /// A file that holds no credential.
  package enum Violation: Error, Equatable, Sendable {
    case notCBOR(CBORError)
    /// A member is missing or of a wrong kind.
    case member(String)
    case issuerSigned(Credential.Violation)
    case deviceKey
    /// Encrypted, and no passphrase was given.
    case locked
    /// Encrypted under another passphrase.
    case otherPassphrase
    /// Encrypted under this passphrase, and changed since.
    case changed
    /// No memory for the key derivation.
    case keyDerivation
  }

  /// Why nothing is added: the folder is encrypted already, and its documents shall open alike.
  package enum Refusal: Error, Equatable, Sendable {
    /// This file is encrypted, and no passphrase was given.
    case locked(file: String)
    /// This file and every other encrypted one do not open under the passphrase given.
    case otherPassphrase(file: String)
  }

  /// What one file turned out to be.
  package struct Entry: Sendable {
    /// The file's name in the folder.
    package let name: String
    package let content: Result<StoredCredential, Failure>
    /// Whether others than the owner can read a file whose key is not encrypted.
    package let isExposed: Bool

    /// Why a file could not be used.
    package enum Failure: Error, Sendable {
      case system(SystemError)
      case violation(Violation)
    }
  }

  private static let suffix = ".mdoc"
  private static let format = "mdoc-wallet-1"
  private static let sizeLimit = 32 << 20

  /// - Parameter passphrase: what is added is encrypted under it, what is encrypted is opened with it.
  package init(folder: String, passphrase: Passphrase? = nil) {
    self.folder = folder
    self.passphrase = passphrase
  }

  /// Writes a credential under a name made of its doc type and its signature, and gives the path.
  ///
  /// The same credential written twice is one file. Throws `Refusal` where the folder has encrypted documents that do not
  /// open under this store's passphrase.
  package func add(_ stored: StoredCredential) throws -> String {
    var bytes = try CredentialStore.encode(stored)
    try Files.makeFolder(folder, mode: 0o700)
    try checkPassphrase()
    if let passphrase { bytes = try SealedFile.seal(bytes, under: passphrase, logN: logN) }
    let fingerprint = digest(.sha256, stored.credential.issuerAuth).prefix(4).hex
    let kind = stored.credential.docType.unicodeScalars.map { scalar in
      scalar.isASCII && (scalar.properties.isAlphabetic || scalar == "." || scalar.properties.numericType != nil)
        ? String(scalar) : "-"
    }.joined().prefix(80)
    let path = folder + "/" + kind + "-" + fingerprint + CredentialStore.suffix
    try AtomicFile.write(bytes, to: path, mode: 0o600)
    return path
  }

  /// Every file of the folder that ends in `.mdoc`, by name; one that is damaged does not hide the others.
  package func entries() throws(SystemError) -> [Entry] {
    try names().map { name in
      let path = folder + "/" + name
      do throws(SystemError) {
        let bytes = try Files.read(path, limit: CredentialStore.sizeLimit)
        let mode = try Files.facts(path).mode
        do throws(Violation) {
          let root = try CredentialStore.root(of: bytes)
          let isExposed = mode & 0o077 != 0 && !SealedFile.isSealed(root)
          let stored = try CredentialStore.decode(root, passphrase: passphrase)
          return Entry(name: name, content: .success(stored), isExposed: isExposed)
        } catch {
          return Entry(name: name, content: .failure(.violation(error)), isExposed: false)
        }
      } catch {
        return Entry(name: name, content: .failure(.system(error)), isExposed: false)
      }
    }
  }

  /// Removes a file, whatever is in it; false when the folder has none of that name.
  package func delete(_ name: String) throws(SystemError) -> Bool {
    guard try names().contains(name) else { return false }
    try Files.remove(folder + "/" + name)
    return true
  }

  private func names() throws(SystemError) -> [String] {
    try Files.list(folder).filter { $0.hasSuffix(CredentialStore.suffix) && !$0.hasPrefix(".") }
  }

  /// One document that opens is proof enough; damaged ones say nothing.
  private func checkPassphrase() throws {
    var closed: String?
    for name in try names() {
      guard let bytes = try? Files.read(folder + "/" + name, limit: CredentialStore.sizeLimit),
        let root = try? CredentialStore.root(of: bytes), SealedFile.isSealed(root)
      else { continue }
      guard let passphrase else { throw Refusal.locked(file: name) }
      do throws(SealedFile.Violation) {
        _ = try SealedFile.open(root, under: passphrase)
        return
      } catch .changed {
        return
      } catch .otherPassphrase {
        closed = closed ?? name
      } catch {
        continue
      }
    }
    if let closed { throw Refusal.otherPassphrase(file: closed) }
  }

  static func encode(_ stored: StoredCredential) throws(CryptoError) -> [UInt8] {
    let credential = stored.credential
    return CBORValue.map([
      "format": .text(format), "docType": .text(credential.docType), "issuerSigned": .bytes(credential.issuerSigned),
      "deviceKey": .text(try credential.deviceKey.pkcs8PEM()), "auth": .text(stored.method.rawValue),
    ]).encode()
  }

  private static func root(of bytes: [UInt8]) throws(Violation) -> CBORItem {
    do throws(CBORError) {
      return try decodeCBOR(bytes[...], limits: CBORLimits(size: sizeLimit))
    } catch {
      throw .notCBOR(error)
    }
  }

  private static func decode(_ root: CBORItem, passphrase: Passphrase?) throws(Violation) -> StoredCredential {
    guard SealedFile.isSealed(root) else { return try decode(root) }
    guard let passphrase else { throw .locked }
    let plain: [UInt8]
    do throws(SealedFile.Violation) {
      plain = try SealedFile.open(root, under: passphrase)
    } catch {
      switch error {
      case .member(let name): throw .member(name)
      case .otherPassphrase: throw .otherPassphrase
      case .changed: throw .changed
      case .unavailable: throw .keyDerivation
      }
    }
    return try decode(try CredentialStore.root(of: plain))
  }

  private static func decode(_ root: CBORItem) throws(Violation) -> StoredCredential {
    guard root[key: "format"]?.isText(format) == true else { throw .member("format") }
    guard let docType = root[key: "docType"]?.text else { throw .member("docType") }
    guard let issuerSigned = root[key: "issuerSigned"]?.bytes else { throw .member("issuerSigned") }
    guard let pem = root[key: "deviceKey"]?.text else { throw .member("deviceKey") }
    guard let method = (root[key: "auth"]?.text).flatMap(DeviceAuthenticationMethod.init(rawValue:)) else {
      throw .member("auth")
    }
    guard let key = try? PrivateKey(pem: pem) else { throw .deviceKey }
    do throws(Credential.Violation) {
      return StoredCredential(
        credential: try Credential(docType: docType, issuerSigned: issuerSigned, deviceKey: key), method: method)
    } catch {
      throw .issuerSigned(error)
    }
  }
}

extension CredentialStore.Entry.Failure: CustomStringConvertible {
  package var description: String {
    switch self {
    case .system(let error): error.reason
    case .violation(.notCBOR(let error)): "not CBOR: \(error)"
    case .violation(.member(let name)): "its member \(name) is missing or of a wrong kind"
    case .violation(.issuerSigned(.notCBOR(let error))): "issuerSigned is not CBOR: \(error)"
    case .violation(.issuerSigned(.member(let name))): "issuerSigned: \(name) is missing or of a wrong kind"
    case .violation(.deviceKey): "its device key cannot be read"
    case .violation(.locked): "it is encrypted, and no passphrase was given"
    case .violation(.otherPassphrase): "it is encrypted under another passphrase"
    case .violation(.changed): "the passphrase is right, but its contents were changed"
    case .violation(.keyDerivation): "no key could be derived from the passphrase; there may be too little memory"
    }
  }
}
