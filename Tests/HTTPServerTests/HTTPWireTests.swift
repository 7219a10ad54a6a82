import Synchronization
import Testing
import Web

@testable import HTTPServer

@Suite("The HTTP server and clients that speak in bytes")
struct HTTPWireTests {
  private static let hello: @Sendable (WebCall) -> WebAnswer = { call in
    WebAnswer(status: 200, body: Array("hello \(call.path)!".utf8) + call.body)
  }

  private func get(_ path: String, _ method: String = "GET", headers: String = "") -> String {
    "\(method) \(path) HTTP/1.1\r\nHost: a\r\n\(headers)\r\n"
  }

  private func ask(_ server: RunningServer, _ request: String, isEnough: (String) -> Bool = { _ in false }) throws
    -> String
  {
    let client = try RawClient(port: server.port)
    client.send(request)
    return client.receive(until: isEnough)
  }

  @Test("HEAD is answered as GET is, without the body")
  func head() throws {
    let server = try RunningServer(answer: HTTPWireTests.hello)
    defer { server.end() }
    let answer = try ask(server, get("/a", "HEAD", headers: "Connection: close\r\n"))
    #expect(status(answer) == 200 && answer.contains("\r\nContent-Length: 9\r\n") && answer.hasSuffix("\r\n\r\n"))
  }

