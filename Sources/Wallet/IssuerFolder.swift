import Crypto
import Issuer
import Kernel

/// The test issuer that lives in a wallet's folder, so that all its documents hang on one root: `issuer.pem` (the
/// certificate, to be trusted by readers) and `issuer-key.pem`.
package struct IssuerFolder: Sendable {
  package let folder: String

  package init(folder: String) { self.folder = folder }

  /// What readers are given to trust (PEM).
  package var certificatePath: String { folder + "/issuer.pem" }
  private var keyPath: String { folder + "/issuer-key.pem" }

  /// What is in the way of using the issuer that is there.
  package struct Damaged: Error, Equatable, Sendable {
    package let path: String
  }

  /// The issuer that is there, or nil. Throws `Damaged` when its files are no key and certificate of one root.
  package func load() throws -> IssuerAuthority? {
    guard Files.exists(certificatePath), Files.exists(keyPath) else { return nil }
    let keyText = String(decoding: try Files.read(keyPath, limit: 1 << 16), as: UTF8.self)
    let certificateText = String(decoding: try Files.read(certificatePath, limit: 1 << 16), as: UTF8.self)
    guard let key = try? PrivateKey(pem: keyText) else { throw Damaged(path: keyPath) }
    guard let block = try? PEM.blocks(in: certificateText).first, let certificate = try? Certificate(block.bytes),
      let authority = try? IssuerAuthority(key: key, certificate: certificate)
    else { throw Damaged(path: certificatePath) }
    return authority
  }

  /// Keeps an issuer: the key first, so that a certificate on the disk always has its key.
  package func save(_ authority: IssuerAuthority) throws {
    try Files.makeFolder(folder, mode: 0o700)
    try AtomicFile.write(try authority.key.pkcs8PEM().utf8, to: keyPath, mode: 0o600)
    try AtomicFile.write(authority.pem.utf8, to: certificatePath)
  }
}
