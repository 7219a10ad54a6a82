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
/// PEM) and `auth`. Files are written whole or not at all.
package struct CredentialStore: Sendable {
  package let folder: String

  /// A file that holds no credential.
  package enum Violation: Error, Equatable, Sendable {
    case notCBOR(CBORError)
    /// A member is missing or of a wrong kind.
    case member(String)
    case issuerSigned(Credential.Violation)
    case deviceKey
  }

  /// What one file turned out to be.
  package struct Entry: Sendable {
    /// The file's name in the folder.
    package let name: String
    package let content: Result<StoredCredential, Failure>

    /// Why a file could not be used.
    package enum Failure: Error, Sendable {
      case system(SystemError)
      case violation(Violation)
    }
  }

  private static let suffix = ".mdoc"
  private static let format = "mdoc-wallet-1"
  private static let sizeLimit = 32 << 20

  package init(folder: String) { self.folder = folder }

  /// Writes a credential under a name made of its doc type and its signature, and gives the path.
  ///
  /// The same credential written twice is one file.
  package func add(_ stored: StoredCredential) throws -> String {
    let bytes = try CredentialStore.encode(stored)
    try Files.makeFolder(folder, mode: 0o700)
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
    try Files.list(folder).filter { $0.hasSuffix(CredentialStore.suffix) && !$0.hasPrefix(".") }.map { name in
      do {
        let bytes = try Files.read(folder + "/" + name, limit: CredentialStore.sizeLimit)
        return Entry(name: name, content: .success(try CredentialStore.decode(bytes)))
      } catch let error as SystemError {
        return Entry(name: name, content: .failure(.system(error)))
      } catch let error as Violation {
        return Entry(name: name, content: .failure(.violation(error)))
      } catch {
        return Entry(name: name, content: .failure(.violation(.deviceKey)))
      }
    }
  }

  static func encode(_ stored: StoredCredential) throws(CryptoError) -> [UInt8] {
    let credential = stored.credential
    return CBORValue.map([
      "format": .text(format), "docType": .text(credential.docType), "issuerSigned": .bytes(credential.issuerSigned),
      "deviceKey": .text(try credential.deviceKey.pkcs8PEM()), "auth": .text(stored.method.rawValue),
    ]).encode()
  }

  static func decode(_ bytes: [UInt8]) throws(Violation) -> StoredCredential {
    let root: CBORItem
    do throws(CBORError) {
      root = try decodeCBOR(bytes[...], limits: CBORLimits(size: sizeLimit))
    } catch {
      throw .notCBOR(error)
    }
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
    }
  }
}
