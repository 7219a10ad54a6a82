import Bytes
import TestSupport
import Testing
import Web

@testable import HTTPFetch

@Suite("Requests and answers over HTTP")
struct HTTPExchangeTests {
  private let client: HTTPClient

  init() throws { client = try HTTPClient(agent: "test/1") }

  private func address(_ server: LoopbackServer, _ path: String = "/x") throws -> WebAddress {
    try #require(WebAddress(server.address + path))
  }

  @Test("a GET says its headers and nothing of a body")
  func get() throws {
    let server = try LoopbackServer { _ in .init(headers: ["X-Kind: a:b ", "Set-Cookie: a=1", "x-kind: c"], body: [7]) }
    let request = WebRequest(
      .get, try address(server, "/x?a=b"), headers: [WebHeader("Accept", "a/b"), WebHeader("X-Empty", "")])
    let answer = try client.perform(request)
    #expect(answer.status == 200 && answer.body == [7])
    #expect(answer.headers.filter { $0.name.lowercased() == "x-kind" }.map(\.value) == ["a:b", "c"])
    let asked = server.requests[0]
    #expect(asked.method == "GET" && asked.path == "/x?a=b" && asked.body.isEmpty)
    #expect(
      asked.headers["accept"] == "a/b" && asked.headers["x-empty"] == "" && asked.headers["user-agent"] == "test/1")
    #expect(asked.headers["content-length"] == nil && asked.headers["content-type"] == nil)
    // No cookie is kept.
    _ = try client.perform(request)
    #expect(server.requests[1].headers["cookie"] == nil)
  }

  @Test("a POST says what it sends, and nothing that nobody said")
  func post() throws {
    let server = try LoopbackServer { _ in .init() }
    let place = try address(server)
    _ = try client.perform(.post(place, form: ["a": "b c", "d": "&"]))
    _ = try client.perform(.post(place, type: "application/json", body: Array(#"{"a":1}"#.utf8), accept: "x/y"))
    _ = try client.perform(.post(place, type: nil, body: []))
    // Over 1 MiB libcurl would wait for 100 Continue.
    let large = [UInt8](repeating: 0, count: (1 << 20) + 1)
    _ = try client.perform(.post(place, type: "a/b", body: large))
    _ = try client.perform(.get(place, accept: "x/y"))
    let asked = server.requests
    #expect(asked.map(\.method) == ["POST", "POST", "POST", "POST", "GET"])
    #expect(asked[0].headers["content-type"] == "application/x-www-form-urlencoded")
    #expect(asked[0].body == Array("a=b%20c&d=%26".utf8) && asked[0].headers["accept"] == "application/json")
    #expect(asked[1].headers["content-type"] == "application/json" && asked[1].body == Array(#"{"a":1}"#.utf8))
    #expect(asked[2].headers["content-type"] == nil && asked[2].headers["content-length"] == "0")
    #expect(asked[3].body == large && asked.allSatisfy { $0.headers["expect"] == nil })
    #expect(asked[4].headers["content-type"] == nil && asked[4].body.isEmpty)
  }

  @Test(
    "any status is an answer, and no redirect is followed", arguments: [201, 204, 301, 302, 307, 400, 401, 404, 500])
  func statuses(status: Int) throws {
    let server = try LoopbackServer { _ in .init(status: status, headers: ["Location: /elsewhere"]) }
    let answer = try client.perform(WebRequest(.post, try address(server), body: [1]))
    #expect(answer.status == status && answer[header: "location"] == "/elsewhere")
    #expect(server.requests.count == 1)
  }

  @Test(
    "a header that would not stay one is not sent, nor one that frames the message",
    arguments: [
      ("X", "a\r\nY: b", "X"), ("X", "a\nb", "X"), ("X", "a\rb", "X"), ("X", "a\u{0}b", "X"), ("X", " a", "X"),
      ("X", "a\u{1}", "X"), ("X\r\nY", "a", ""), ("X\u{0}", "a", ""), ("X:", "a", ""), ("", "a", ""), ("X ", "a", ""),
      ("Content-Length", "5", "Content-Length"), ("transfer-encoding", "chunked", "transfer-encoding"),
      ("Host", "other.example", "Host"),
    ])
  func headers(name: String, value: String, named: String) throws {
    let server = try LoopbackServer { _ in .init() }
    let request = WebRequest(
      .post, try address(server), headers: [WebHeader("Good", "1"), WebHeader(name, value)], body: [1])
    let error = thrown(FetchFailure.self) { _ = try client.perform(request) }
    #expect(error == .header(named))
    #expect(server.requests.isEmpty)
  }

  @Test("an answer's head is bounded in fields and in bytes")
  func headBounds() throws {
    let server = try LoopbackServer { request in
      let count = request.path == "/many" ? 201 : 190
      let length = request.path == "/long" ? 400 : 10
      return .init(headers: (0..<count).map { "H\($0): " + String(repeating: "a", count: length) }, body: [1])
    }
    #expect(try client.perform(.get(try address(server, "/fine"), accept: "*/*")).headers.count >= 190)
    for path in ["/many", "/long"] {
      let error = thrown(FetchFailure.self) { _ = try client.perform(.get(try address(server, path), accept: "*/*")) }
      #expect(error == .tooLarge, "\(path)")
    }
  }

  @Test("what is no header field is left out, and what follows the body is none of the head's")
  func trailers() throws {
    let server = try LoopbackServer { _ in
      var answer = LoopbackServer.Answer(
        headers: ["Transfer-Encoding: chunked", "No Field: 1", "Fine: ü", "Broken: \u{1}"],
        body: Array("3\r\nabc\r\n0\r\nX-After: 1\r\n\r\n".utf8))
      answer.saysLength = false
      return answer
    }
    let answer = try client.perform(.get(try address(server), accept: "*/*"))
    #expect(answer.body == Array("abc".utf8))
    #expect(answer.headers.map(\.name) == ["Connection", "Transfer-Encoding", "Fine"] && answer[header: "fine"] == "ü")
  }

  @Test("an exchange over HTTP says why no answer came")
  func failures() throws {
    let exchange = WebExchange(http: client)
    func failure(_ request: WebRequest, _ limits: WebLimits) -> ExchangeFailure? {
      thrown(ExchangeFailure.self) { _ = try exchange(request, limits: limits) }
    }
    let server = try LoopbackServer { request in
      var answer = LoopbackServer.Answer(body: [UInt8](repeating: 1, count: 101))
      if request.path == "/slow" { answer.delay = 1 }
      return answer
    }
    #expect(
      failure(.get(try address(server), accept: "*/*"), WebLimits(size: 100)) == ExchangeFailure("tooLarge"))
    #expect(
      failure(.get(try address(server, "/slow"), accept: "*/*"), WebLimits(time: .milliseconds(200)))
        == ExchangeFailure("timeout"))
    #expect(
      failure(WebRequest(.get, try address(server), headers: [WebHeader("A", "b\nc")]), WebLimits())
        == ExchangeFailure("headerRefused", "the header A"))
    var port: UInt16 = 0
    do { port = try LoopbackServer { _ in .init() }.port }
    let gone = try #require(WebAddress("http://127.0.0.1:\(port)/"))
    #expect(
      failure(.get(gone, accept: "*/*"), WebLimits())
        == ExchangeFailure("unreachable", "127.0.0.1:\(port) does not answer"))
    #expect(try exchange(.get(try address(server), accept: "*/*"), limits: WebLimits(size: 101)).body.count == 101)
  }
}