  @Test(
    "other methods are refused with what is allowed", arguments: ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "get"])
  func methods(method: String) throws {
    let server = try RunningServer(answer: HTTPWireTests.hello)
    defer { server.end() }
    let client = try RawClient(port: server.port)
    client.send(get(method == "OPTIONS" ? "*" : "/", method))
    let answer = client.receive { $0.hasSuffix("served\n") }
    #expect(status(answer) == 405 && answer.contains("\r\nAllow: GET, HEAD, POST\r\n"))
    // A refusal costs no connection.
    client.send(get("/b"))
    #expect(client.receive { $0.hasSuffix("!") }.hasSuffix("hello /b!"))
  }

  @Test("requests follow one another on one connection, also without waiting for the answer")
  func keepAlive() throws {
    let server = try RunningServer(answer: HTTPWireTests.hello)
    defer { server.end() }
    let client = try RawClient(port: server.port)
    for path in ["/one", "/two"] {
      client.send(get(path))
      let answer = client.receive { $0.hasSuffix("!") }
      #expect(status(answer) == 200 && answer.hasSuffix("hello \(path)!") && !client.isClosed)
    }
    client.send("POST /three HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc" + get("/four"))
    let both = client.receive { $0.hasSuffix("hello /four!") }
    #expect(both.contains("hello /three!abc") && both.hasSuffix("hello /four!"))
    client.send(get("/five", headers: "Connection: close\r\n"))
    #expect(client.receive().hasSuffix("hello /five!") && client.isClosed)
  }

  @Test("a body in chunks is put together, and bounded like any other")
  func chunks() throws {
    var limits = HTTPServer.Limits()
    limits.body = 1000
    let server = try RunningServer(limits: limits, answer: HTTPWireTests.hello)
    defer { server.end() }
    func chunked(_ count: Int) -> String {
      let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      return head + String(repeating: "a\r\n0123456789\r\n", count: count) + "0\r\n\r\n"
    }
    let whole = try ask(server, chunked(100)) { $0.hasSuffix(String(repeating: "0123456789", count: 100)) }
    #expect(status(whole) == 200 && whole.hasSuffix("9"))
    #expect(status(try ask(server, chunked(101)) { $0.hasSuffix("large\n") }) == 413)
    #expect(status(try ask(server, chunked(200)) { $0.hasSuffix("large\n") }) == 413)
    // There is nobody to answer who sends without end.
    #expect(try ask(server, chunked(201)) == "")
  }

  @Test("a long body is refused before it comes; one that waits to be asked for is asked for, or refused")
  func early() throws {
    var limits = HTTPServer.Limits()
    limits.body = 1000
    let server = try RunningServer(limits: limits, answer: HTTPWireTests.hello)
    defer { server.end() }
    func post(_ length: Int, _ headers: String = "") -> String {
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\(headers)\r\n"
    }
    let long = try RawClient(port: server.port)
    long.send(post(2001))
    #expect(status(long.receive()) == 413 && long.isClosed)
    let asking = try RawClient(port: server.port)
    asking.send(post(5, "Expect: 100-continue\r\n"))
    #expect(asking.receive { $0.hasSuffix("\r\n\r\n") } == "HTTP/1.1 100 Continue\r\n\r\n")
    asking.send("abcde")
    #expect(asking.receive { $0.hasSuffix("abcde") }.hasSuffix("hello /!abcde"))
    let refused = try RawClient(port: server.port)
    refused.send(post(1001, "Expect: 100-continue\r\n"))
    #expect(status(refused.receive()) == 413)
  }

  @Test("malformed requests are refused or dropped, and the server goes on")
  func malformed() throws {
    let server = try RunningServer(answer: { call in
      call.path == "/ok" ? WebAnswer(status: 200) : WebAnswer(status: 299)
    })
    defer { server.end() }
    let cases: [(String, Set<Int?>)] = [
      (get("/a?b=%zz"), [400]), (get("/a?b=1&b=2"), [400]), (get("/a?b=%ff"), [400]), (get("/a#b"), [400]),
      (get("a"), [400]), (get("ftp://a/b"), [400]), (get("/\u{fc}"), [400]),
      ("GET / HTTP/1.1\r\n\r\n", [400]),
      // libmicrohttpd 0.9 reads a text up to a NUL, 1.0 refuses it.
      ("GET /a\u{0}b HTTP/1.1\r\nHost: a\r\n\r\n", [299, 400, nil]),
      (get("/", headers: "X: a\u{0}b\r\n"), [299, 400, nil]),
      (get("/", headers: "no colon\r\n"), [400, nil]),
      ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", [400, 413, nil]),
      ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5x\r\n\r\n", [400, nil]),
      ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n", [400, 413, nil]),
      ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", [400, nil]),
      ("\u{16}\u{3}\u{1}\u{2}\u{0}\r\n\r\n", [400, nil]), ("nonsense\r\n\r\n", [400, nil]),
      ("GET / HTTP/9.1\r\nHost: a\r\n\r\n", [400, 505, nil]),
      (get("/", headers: "X: " + String(repeating: "a", count: 40_000) + "\r\n"), [431]),
      (get("/" + String(repeating: "a", count: 40_000)), [414, 431]),
      (get("/", headers: String(repeating: "A: b\r\n", count: 8000)), [431]),
    ]
    for (request, wanted) in cases {
      // Whoever says nothing more gets an answer, or the end of the connection.
      let client = try RawClient(port: server.port)
      client.send(request)
      let answer = client.receive { !$0.isEmpty }
      #expect(wanted.contains(status(answer)), "\(request.prefix(80).debugDescription): \(answer.prefix(80))")
    }
    var bytes = Array(get("/", headers: "X: ").utf8).dropLast(4)
    bytes += [0xFF, 0xFE] + Array("\r\n\r\n".utf8)
    let client = try RawClient(port: server.port)
    client.send(Array(bytes))
    #expect(status(client.receive { !$0.isEmpty }) == 400)
    #expect(status(try ask(server, get("/ok")) { !$0.isEmpty }) == 200)
    #expect(status(try ask(server, get("http://example.org/ok?a=b")) { !$0.isEmpty }) == 200)
  }

  @Test("clients that go away at any point, with a reset too, do no harm and raise no signal")
  func goneClients() throws {
    let server = try RunningServer { _ in WebAnswer(status: 200, body: [UInt8](repeating: 1, count: 4 << 20)) }
    defer { server.end() }
    let request = get("/")
    for count in stride(from: 0, through: request.utf8.count, by: 3) {
      let client = try RawClient(port: server.port)
      client.send(Array(request.utf8.prefix(count)))
      client.reset()
    }
    for _ in 0..<5 {
      let client = try RawClient(port: server.port)
      client.send(request)
      client.receive { !$0.isEmpty }
      client.reset()
    }
    #expect(try ask(server, get("/", headers: "Connection: close\r\n")).utf8.count > 4 << 20)
    let account = try #require(server.end())
    #expect(!account.hasBrokenPipe)
  }

  @Test(
    "as many connections as allowed are served; the next one waits until one has ended, and the loop sleeps meanwhile")
  func connections() throws {
    let server = try RunningServer(answer: HTTPWireTests.hello)
    defer { server.end() }
    var clients: [RawClient] = []
    for number in 0..<64 {
      let client = try RawClient(port: server.port)
      client.send(get("/\(number)"))
      clients.append(client)
    }
    for (number, client) in clients.enumerated() {
      #expect(client.receive { $0.hasSuffix("!") }.hasSuffix("hello /\(number)!"))
    }
    let late = try RawClient(port: server.port)
    late.send(get("/late"))
    #expect(late.receive(within: .milliseconds(500)) == "" && !late.isClosed)
    // Those that are there are served as before.
    clients[63].send(get("/again"))
    #expect(clients[63].receive { $0.hasSuffix("!") }.hasSuffix("hello /again!"))
    clients.removeFirst()
    #expect(late.receive { $0.hasSuffix("!") }.hasSuffix("hello /late!"))
    let account = try #require(server.end())
    #expect(account.time < .milliseconds(250))
  }

  @Test("who dribbles a request, sends none, or takes no answer is cut off in time, while others are served")
  func slow() throws {
    var limits = HTTPServer.Limits()
    limits.time = .seconds(1)
    let server = try RunningServer(limits: limits) { call in
      call.path == "/large"
        ? WebAnswer(status: 200, body: [UInt8](repeating: 1, count: 16 << 20)) : HTTPWireTests.hello(call)
    }
    defer { server.end() }
    let start = ContinuousClock.now
    let silent = try RawClient(port: server.port)
    let deaf = try RawClient(port: server.port)
    deaf.send(get("/large"))
    let head = try RawClient(port: server.port)
    let body = try RawClient(port: server.port)
    body.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n")
    head.send("GET / HTTP/1.1\r\nX: ")
    let busy = try RawClient(port: server.port)
    var served = 0
    while !(head.isClosed && body.isClosed), .now - start < .seconds(5) {
      head.send("a")
      body.send("a")
      head.receive(within: .milliseconds(10))
      body.receive(within: .milliseconds(10))
      busy.send(get("/busy"))
      if busy.receive(until: { $0.hasSuffix("!") }).hasSuffix("hello /busy!") { served += 1 }
    }
    let took = ContinuousClock.now - start
    #expect(took >= .milliseconds(950) && took < .seconds(4))
    #expect(served >= 3 && !busy.isClosed)
    silent.receive(within: .seconds(2))
    #expect(silent.isClosed)
    let rest = deaf.receive()
    #expect(deaf.isClosed && rest.utf8.count < 16 << 20)
    // A connection that is used stays; then it is idle for too long as well.
    busy.receive(within: .seconds(2))
    #expect(busy.isClosed)
  }
}
