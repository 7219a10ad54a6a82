import Kernel
import Testing
import Web

@testable import HTTPServer

@Suite("The HTTP server within its loop")
struct HTTPServerLoopTests {
  private func turn(_ loop: EventLoop, until isDone: () -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(5)
    while !isDone(), .now < deadline { try loop.turn(until: .now + .milliseconds(20)) }
  }

  @Test("rules may close their own server: nobody is answered any more, and nothing of it stays in the loop")
  func closedByRules() throws {
    let loop = try EventLoop()
    var server: HTTPServer?
    var calls = 0
    server = try HTTPServer(loop: loop, port: 0) { _ in
      calls += 1
      server?.close()
      server = nil
      return WebAnswer(status: 200)
    }
    let client = try RawClient(port: try #require(server?.port))
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    try turn(loop) { calls == 1 }
    try turn(loop) { loop.watchCount == 0 }
    #expect(client.receive(within: .seconds(1)) == "" && client.isClosed)
    #expect(calls == 1 && loop.watchCount == 0 && loop.pendingTimers.isEmpty)
  }

  @Test("a server that nobody keeps has closed; closing twice is harmless")
  func released() throws {
    let loop = try EventLoop()
    var port: UInt16 = 0
    do {
      let server = try HTTPServer(loop: loop, port: 0) { _ in WebAnswer(status: 200) }
      port = server.port
      #expect(loop.watchCount == 2)
    }
    #expect(loop.watchCount == 0 && loop.pendingTimers.isEmpty)
    let server = try HTTPServer(loop: loop, port: port) { _ in WebAnswer(status: 200) }
    server.close()
    server.close()
    #expect(loop.watchCount == 0)
  }

  @Test("an idle server asks for nothing; a connection sets the one deadline that it needs, and its end unsets it")
  func timers() throws {
    let loop = try EventLoop()
    let server = try HTTPServer(loop: loop, port: 0) { _ in WebAnswer(status: 200) }
    try loop.turn(until: .now + .milliseconds(20))
    #expect(loop.pendingTimers.isEmpty && server.connectionCount == 0)
    do {
      let client = try RawClient(port: server.port)
      try turn(loop) { server.connectionCount == 1 }
      #expect(server.connectionCount == 1 && loop.pendingTimers == ["http connections"])
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      var answer = ""
      try turn(loop) {
        answer += client.receive(within: .milliseconds(1))
        return !answer.isEmpty
      }
      #expect(status(answer) == 200 && loop.pendingTimers == ["http connections"])
    }
    try turn(loop) { server.connectionCount == 0 }
    #expect(server.connectionCount == 0 && loop.pendingTimers.isEmpty)
  }

  @Test("it can listen on every address of the machine")
  func everywhere() throws {
    let loop = try EventLoop()
    let server = try HTTPServer(loop: loop, port: 0, isLoopback: false) { _ in WebAnswer(status: 200) }
    let client = try RawClient(port: server.port)
    client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    var answer = ""
    try turn(loop) {
      answer += client.receive(within: .milliseconds(1))
      return client.isClosed
    }
    #expect(status(answer) == 200)
  }
}
