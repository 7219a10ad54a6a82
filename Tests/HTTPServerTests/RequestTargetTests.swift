import Testing
import Web

@testable import HTTPServer

@Suite("Request targets")
struct RequestTargetTests {
  private static let read: [(String, String, FormFields)] = [
    ("/", "/", [:]), ("/a/b", "/a/b", [:]), ("/a?", "/a", [:]), ("/a?b=c&d=%20+", "/a", ["b": "c", "d": "  "]),
    ("/a%2Fb?c", "/a%2Fb", ["c": ""]), ("/?a=b?c@d", "/", ["a": "b?c@d"]), ("//a", "//a", [:]),
    ("http://a.example", "/", [:]), ("http://a.example:80/b?c=d", "/b", ["c": "d"]),
    ("https://a.example?b", "/", ["b": ""]),
  ]

  @Test("a path or a whole address, and its query")
  func targets() {
    for (text, path, query) in RequestTargetTests.read {
      let target = RequestTarget(text)
      #expect(target?.path == path && target?.query == query, "\(text)")
    }
  }

  @Test(
    "what is none",
    arguments: [
      "", "*", "a", "?a=b", "a.example:443", "ftp://a/b", "http://", "/a b", "/ü", "/a#b", "/\u{1}", "/a?b=%", "/a?b&b",
    ])
  func none(text: String) { #expect(RequestTarget(text) == nil) }
}
