import Bytes
import CivilTime
import Crypto
import JOSE
import JSON
import TestSupport
import Testing
import Web

@testable import OpenID4VCI

@Suite("OpenID4VCI: proofs of possession (DPoP)")
struct PossessionTests {
  private let now = UnixTime(seconds: 1_780_000_000)
  private let target = address("https://issuer.example/token?x=y")

  @Test("a proof is for one method, address, token and time")
  func fits() throws {
    let key = try PrivateKey.generate(.p256)
    let request = WebRequest(.post, target)
    let text = try DPoPProof.make(key, for: request, token: "t", nonce: "n", identifier: "1", at: now)
    let proof = try #require(DPoPProof(reading: text))
    #expect(proof.key.key == key.publicKey && proof.nonce == "n" && proof.identifier == "1")
    let htu = "https://issuer.example/token"
    #expect(proof.fits(method: .post, target: htu, token: "t", at: now))
    #expect(!proof.fits(method: .get, target: htu, token: "t", at: now))
    #expect(!proof.fits(method: .post, target: target.text, token: "t", at: now))
    #expect(!proof.fits(method: .post, target: htu, token: "u", at: now))
    #expect(!proof.fits(method: .post, target: htu, token: nil, at: now))
    #expect(!proof.fits(method: .post, target: htu, token: "t", at: now.adding(seconds: 301)))
    #expect(!proof.fits(method: .post, target: htu, token: "t", at: now.adding(seconds: -301)))
    let parts = text.split(separator: ".")
    #expect(DPoPProof(reading: "\(parts[0]).\(parts[1]).AAAA") == nil)
    #expect(DPoPProof(reading: "x") == nil)
    let other = try CompactJWS.sign(
      ["jti": "1", "htm": "POST", "htu": "https://issuer.example/token", "iat": 1],
      header: [.init("typ", "JWT"), .init("jwk", JSONWebKey(key.publicKey).json)], with: key)
    #expect(DPoPProof(reading: other) == nil)
  }

  @Test("the digest of a token is that of RFC 9449, section 7")
  func tokenDigest() {
    #expect(
      DPoPProof.digest(of: "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU")
        == "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo")
  }

  @Test("the challenge of a verifier is that of RFC 7636, appendix B")
  func challenge() {
    #expect(
      CodeChallenge.challenge(of: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
  }

  @Test("a token that is bound to a key is worth nothing with another key, without a proof, or as a bearer's")
  func stolen() throws {
    let bench = try IssuanceBench()
    _ = try bench.run()
    let request = try #require(bench.requests(to: .credential).first)
    let authorization = try #require(request.headers.first { $0.name == "Authorization" }?.value)
    #expect(authorization.hasPrefix("DPoP "))
    let token = String(authorization.dropFirst(5))
    func status(_ scheme: String, proof: String?) throws -> Int {
      var stolen = WebRequest.post(request.address, type: "application/json", body: Array("{}".utf8))
      stolen.headers.append(WebHeader("Authorization", "\(scheme) \(token)"))
      if let proof { stolen.headers.append(WebHeader("DPoP", proof)) }
      return bench.service.handle(try #require(WebCall(stolen)), at: bench.now).status
    }
    #expect(try status("Bearer", proof: nil) == 401)
    #expect(try status("DPoP", proof: nil) == 401)
    let thief = try DPoPProof.make(
      PrivateKey.generate(.p256), for: request, token: token, nonce: nil, identifier: "x", at: bench.now)
    #expect(try status("DPoP", proof: thief) == 401)
    // The wallet's own proof, a second time.
    let seen = try #require(request.headers.first { $0.name == "DPoP" }?.value)
    #expect(try status("DPoP", proof: seen) == 401)
  }

  @Test("one key serves a claim, every proof has an identifier of its own, and the key is another next time")
  func identifiers() throws {
    let bench = try IssuanceBench()
    var keys: [[UInt8]] = []
    for _ in 0..<2 {
      let before = bench.requests.count
      _ = try bench.run(.authorizationCode)
      let texts = bench.requests.dropFirst(before).compactMap { $0.headers.first { $0.name == "DPoP" }?.value }
      let proofs = texts.compactMap(DPoPProof.init)
      #expect(proofs.count == 4 && Set(proofs.map(\.identifier)).count == 4)
      #expect(Set(proofs.map(\.key.thumbprint)).count == 1)
      keys.append(try #require(proofs.first).key.thumbprint)
    }
    #expect(keys[0] != keys[1])
  }
}
