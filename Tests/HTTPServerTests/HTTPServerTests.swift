import Bytes
import HTTPFetch
import Synchronization
import TestSupport
import Testing
import Web

@testable import HTTPServer

@Suite("The HTTP server with libcurl as its client")
struct HTTPServerTests {
  /// What a server was called with.
  private final class Calls: Sendable {
    private let all = Mutex<[WebCall]>([])
    var list: [WebCall] { all.withLock { $0 } }
    func add(_ call: WebCall) { all.withLock { $0.append(call) } }
  }

  private let client: HTTPClient

  init() throws { client = try HTTPClient(agent: "test/1") }

  private func address(_ server: RunningServer, _ path: String) throws -> WebAddress {
    try #require(WebAddress(server.origin + path))
  }

  @Test("a GET comes as path, query and headers; the answer goes as it is, with its length")
  func get() throws {
    let calls = Calls()
    let server = try RunningServer { call in
      calls.add(call)
      return WebAnswer(
        status: 200,
        headers: [
          WebHeader("Content-Type", "a/b"), WebHeader("X-Two", "1"), WebHeader("X-Two", "2"),
          WebHeader("Content-Length", "77"), WebHeader("Connection", "close"),
        ], body: Array("hello".utf8))
    }
    defer { server.end() }
    #expect(server.origin == "http://127.0.0.1:\(server.port)")
    let answer = try client.perform(
      WebRequest(.get, try address(server, "/a%20b/c?d=e+f&g=%C3%BC"), headers: [WebHeader("X-Asked", "yes")]))
    #expect(answer.status == 200 && answer.body == Array("hello".utf8) && answer.mediaType == "a/b")
    #expect(answer.headers.filter { $0.name == "X-Two" }.map(\.value) == ["1", "2"])
    #expect(answer.headers.filter { $0.name == "Content-Length" }.map(\.value) == ["5"])
    #expect(answer[header: "Cache-Control"] == "no-store" && answer[header: "Server"] == nil)
    #expect(answer[header: "Connection"] == nil)
    let call = try #require(calls.list.first)
    #expect(call.method == .get && call.path == "/a%20b/c" && call.query == ["d": "e f", "g": "ü"])
    #expect(call[header: "x-asked"] == "yes" && call.body.isEmpty && call.form == nil)
  }

