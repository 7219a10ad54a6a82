import Testing

@testable import Bytes

@Suite("Web addresses")
struct WebAddressTests {
  @Test(
    "hosts as they are compared",
    arguments: [
      ("http://example.org/x", "example.org"), ("HTTPS://Example.ORG", "example.org"),
      ("https://example.org:443/a?b=c", "example.org"), ("http://example.org:443/", "example.org:443"),
      ("http://example.org?x", "example.org"), ("http://[::1]:8080/", "[::1]:8080"),
      ("http://10.0.0.1:80/", "10.0.0.1"),
    ])
  func hosts(text: String, host: String) {
    #expect(WebAddress(text)?.host == host)
    #expect(WebAddress(text)?.text == text)
  }

  @Test(
    "what is no address",
    arguments: [
      "", "example.org", "ftp://example.org/", "file:///etc/passwd", "http://", "http:///x", "http://a@b/",
      "http://a:b@c/", "http://a/#x", "http://a b/", "http://a\\b/", "http://a:0/", "http://a:65536/", "http://a:/",
      "http://a:8o/", "http://[::1/", "http://[]/", "http://[::1]x/", "http://ä.example/", "http://a_b/",
      "http://a\n/", "http://" + String(repeating: "a", count: 2048),
    ])
  func others(text: String) { #expect(WebAddress(text) == nil) }

  @Test("hosts that a site may allow")
  func allowed() {
    #expect(WebAddress.isHost("example.org") && WebAddress.isHost("example.org:8080") && WebAddress.isHost("[::1]"))
    for text in ["", "Example.org", "http://example.org", "example.org/", "*", "example.org:x"] {
      #expect(!WebAddress.isHost(text), "\(text)")
    }
  }
}
