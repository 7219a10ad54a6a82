import Bytes
internal import CJOSE
import Foundation
import JSON
import Testing

@testable import Crypto
@testable import JOSE

@Suite("libjose")
struct LibraryTests {
  @Test("an error of the library stays off standard error")
  func silence() throws {
    let nothing = try LibraryObject.texts([:])
    let heard = try standardError {
      let isSigned = try withLibrary { jose_jws_ver($0, nothing.json, nil, nothing.json, true) }
      #expect(!isSigned)
    }
    #expect(!heard.contains("JWS missing payload attribute"))
    // and that the library does have something to say
    let loud = try standardError { _ = jose_jws_ver(nil, nothing.json, nil, nothing.json, true) }
    #expect(loud.contains("JWS missing payload attribute"))
  }

  @Test("errors of the library are not left in OpenSSL's queue, where our next error would show them")
  func errorQueue() throws {
    let key = try PrivateKey.generate(.p256).publicKey
    let none = CryptoError.openSSL(call: "probe", reasons: [])
    let jws = try LibraryObject.texts([
      "protected": encoded(#"{"alg":"ES256"}"#), "payload": "",
      "signature": Base64.url.encode([UInt8](repeating: 0xff, count: 64)),
    ])
    let jwk = try LibraryObject(JSONWebKey(key).json)
    let isSigned = try withLibrary { configuration in
      discardOpenSSLErrors()
      let isSigned = jose_jws_ver(configuration, jws.json, nil, jwk.json, true)
      #expect(openSSLError("probe") != none)
      _ = jose_jws_ver(configuration, jws.json, nil, jwk.json, true)
      return isSigned
    }
    #expect(!isSigned)
    #expect(openSSLError("probe") == none)
  }

  @Test("a private JWK holds the scalar in full length, and wipes it")
  func privateJWK() throws {
    let scalar = [UInt8](repeating: 0, count: 65) + [7]
    let key = try PrivateKey(curve: .p521, scalar: scalar)
    let text: UnsafeMutablePointer<json_t>
    do {
      let jwk = try LibraryObject.jwk(key)
      text = json_incref(json_object_get(jwk.json, "d"))
      #expect(try LibraryObject.text(text) == String(repeating: "A", count: 86) + "AH")
    }
    defer { json_decref(text) }
    #expect(try LibraryObject.text(text) == String(repeating: "\u{0}", count: 88))
  }
}

/// What is written to standard error meanwhile; it is passed on afterwards, since others write there too.
private func standardError(during body: () throws -> Void) throws -> String {
  let path = FileManager.default.temporaryDirectory.appendingPathComponent("jose-\(UUID().uuidString)").path
  let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
  let kept = fcntl(2, F_DUPFD_CLOEXEC, 3)
  try #require(file >= 0 && kept >= 0)
  unlink(path)
  fflush(nil)
  dup2(file, 2)
  defer {
    close(file)
    close(kept)
  }
  do {
    defer {
      fflush(nil)
      dup2(kept, 2)
    }
    try body()
  }
  var bytes = [UInt8](repeating: 0, count: Int(lseek(file, 0, SEEK_END)))
  let count = pread(file, &bytes, bytes.count, 0)
  let text = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
  let others = text.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.contains("JOSE_CFG_ERR") }
  _ = Array(others.joined(separator: "\n").utf8).withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
  return text
}
