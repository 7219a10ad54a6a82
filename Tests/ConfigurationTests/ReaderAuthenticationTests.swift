import Mdoc
import Testing

@testable import Configuration

private func configured(_ lines: String) throws -> ConfiguredReaderAuthentication? {
  try ReaderConfiguration(text: minimal + "[reader_authentication]\n" + lines).readerAuthentication
}

@Suite("[reader_authentication]")
struct ReaderAuthenticationTests {
  @Test("is nobody unless a certificate and a key are written")
  func absent() throws {
    #expect(try ReaderConfiguration(text: minimal).readerAuthentication == nil)
    #expect(try configured("") == nil)
    #expect(try configured("whole_request = \"never\"") == nil)
  }

  @Test("names a certificate, and a key in a file or in a store")
  func present() throws {
    let file = try #require(try configured("certificate = \"r.pem\"\nkey = \"r.key\""))
    #expect(file.certificate == ConfiguredPath("r.pem") && file.key == .file(ConfiguredPath("r.key")))
    #expect(file.wholeRequest == .whenOffered)
    let module = try #require(
      try configured(
        "certificate = \"r.pem\"\nkey_uri = \"pkcs11:object=r\"\nprovider = \"pkcs11\"\nwhole_request = \"always\""))
    #expect(module.key == .store("pkcs11:object=r", provider: "pkcs11") && module.wholeRequest == .always)
    let plain = try #require(try configured("certificate = \"r.pem\"\nkey_uri = \"file:/r.key\""))
    #expect(plain.key == .store("file:/r.key", provider: nil))
  }

  @Test(
    "one without the other, and two places for one key, stop the start with their line",
    arguments: [
      ("certificate = \"r.pem\"", "6 reader_authentication.certificate: has no key that belongs to it"),
      ("key = \"r.key\"", "6 reader_authentication.key: has no certificate that belongs to it"),
      ("key_uri = \"file:r\"", "6 reader_authentication.key_uri: has no certificate that belongs to it"),
      (
        "certificate = \"r.pem\"\nkey = \"r.key\"\nkey_uri = \"file:r\"",
        "8 reader_authentication.key_uri: names a second place for the key"
      ),
      (
        "certificate = \"r.pem\"\nkey = \"r.key\"\nprovider = \"tpm2\"",
        "8 reader_authentication.provider: answers to key_uri only, which is missing"
      ),
      (
        "certificate = \"r.pem\"\nkey_uri = \"pkcs11:object=r?pin-value=4711\"",
        "7 reader_authentication.key_uri: has a PIN in it, where everybody reads it"
      ),
      (
        "certificate = \"r.pem\"\nkey_uri = \"PKCS11:object=r?x=1&pin-source=file:r.pin\"",
        "7 reader_authentication.key_uri: names no file by its whole path as pin-source"
      ),
    ])
  func halves(lines: String, problem: String) {
    #expect(brief(minimal + "[reader_authentication]\n" + lines) == [problem])
  }
}
