import Bytes
import CivilTime
import Crypto
import Foundation
import HTTPFetch
import TestSupport
import Testing
import Web

@testable import HTTPServer

@Suite("The HTTP server over TLS")
struct HTTPServerTLSTests {
  /// A self-signed certificate for `localhost` and its key, and the certificate's file.
  private final class Authority {
    let identity: HTTPServer.Identity
    let file: String

    init() throws {
      let key = try PrivateKey.generate(.p256)
      let now = UnixTime(seconds: Int64(Date().timeIntervalSince1970))
      let name = [NameAttribute(.commonName, "test server")]
      let draft = CertificateDraft(
        serialNumber: SerialNumber(magnitude: [1, 2, 3]), issuer: name, subject: name,
        notBefore: now.adding(seconds: -3600), notAfter: now.adding(seconds: 86_400),
        publicKey: key.publicKey,
        extensions: [.subjectAltName(dnsName: "localhost"), .basicConstraints(isAuthority: true)])
      let pem = PEM.encode("CERTIFICATE", try draft.encoded(signedBy: key))
      identity = HTTPServer.Identity(certificate: pem, key: try key.pkcs8PEM())
      file = NSTemporaryDirectory() + "http-authority-\(UUID().uuidString).pem"
      try pem.write(toFile: file, atomically: true, encoding: .utf8)
    }

    deinit { try? FileManager.default.removeItem(atPath: file) }
  }

  @Test("who trusts its certificate is served; who does not, and who speaks no TLS, is not")
  func trusted() throws {
    let authority = try Authority()
    let server = try RunningServer(identity: authority.identity) { call in
      WebAnswer(status: 200, body: call.body + [UInt8](repeating: 7, count: 500_000))
    }
    defer { server.end() }
    #expect(server.origin == "https://localhost:\(server.port)")
    let place = try #require(WebAddress(server.origin + "/a"))
    let request = WebRequest.post(place, type: "a/b", body: [UInt8](repeating: 1, count: 300_000))
    let client = try HTTPClient(agent: "test", authorities: authority.file)
    for _ in 0..<2 {
      let answer = try client.perform(request)
      #expect(answer.status == 200 && answer.body.count == 800_000)
    }
    func code(_ client: HTTPClient, _ address: WebAddress) -> String? {
      thrown(FetchFailure.self) {
        _ = try client.perform(.get(address, accept: "*/*"), limits: WebLimits(time: .seconds(5)))
      }?
      .code
    }
    #expect(code(try HTTPClient(agent: "test"), place) == "tlsFailed")
    // Another's certificate, a missing file, and another name for the server.
    #expect(code(try HTTPClient(agent: "test", authorities: try Authority().file), place) == "tlsFailed")
    #expect(code(try HTTPClient(agent: "test", authorities: authority.file + ".none"), place) == "tlsFailed")
    #expect(code(client, try #require(WebAddress("https://127.0.0.1:\(server.port)/"))) == "tlsFailed")
    let plain = try RawClient(port: server.port)
    plain.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(status(plain.receive()) == nil && plain.isClosed)
    #expect(try client.perform(request).status == 200)
    #expect(server.end()?.hasBrokenPipe == false)
  }

  @Test("a certificate without its key is none to serve with, and its port is left free")
  func wrongIdentity() throws {
    var identity = try Authority().identity
    identity.key = try Authority().identity.key
    #expect(
      thrown(HTTPServerFailure.self) { _ = try RunningServer(identity: identity) { _ in WebAnswer(status: 200) } }
        == .identity)
    identity.key = "no key"
    #expect(
      thrown(HTTPServerFailure.self) { _ = try RunningServer(identity: identity) { _ in WebAnswer(status: 200) } }
        == .identity)
  }
}