  @Test("a POST comes with its body: a form, JSON, nothing")
  func post() throws {
    let calls = Calls()
    let server = try RunningServer { call in
      calls.add(call)
      return WebAnswer(status: 202, headers: [WebHeader("Cache-Control", "max-age=5")], body: call.body)
    }
    defer { server.end() }
    let place = try address(server, "/token")
    let form: FormFields = ["grant_type": "a b", "code": "x&y="]
    #expect(try client.perform(.post(place, form: form)).status == 202)
    let json = Array(#"{"proof":"ü"}"#.utf8)
    let answer = try client.perform(
      WebRequest(
        .post, place,
        headers: [
          WebHeader("Content-Type", "application/json; charset=utf-8"), WebHeader("Authorization", "DPoP abc"),
        ],
        body: json))
    #expect(answer.body == json && answer[header: "Cache-Control"] == "max-age=5")
    #expect(try client.perform(.post(place, type: nil, body: [])).body.isEmpty)
    let list = calls.list
    #expect(list.map(\.method) == [.post, .post, .post] && list.allSatisfy { $0.path == "/token" && $0.query == [:] })
    #expect(list[0].form == form)
    #expect(list[1].mediaType == "application/json" && list[1][header: "authorization"] == "DPoP abc")
    #expect(list[1].body == json && list[2].body.isEmpty && list[2].mediaType == nil)
  }

  @Test("every status arrives, and a redirect is not followed", arguments: [200, 202, 204, 302, 304, 400, 404, 500])
  func statuses(status: Int) throws {
    let calls = Calls()
    let server = try RunningServer { call in
      calls.add(call)
      return WebAnswer(status: status, headers: [WebHeader("Location", "/elsewhere?a=b")])
    }
    defer { server.end() }
    for _ in 0..<2 {
      let answer = try client.perform(.get(try address(server, "/"), accept: "*/*"))
      #expect(answer.status == status && answer.body.isEmpty && answer[header: "Location"] == "/elsewhere?a=b")
    }
    #expect(calls.list.map(\.path) == ["/", "/"])
  }

  @Test("bodies up to the limit go both ways; one byte more is 413 here, and tooLarge there")
  func sizes() throws {
    let calls = Calls()
    var limits = HTTPServer.Limits()
    limits.body = 1_000_000
    let server = try RunningServer(limits: limits) { call in
      calls.add(call)
      return WebAnswer(status: 200, body: call.body + (call.path == "/more" ? [0] : []))
    }
    defer { server.end() }
    let body = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    let most = WebLimits(size: 1_000_000)
    func post(_ path: String, _ body: [UInt8]) throws -> WebAnswer {
      try client.perform(.post(try address(server, path), type: "a/b", body: body), limits: most)
    }
    #expect(try post("/", body).body == body)
    #expect(thrown(FetchFailure.self) { _ = try post("/more", body) } == .tooLarge)
    let refused = try post("/", body + [0])
    #expect(refused.status == 413 && refused.body == Array("the body is too large\n".utf8))
    #expect(try post("/", [1]).body == [1])
    #expect(calls.list.map(\.body.count) == [1_000_000, 1_000_000, 1])
  }

  @Test("an answer that cannot be sent as it is becomes a failure, and nothing of it goes out")
  func unsendable() throws {
    let server = try RunningServer { call in
      switch call.path {
      case "/status": WebAnswer(status: 99, body: [1])
      case "/hundred": WebAnswer(status: 100, body: [1])
      case "/name": WebAnswer(status: 200, headers: [WebHeader("A B", "c")])
      case "/end": WebAnswer(status: 200, headers: [WebHeader("Location", "/a\r\nSet-Cookie: b=c")])
      case "/nul": WebAnswer(status: 200, headers: [WebHeader("X", "a\u{0}b")])
      case "/tab": WebAnswer(status: 200, headers: [WebHeader("X", "a\tb")])
      default: WebAnswer(status: 200)
      }
    }
    defer { server.end() }
    for path in ["/status", "/hundred", "/name", "/end", "/nul"] {
      let answer = try client.perform(.get(try address(server, path), accept: "*/*"))
      #expect(answer.status == 500 && answer.body == Array("the server has failed\n".utf8), "\(path)")
      #expect(answer[header: "Set-Cookie"] == nil && answer[header: "X"] == nil, "\(path)")
    }
    // libmicrohttpd may refuse a tab, which HTTP allows.
    #expect([200, 500].contains(try client.perform(.get(try address(server, "/tab"), accept: "*/*")).status))
    #expect(try client.perform(.get(try address(server, "/"), accept: "*/*")).status == 200)
  }

  @Test("a port that is taken is named; it is free at once when its server has closed")
  func ports() throws {
    let first = try RunningServer { _ in WebAnswer(status: 200, body: [1]) }
    defer { first.end() }
    let place = try address(first, "/")
    #expect(try client.perform(.get(place, accept: "*/*")).body == [1])
    let taken = thrown(HTTPServerFailure.self) {
      _ = try RunningServer(port: first.port) { _ in WebAnswer(status: 200) }
    }
    #expect(taken == .portInUse(first.port) && taken?.description == "port \(first.port) is in use")
    // With a connection that is open, and was in use.
    let waiting = try RawClient(port: first.port)
    waiting.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(status(waiting.receive { $0.hasSuffix("\u{1}") }) == 200)
    let account = try #require(first.end())
    #expect(account.watches == 0 && account.timers.isEmpty)
    waiting.receive()
    #expect(waiting.isClosed)
    #expect(thrown(FetchFailure.self) { _ = try client.perform(.get(place, accept: "*/*")) }?.code == "unreachable")
    let second = try RunningServer(port: first.port) { _ in WebAnswer(status: 200, body: [2]) }
    defer { second.end() }
    #expect(try client.perform(.get(place, accept: "*/*")).body == [2])
  }
}
