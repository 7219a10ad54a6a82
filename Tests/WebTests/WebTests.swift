import Bytes
import Testing

@testable import Web

@Suite("Web: forms, messages and addresses as values")
struct WebTests {
  @Test("fields keep their order and come back as they were")
  func roundTrip() {
    let fields: FormFields = ["a": "1 + 1 = 2 & more", "b": nil, "ü": "日本", "empty": ""]
    #expect(fields.text == "a=1%20%2B%201%20%3D%202%20%26%20more&%C3%BC=%E6%97%A5%E6%9C%AC&empty=")
    #expect(FormFields(reading: fields.text) == fields)
    #expect(fields["b"] == nil)
    #expect(fields["empty"] == "")
  }

  @Test("a plus is a blank, a name without a value has an empty one, empty parts are none")
  func reading() {
    #expect(FormFields(reading: "a=x+y&&b&")?.fields == [.init("a", "x y"), .init("b", "")])
    #expect(FormFields(reading: "")?.fields == [])
    #expect(FormFields(reading: "a=b=c")?["a"] == "b=c")
  }

  @Test(
    "what programs would read in different ways is refused",
    arguments: ["a=%", "a=%4", "a=%zz", "a=%ff", "a=1&a=2", "a=1&%61=2"])
  func refused(_ text: String) {
    #expect(FormFields(reading: text) == nil)
  }

  @Test("more than two hundred fields are refused")
  func many() {
    let text = { (count: Int) in (0..<count).map { "f\($0)=1" }.joined(separator: "&") }
    #expect(FormFields(reading: text(FormFields.most)) != nil)
    #expect(FormFields(reading: text(FormFields.most + 1)) == nil)
  }

  @Test("an invocation gives scheme, place and fields, in any of the forms people paste")
  func invocation() throws {
    let offer = try #require(InvocationURI("OpenID-credential-offer://?credential_offer=%7B%7D"))
    #expect(offer.scheme == "openid-credential-offer")
    #expect(offer.place == "//")
    #expect(offer.fields["credential_offer"] == "{}")
    let universal = try #require(InvocationURI("https://wallet.example/go?a=b#x?c=d"))
    #expect(universal.place == "//wallet.example/go")
    #expect(universal.fields.fields == [.init("a", "b")])
    #expect(InvocationURI("openid4vp:?a=b")?.fields["a"] == "b")
    for text in ["", "no scheme", "://?a=b", "1a://?a=b", "a b://?", "x://?a=\u{7f}", "x://?a=1&a=2"] {
      #expect(InvocationURI(text) == nil, "\(text)")
    }
    #expect(InvocationURI("x:?" + String(repeating: "a", count: InvocationURI.longest)) == nil)
  }

  @Test("the well-known part goes between host and path, and behind it where drafts are asked")
  func wellKnown() throws {
    let tenant = try #require(WebAddress("https://issuer.example:8443/tenant/1?x=y"))
    #expect(tenant.wellKnown("w")?.text == "https://issuer.example:8443/.well-known/w/tenant/1")
    #expect(tenant.wellKnownBehind("w")?.text == "https://issuer.example:8443/tenant/1/.well-known/w")
    #expect(tenant.path == "/tenant/1")
    #expect(tenant.query == "x=y")
    for text in ["https://issuer.example", "https://issuer.example/"] {
      #expect(WebAddress(text)?.wellKnown("w")?.text == "https://issuer.example/.well-known/w")
      #expect(WebAddress(text)?.wellKnownBehind("w")?.text == "https://issuer.example/.well-known/w")
    }
    #expect(tenant.adding(["a": "ü"])?.text == "https://issuer.example:8443/tenant/1?x=y&a=%C3%BC")
    #expect(WebAddress("https://issuer.example")?.adding(["a": "1"])?.text == "https://issuer.example?a=1")
  }

  @Test("secrets go to https and to this machine only")
  func confidential() {
    for text in [
      "https://a.example", "http://localhost:80", "http://127.0.0.1:8080/x", "http://[::1]:1", "http://[::1]",
    ] {
      #expect(WebAddress(text)?.isConfidential == true, "\(text)")
    }
    for text in ["http://a.example", "http://127.0.0.1.example", "http://localhost.example", "http://127.0.0.2"] {
      #expect(WebAddress(text)?.isConfidential == false, "\(text)")
    }
  }

  @Test("the host is had without its port")
  func hostNames() {
    #expect(WebAddress("https://A.example:8443/x")?.hostName == "a.example")
    #expect(WebAddress("http://[::1]:8080")?.hostName == "[::1]")
  }

  @Test("a stranger's text is cut and cleaned before it stands in a message")
  func strangers() {
    #expect(printable("a\nb\"c\\dé") == "a?b?c?d?")
    #expect(printable(String(repeating: "a", count: 300)).count == 200)
    #expect(printable("abc", limit: 2) == "ab")
  }

  @Test("a media type is compared without its parameters and letters' case")
  func mediaTypes() {
    let answer = WebAnswer(status: 200, headers: [WebHeader("content-type", "Application/JSON; charset=utf-8")])
    #expect(answer.mediaType == "application/json")
    #expect(answer[header: "Content-Type"] == "Application/JSON; charset=utf-8")
    #expect(WebAnswer(status: 204).mediaType == nil)
  }

  @Test("a header is well-formed when it stays one field on the wire")
  func headers() {
    for (name, value) in [("A", ""), ("x-1!#$%&'*+-.^_`|~", "b"), ("A", "b c\td"), ("A", "ü:;\"\\")] {
      #expect(WebHeader(name, value).isWellFormed, "\(name): \(value)")
    }
    for (name, value) in [
      ("", "a"), ("A ", "a"), ("A:", "a"), ("Ä", "a"), ("A\r\nB", "a"), ("A\u{0}", "a"), ("A", " "), ("A", "a "),
      ("A", "\ta"), ("A", "a\r\nB: c"), ("A", "a\nb"), ("A", "a\rb"), ("A", "a\u{0}b"), ("A", "a\u{7F}"),
    ] {
      #expect(!WebHeader(name, value).isWellFormed, "\(name.debugDescription): \(value.debugDescription)")
    }
  }
}
