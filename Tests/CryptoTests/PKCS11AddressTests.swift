import Testing

@testable import Crypto

@Suite("Addresses of tokens (RFC 7512)")
struct PKCS11AddressTests {
  @Test("other addresses are none", arguments: ["", "file:/k", "handle:0x81000001", "pkcs11", "pkcs12:object=a"])
  func others(text: String) { #expect(PKCS11Address(text) == nil) }

  @Test("what is shown has no query, and the whole token is asked for without its PIN")
  func parts() throws {
    let address = try #require(
      PKCS11Address("PKCS11:token=door;object=reader;id=%01;type=private?pin-source=file:/p&module-name=softhsm2"))
    #expect(address.shown == "pkcs11:token=door;object=reader;id=%01;type=private")
    #expect(address.allOfToken("public") == "pkcs11:token=door;type=public?module-name=softhsm2")
    #expect(address.pinFile == "/p" && !address.hasPIN)
    let bare = try #require(PKCS11Address("pkcs11:"))
    #expect(bare.shown == "pkcs11:" && bare.allOfToken("private") == "pkcs11:type=private" && bare.pinSource == nil)
    let secret = try #require(PKCS11Address("pkcs11:token=a?pin-value=1234"))
    #expect(
      secret.hasPIN && secret.shown == "pkcs11:token=a" && secret.allOfToken("private") == "pkcs11:token=a;type=private"
    )
    #expect(try #require(PKCS11Address("pkcs11:token=pin-value=1")).hasPIN == false)
  }

  @Test(
    "the file of a PIN is a whole path, percent-encoding undone",
    arguments: [
      ("file:/etc/pin", "/etc/pin"), ("/etc/pin", "/etc/pin"), ("file:/a%20b%2fc", "/a b/c"), ("file:/a%", "/a%"),
      ("file:/a%+1", "/a%+1"), ("file:/a%zz", "/a%zz"), ("file:pin", nil), ("%7Cprogram", nil), ("", nil),
    ] as [(String, String?)])
  func pinFiles(source: String, file: String?) throws {
    #expect(try #require(PKCS11Address("pkcs11:token=a?pin-source=\(source)")).pinFile == file)
  }
}
