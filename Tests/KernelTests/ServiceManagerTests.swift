import CLinux
import Foundation
import Kernel
import Testing

/// The socket of a service manager, and what has arrived at it.
private final class Manager {
  let address: String
  private let socket: Descriptor

  init(_ address: String) throws {
    self.address = address
    socket = Descriptor(
      owning: try check("socket") { Glibc.socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(O_NONBLOCK), 0) })
    let raw = socket.raw
    _ = try check("bind", address) { linux_unix_bind(raw, address) }
  }

  func received() throws -> [String] {
    var messages: [String] = []
    while let bytes = try socket.read(upTo: 1000) { messages.append(String(decoding: bytes, as: UTF8.self)) }
    return messages
  }
}

@Suite struct ServiceManagerTests {
  @Test("the manager hears of the first turn, then twice in each interval, then of the end")
  func life() throws {
    let folder = try TemporaryFolder()
    let manager = try Manager(folder.path + "/notify")
    let loop = try EventLoop()
    let service = try ServiceManager(
      on: loop, address: manager.address, watchdog: "40000", process: String(ProcessInfo.processInfo.processIdentifier))
    #expect(service.interval == .milliseconds(20))
    #expect(try manager.received() == [])
    try loop.turn(until: .now + .seconds(5))
    #expect(try manager.received() == ["READY=1", "WATCHDOG=1"])
    try loop.turn(until: .now + .seconds(5))
    #expect(try manager.received() == ["WATCHDOG=1"])
    service.say("ready\nSTOPPING=1")
    service.stopping()
    #expect(try manager.received() == ["STATUS=ready STOPPING=1", "STOPPING=1"])
    #expect(loop.pendingTimers == [])
  }

  static let withoutWatchdog: [(String?, String?)] = [(nil, nil), ("0", nil), ("-5", nil), ("soon", nil), ("9", "1")]

  @Test("without a watchdog, or with one meant for another process, only the start is told", arguments: withoutWatchdog)
  func noWatchdog(watchdog: String?, process: String?) throws {
    let folder = try TemporaryFolder()
    let manager = try Manager(folder.path + "/notify")
    let loop = try EventLoop()
    let service = try ServiceManager(on: loop, address: manager.address, watchdog: watchdog, process: process)
    #expect(service.interval == nil)
    try loop.turn(until: .now + .seconds(5))
    #expect(try manager.received() == ["READY=1"])
    #expect(loop.pendingTimers == [])
  }

  @Test("started by hand, nothing is done")
  func byHand() throws {
    let loop = try EventLoop()
    let service = try ServiceManager(on: loop, address: nil, watchdog: "1000000")
    #expect(service.interval == nil)
    #expect(loop.pendingTimers == [])
    service.stopping()
  }

  @Test("an address that cannot be had is an error that names it")
  func unreachable() throws {
    let loop = try EventLoop()
    #expect(throws: SystemError("connect", code: ENOENT, subject: "/no/such/manager")) {
      try ServiceManager(on: loop, address: "/no/such/manager")
    }
    #expect(throws: SystemError("connect", code: EAFNOSUPPORT, subject: "vsock:2:1")) {
      try ServiceManager(on: loop, address: "vsock:2:1")
    }
    #expect(throws: SystemError("connect", code: ECONNREFUSED, subject: "@no-such-manager")) {
      try ServiceManager(on: loop, address: "@no-such-manager")
    }
  }

  @Test("a manager that goes away does not disturb the service")
  func managerGone() throws {
    let folder = try TemporaryFolder()
    let loop = try EventLoop()
    var manager: Manager? = try Manager(folder.path + "/notify")
    let service = try ServiceManager(on: loop, address: folder.path + "/notify", watchdog: "2000")
    #expect(try manager?.received() == [])
    manager = nil
    #expect(try loop.run(until: .now + .milliseconds(10)) == false)
    service.stopping()
  }
}
