// seed: openid4vp://?client_id=redirect_uri%3Ahttps%3A%2F%2Fv.example%2Fr&response_type=vp_token&response_mode=direct_post&response_uri=https%3A%2F%2Fv.example%2Fr&nonce=n&state=s&dcql_query=%7B%22credentials%22%3A%5B%7B%22id%22%3A%22m%22%2C%22format%22%3A%22mso_mdoc%22%2C%22meta%22%3A%7B%22doctype_value%22%3A%22d%22%7D%7D%5D%7D
// seed: mdoc-openid4vp://?client_id=v.example&request_uri=https%3A%2F%2Fv.example%2F&request_uri_method=post
// seed: openid4vp://?client_id=x509_san_dns%3Av.example&request=eyJhbGciOiJFUzI1NiIsInR5cCI6Im9hdXRoLWF1dGh6LXJlcStqd3QiLCJ4NWMiOlsiTUFBPSJdfQ.e30.AAAA
// options: -max_len=4096
import CivilTime
import OpenID4VP
import Web

/// Addresses that start a wallet, and servers that answer with anything: whatever comes, a request that is taken goes to a place
/// where secrets may go, asks for something, and nobody is trusted.
func fuzz(_ input: [UInt8]) {
  let text = String(decoding: input, as: UTF8.self)
  let types = ["application/oauth-authz-req+jwt", "application/json"]
  for address in [text, "openid4vp://?client_id=x509_san_dns%3Av.example&request_uri=https%3A%2F%2Fv.example%2F"] {
    let exchange = WebExchange { _, _ throws(ExchangeFailure) in
      WebAnswer(status: 200, headers: [WebHeader("Content-Type", types[input.count & 1])], body: input)
    }
    let wallet = PresentationExchange(
      exchange: exchange, now: UnixTime(seconds: 1_780_000_000), walletNonce: "AAAA")
    guard let request = try? wallet.request(address) else { continue }
    expect(request.responseURI.isConfidential, "an answer goes to https, or to this machine")
    expect(!request.query.credentials.isEmpty, "a request asks for something")
    expect(request.verifier.distrust != nil, "nobody vouches for anybody")
    expect((request.encryption == nil) == (request.responseMode == .directPost), "what is to be encrypted has a key")
    _ = try? wallet.refuse(request, error: "access_denied")
  }
}
