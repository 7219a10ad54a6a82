import Crypto
import Mdoc

/// Who the reader is to wallets: `[reader_authentication]`.
package struct ConfiguredReaderAuthentication: Equatable, Sendable {
  /// Where the private key is.
  package enum Key: Equatable, Sendable {
    case file(ConfiguredPath)
    /// An address in a store of OpenSSL, and the provider that answers to it.
    case store(String, provider: String?)
  }

  /// The file of the certificate and of those between it and the reader root.
  package let certificate: ConfiguredPath
  package let key: Key
  /// When the whole request is signed as well.
  package let wholeRequest: ReaderSigner.WholeRequest
}

enum ReaderAuthenticationSchema {
  private static let pinRemedy =
    "write the PIN into a file for the reader alone, and in key_uri ?pin-source=file:/etc/mdoc-reader/pin"

  /// Nil where nothing is written, and where what is written is wrong.
  static func read(_ section: inout Section) -> ConfiguredReaderAuthentication? {
    let certificate = section.text("certificate", example: "/etc/mdoc-reader/reader.pem").map(ConfiguredPath.init)
    let file = section.text("key", example: "/etc/mdoc-reader/reader.key").map(ConfiguredPath.init)
    let address = section.text("key_uri", example: "pkcs11:token=door;object=reader")
    let provider = section.text("provider", example: "pkcs11")
    let wholeRequest = section.choice("whole_request", default: ReaderSigner.WholeRequest.whenOffered)
    func report(_ key: String, _ problem: String, _ remedy: String) {
      section.report(key, line: section.table?.member(key)?.line ?? section.line, problem, remedy)
    }
    let key: ConfiguredReaderAuthentication.Key?
    switch (file, address) {
    case (let file?, nil): key = .file(file)
    case (nil, let address?):
      let parts = PKCS11Address(address)
      if parts?.hasPIN == true {
        report("key_uri", "has a PIN in it, where everybody reads it", pinRemedy)
        return nil
      }
      if let parts, parts.pinSource != nil, parts.pinFile == nil {
        report("key_uri", "names no file by its whole path as pin-source", pinRemedy)
        return nil
      }
      key = .store(address, provider: provider)
    case (.some, .some):
      report("key_uri", "names a second place for the key", "keep key or key_uri")
      return nil
    case (nil, nil): key = nil
    }
    if provider != nil, address == nil {
      report("provider", "answers to key_uri only, which is missing", "write key_uri, or leave provider out")
      return nil
    }
    switch (certificate, key) {
    case (let certificate?, let key?):
      return ConfiguredReaderAuthentication(certificate: certificate, key: key, wholeRequest: wholeRequest)
    case (.some, nil):
      report("certificate", "has no key that belongs to it", "write key = \"FILE\" or key_uri = \"ADDRESS\"")
    case (nil, .some):
      report(file == nil ? "key_uri" : "key", "has no certificate that belongs to it", "write certificate = \"FILE\"")
    case (nil, nil): break
    }
    return nil
  }
}
