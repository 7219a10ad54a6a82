import Bytes
import CivilTime
import Crypto
import Issuer
import Mdoc
import StatusLists
import TestSupport
import Testing
import Trust

@testable import StatusJWT

@Suite("Status tokens in JWT form")
struct StatusJWTTests {
  private let now = UnixTime(seconds: 1_790_000_000)
  private let uri = "https://issuer.example/status/1"
  private let root: Certificate
  private let signer: DocumentSigner

  init() throws {
    var random = SplitMix64(state: 9)
    let authority = try IssuerAuthority(notBefore: now.adding(seconds: -86_400), random: &random)
    root = try Certificate(authority.certificate)
    signer = try authority.makeSigner(
      notBefore: now.adding(seconds: -86_400), notAfter: now.adding(seconds: 86_400), purposes: [], random: &random)
  }

  /// The published list of sixteen entries, signed; the texts replace header and claims.
  private func token(header: String? = nil, claims: String? = nil, key: PrivateKey? = nil) throws -> String {
    let chain = Base64.standard.encode(signer.certificate)
    let header = header ?? #"{"alg":"ES256","typ":"statuslist+jwt","x5c":["\#(chain)"]}"#
    let claims =
      claims ?? #"{"sub":"\#(uri)","iat":1789999000,"exp":1790000100.5,"ttl":600,"status_list":\#(list)}"#
    let input = Base64.url.encode(Array(header.utf8)) + "." + Base64.url.encode(Array(claims.utf8))
    let signature = try (key ?? signer.key).signature(for: Array(input.utf8), hash: .sha256)
    return input + "." + Base64.url.encode(signature)
  }

  private let list = #"{"bits":1,"lst":"eNrbuRgAAhcBXQ"}"#

  private func answer(_ token: String, index: UInt64 = 1) -> StatusAnswer {
    let copy = StatusSource.Copy(
      Result { () throws(StatusFault) in try StatusToken(jwt: Array(token.utf8)[...]) }, receivedAt: now)
    return StatusSource([uri: copy]).answer(
      to: StatusReference(uri: uri, place: .index(index)), from: .issuer(root), at: now)
  }

  @Test("an authentic token answers")
  func good() throws {
    #expect(try answer(token()) == .valid)
    #expect(try answer(token(), index: 0) == .revoked)
    #expect(try answer(token(), index: 16) == .indexOutOfRange)
  }

  @Test("another key's signature is not believed")
  func otherKey() throws {
    #expect(try answer(token(key: PrivateKey.generate(.p256))) == .unavailable(.signatureInvalid))
  }

  @Test("headers that are not those of a status list are refused")
  func headers() throws {
    let chain = Base64.standard.encode(signer.certificate)
    for header in [
      #"{"alg":"none","typ":"statuslist+jwt","x5c":["\#(chain)"]}"#,
      #"{"alg":"HS256","typ":"statuslist+jwt","x5c":["\#(chain)"]}"#,
      #"{"alg":"ES256","typ":"JWT","x5c":["\#(chain)"]}"#,
      #"{"alg":"ES256","x5c":["\#(chain)"]}"#,
      #"{"typ":"statuslist+jwt","x5c":["\#(chain)"]}"#,
      #"{"alg":"ES256","typ":"statuslist+jwt","crit":["exp"],"x5c":["\#(chain)"]}"#,
      #"{"alg":"ES256","typ":"statuslist+jwt","x5c":"\#(chain)"}"#,
      #"{"alg":"ES256","typ":"statuslist+jwt","x5c":[7]}"#,
      #"{"alg":"ES256","typ":"statuslist+jwt","x5c":["!"]}"#,
      #"{"alg":"ES256","alg":"ES256","typ":"statuslist+jwt","x5c":["\#(chain)"]}"#,
      "[]", "",
    ] {
      #expect(try answer(token(header: header)) == .unavailable(.tokenMalformed), "\(header)")
    }
    // Right in form: but the curve is not that of the algorithm, and nobody has signed.
    let other = #"{"alg":"ES384","typ":"statuslist+jwt","x5c":["\#(chain)"]}"#
    #expect(try answer(token(header: other)) == .unavailable(.signatureInvalid))
    let nobody = #"{"alg":"ES256","typ":"statuslist+jwt","kid":"12"}"#
    #expect(try answer(token(header: nobody)) == .unavailable(.signerUntrusted))
  }

  @Test("claims that are missing or wrong are refused")
  func claims() throws {
    for claims in [
      #"{"iat":1789999000,"status_list":\#(list)}"#,
      #"{"sub":"\#(uri)","status_list":\#(list)}"#,
      #"{"sub":"\#(uri)","iat":"1789999000","status_list":\#(list)}"#,
      #"{"sub":"\#(uri)","iat":1789999000,"exp":"x","status_list":\#(list)}"#,
      #"{"sub":"\#(uri)","iat":1789999000,"ttl":-1,"status_list":\#(list)}"#,
      #"{"sub":"\#(uri)","iat":1789999000}"#,
      #"{"sub":"\#(uri)","iat":1789999000,"status_list":{"bits":3,"lst":"eNrbuRgAAhcBXQ"}}"#,
      #"{"sub":"\#(uri)","iat":1789999000,"status_list":{"bits":1,"lst":"eNrbuRgAAhcBXQ=="}}"#,
      #"{"sub":"\#(uri)","iat":1790000001,"status_list":\#(list)}"#,
    ] {
      #expect(try answer(token(claims: claims)) == .unavailable(.tokenMalformed), "\(claims)")
    }
    let expired = #"{"sub":"\#(uri)","iat":1,"exp":2,"status_list":\#(list)}"#
    #expect(try answer(token(claims: expired)) == .unavailable(.expired))
    let other = #"{"sub":"other","iat":1,"status_list":\#(list)}"#
    #expect(try answer(token(claims: other)) == .unavailable(.subjectMismatch))
  }

  @Test("texts that are not three parts are refused")
  func parts() throws {
    let good = try token()
    for text in ["", ".", "..", "a.b", good + ".", "." + good, good + "\n", String(good.dropLast()) + "!"] {
      #expect(answer(text) == .unavailable(.tokenMalformed), "\(text.prefix(20))")
    }
  }

  @Test("the published token is read, its list has the published entries, and its key made the signature")
  func published() throws {
    guard let json = try sharedJSON("vectors/status-list/status-lists.json") as? [String: Any] else { return }
    let text = try #require(json["statusListTokenJwt"] as? String)
    let token = try StatusToken(jwt: Array(text.utf8)[...])
    #expect(token.claims.subject == "https://example.com/statuslists/1" && token.path == nil)
    guard case .statuses(let list)? = token.claims.content else {
      Issue.record("no list")
      return
    }
    #expect((0..<4).map { list[$0] } == [1, 0, 0, 1])
    // It names its key by `kid`, so that nobody vouches for it.
    #expect(!token.isSignatureValid)
    let key = try #require(json["signingKeyP256"] as? [String: Any])
    let x = try #require(bytes(hex: key["x"] as? String ?? ""))
    let y = try #require(bytes(hex: key["y"] as? String ?? ""))
    let parts = text.split(separator: ".")
    #expect(
      try PublicKey(curve: .p256, x: x[...], y: y[...]).isValid(
        signature: Base64.url.decode(parts[2])[...], for: Array("\(parts[0]).\(parts[1])".utf8)[...], hash: .sha256))
  }
}
