import Bytes
import Foundation
import TestSupport
import Testing

@testable import HTTPFetch

@Suite("Fetching over HTTP")
struct HTTPClientTests {
  private let client: HTTPClient

  init() throws { client = try HTTPClient(agent: "test/1") }

  private func fetch(
    _ server: LoopbackServer, _ path: String = "/list", validators: Validators = Validators(), size: Int = 1000,
    time: Duration = .seconds(10), allowed: Set<String> = []
  ) -> Result<FetchAnswer, FetchFailure> {
    Result { () throws(FetchFailure) in
      guard let address = WebAddress(server.address + path) else { throw .redirectScheme }
      return try client.fetch(
        address, accept: "x/y", validators: validators, limits: FetchLimits(size: size, time: time),
        mayFollow: { allowed.contains($0) })
    }
  }

  @Test("a file comes with what it can be asked about by; then the server is asked whether it has changed")
  func content() throws {
    let server = try LoopbackServer { request in
      if request.headers["if-none-match"] == "\"v1\"" { return .init(status: 304, headers: ["ETag: \"v1\""]) }
      return .init(
        headers: ["ETag: \"v1\"", "Last-Modified: Mon, 30 Nov 2026 10:00:00 GMT"], body: Array("hello".utf8))
    }
    let validators = Validators(entityTag: "\"v1\"", lastModified: "Mon, 30 Nov 2026 10:00:00 GMT")
    #expect(fetch(server) == .success(.content(Array("hello".utf8), validators)))
    #expect(fetch(server, validators: validators) == .success(.unchanged(Validators(entityTag: "\"v1\""))))
    let first = server.requests[0].headers
    #expect(first["accept"] == "x/y" && first["user-agent"] == "test/1" && first["if-none-match"] == nil)
    #expect(first["accept-encoding"] == nil && first["cookie"] == nil && first["authorization"] == nil)
    #expect(server.requests[1].headers["if-modified-since"] == "Mon, 30 Nov 2026 10:00:00 GMT")
  }

  @Test("statuses that are no content", arguments: [204, 206, 400, 403, 404, 410, 429, 500, 503])
  func statuses(status: Int) throws {
    let server = try LoopbackServer { _ in .init(status: status) }
    #expect(fetch(server) == .failure(.status(status)))
  }

  @Test("a body is taken up to the limit and no longer, whether or not its length is said", arguments: [true, false])
  func size(saysLength: Bool) throws {
    let server = try LoopbackServer { request in
      var answer = LoopbackServer.Answer(body: [UInt8](repeating: 7, count: request.path == "/more" ? 1001 : 1000))
      answer.saysLength = saysLength
      return answer
    }
    #expect(try fetch(server).get() == .content([UInt8](repeating: 7, count: 1000), Validators()))
    #expect(fetch(server, "/more") == .failure(.tooLarge))
  }

  @Test("a slow server is given up after the time that was given to all of it")
  func slow() throws {
    let server = try LoopbackServer { _ in
      var answer = LoopbackServer.Answer(body: [1])
      answer.delay = 1.5
      return answer
    }
    let start = ContinuousClock.now
    #expect(fetch(server, time: .milliseconds(300)) == .failure(.timeout))
    #expect(.now - start < .seconds(1.4))
  }

  @Test("redirects: followed on one host, a few times, to http and https, elsewhere only where that is allowed")
  func redirects() throws {
    let other = try LoopbackServer { _ in .init(body: [2]) }
    let elsewhere = other.address
    let server = try LoopbackServer { request in
      let target =
        switch request.path {
        case "/one": "/list"
        case "/loop": "/loop"
        case "/file": "file:///etc/passwd"
        case "/ftp": "ftp://127.0.0.1/x"
        case "/gopher": "gopher://127.0.0.1/x"
        case "/user": "http://a:b@127.0.0.1/x"
        case "/elsewhere": elsewhere + "/x"
        default: ""
        }
      return target.isEmpty ? .init(body: [1]) : .init(status: 302, headers: ["Location: \(target)"])
    }
    #expect(fetch(server, "/one") == .success(.content([1], Validators())))
    #expect(fetch(server, "/loop") == .failure(.redirectLimit))
    #expect(server.requests.count { $0.path == "/loop" } == 5)
    for path in ["/file", "/ftp", "/gopher", "/user"] {
      #expect(fetch(server, path) == .failure(.redirectScheme), "\(path)")
    }
    #expect(fetch(server, "/elsewhere") == .failure(.redirectHost("127.0.0.1:\(other.port)")))
    #expect(other.requests.isEmpty)
    #expect(fetch(server, "/elsewhere", allowed: ["127.0.0.1:\(other.port)"]) == .success(.content([2], Validators())))
  }

  @Test("proxies that the environment names are not asked")
  func proxies() throws {
    let proxy = try LoopbackServer { _ in .init(body: [9]) }
    for name in ["http_proxy", "ALL_PROXY"] { setenv(name, proxy.address, 1) }
    defer { for name in ["http_proxy", "ALL_PROXY"] { unsetenv(name) } }
    let server = try LoopbackServer { _ in .init(body: [1]) }
    #expect(fetch(server) == .success(.content([1], Validators())))
    #expect(proxy.requests.isEmpty)
  }

  @Test("nobody there, and a server that speaks no TLS")
  func unreachable() throws {
    var port: UInt16 = 0
    do {
      let gone = try LoopbackServer { _ in .init() }
      port = gone.port
    }
    func code(_ text: String) throws -> String? {
      let address = try #require(WebAddress(text))
      do throws(FetchFailure) {
        _ = try client.fetch(address, accept: "*/*", limits: FetchLimits(size: 10, time: .seconds(1)))
        return nil
      } catch {
        return error.code
      }
    }
    #expect(try code("http://127.0.0.1:\(port)/x") == "unreachable")
    let server = try LoopbackServer { _ in .init(body: [1]) }
    let refused = try code("https://127.0.0.1:\(server.port)/x")
    #expect(refused == "tlsFailed" || refused == "timeout")
  }
}
