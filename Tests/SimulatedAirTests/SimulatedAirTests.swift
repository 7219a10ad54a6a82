import Bluetooth
import CLinux
import Foundation
import Kernel
import Links
import TestSupport
import Testing

@testable import SimulatedAir

private let service = UUID128((0..<16).map { 0xa0 + $0 } as [UInt8])!
private let serviceName = "a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf"

/// A folder that is the air, and a loop. Removed when this ends.
private final class Air {
  let folder = NSTemporaryDirectory() + "air-" + String(UInt32.random(in: 0...UInt32.max), radix: 16)
  let loop: EventLoop

  init() throws {
    loop = try EventLoop()
    try Files.makeFolder(folder)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Turns until the condition holds, five seconds at most.
  func turn(until condition: () -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(5)
    while !condition() {
      try #require(ContinuousClock.now < deadline, "it did not come to pass")
      try loop.turn(until: .now + .milliseconds(10))
    }
  }

  func rest(_ time: Duration = .milliseconds(10)) throws { _ = try loop.run(until: .now + time) }
}

/// What came over one link.
private final class Log {
  var events: [RecordSocket.Event] = []
  var records: [[UInt8]] { events.compactMap { if case .received(let record) = $0 { record } else { nil } } }
  var close: RecordSocket.CloseReason? {
    if case .closed(let reason)? = events.last { reason } else { nil }
  }

  init(_ connection: RecordSocket) throws { try connection.start { [weak self] in self?.events.append($0) } }
}

@Suite struct RecordSocketTests {
  @Test("records arrive whole and in order, from 1 byte to 517")
  func records() throws {
    let air = try Air()
    let (a, b) = try RecordSocket.pair(on: air.loop)
    let log = try Log(b)
    let sent = [[1], [2, 3], [UInt8](repeating: 4, count: 517)]
    for record in sent { #expect(a.send(record)) }
    try air.turn { log.events.count == 3 }
    #expect(log.events == sent.map { .received($0) })
    #expect(b.send([9][...]))
    let back = try Log(a)
    try air.turn { back.events == [.received([9])] }
  }

  @Test("a record of more than 517 bytes is a violation that ends the link")
  func tooLong() throws {
    let air = try Air()
    let (a, b) = try RecordSocket.pair(on: air.loop)
    let log = try Log(b)
    let other = try Log(a)
    #expect(a.send([7]))
    #expect(a.send([UInt8](repeating: 1, count: 518)))
    try air.turn { log.close != nil }
    #expect(log.events == [.received([7]), .closed(.recordTooLong(518))])
    #expect(!b.isOpen)
    try air.turn { other.close != nil }
    #expect(other.events == [.closed(.byPeer)])
    #expect(air.loop.watchCount == 0)
  }

  @Test("a full link says so, becomes writable again, and loses nothing")
  func flowControl() throws {
    let air = try Air()
    let (a, b) = try RecordSocket.pair(on: air.loop)
    var next: UInt32 = 0
    let total: UInt32 = 5000
    var refusals = 0
    func fill() {
      while next < total {
        let record = withUnsafeBytes(of: next.bigEndian) { [UInt8]($0) } + [UInt8](repeating: 0, count: 300)
        guard a.send(record) else {
          refusals += 1
          return
        }
        next += 1
      }
    }
    try a.start { if $0 == .writable { fill() } }
    fill()
    #expect(refusals == 1)
    #expect(next > 50)
    let sentBefore = next
    try air.rest()
    #expect(next == sentBefore)  // nobody reads: it is not said to be writable
    var received: [UInt32] = []
    try b.start { event in
      guard case .received(let record) = event else { return }
      received.append(record[..<4].reduce(0) { $0 << 8 | UInt32($1) })
    }
    try air.turn { received.count == total }
    #expect(received == Array(0..<total))
    #expect(refusals > 1)
  }

  @Test("a link that is full before it was started is said to be writable once started")
  func fullBeforeStart() throws {
    let air = try Air()
    let (a, b) = try RecordSocket.pair(on: air.loop)
    while a.send([UInt8](repeating: 0, count: 500)) {}
    let log = try Log(a)
    let other = try Log(b)
    try air.turn { log.events == [.writable] }
    #expect(other.records.count > 50)
  }

  @Test(
    "all that was sent is read before the close is reported, also by one who had not read ours",
    arguments: [true, false])
  func closeAfterRecords(sendsFirst: Bool) throws {
    let air = try Air()
    let (a, b) = try RecordSocket.pair(on: air.loop)
    for index in 0..<150 { #expect(a.send([UInt8(index)])) }
    #expect(b.send([1]))  // a never reads it: its close is a reset for b
    a.close()
    // A send finds the reset first and takes it away; reading finds it otherwise.
    if sendsFirst { #expect(b.send([2])) }
    let log = try Log(b)
    try air.turn { log.close != nil }
    #expect(log.records == (0..<150).map { [UInt8($0)] })
    #expect(log.close == .byPeer)
    #expect(log.events.count == 151)
    #expect(b.send([3]))
    #expect(air.loop.watchCount == 0)
  }

  @Test("a handler that closes gets nothing more")
  func closeInHandler() throws {
    let air = try Air()
    let (a, b) = try RecordSocket.pair(on: air.loop)
    var count = 0
    for _ in 0..<10 { #expect(a.send([1])) }
    try b.start { _ in
      count += 1
      b.close()
    }
    try air.rest()
    #expect(count == 1)
    #expect(!b.isOpen)
  }

  @Test("a link that nobody keeps is closed")
  func dropped() throws {
    let air = try Air()
    let before = air.loop.watchCount
    let (a, _) = try RecordSocket.pair(on: air.loop)
    let log = try Log(a)
    try air.turn { log.close == .byPeer }
    #expect(air.loop.watchCount == before)
  }
}

@Suite struct AirFolderTests {
  @Test("an advertisement is found by its service, before and after the search began, and records pass both ways")
  func found() throws {
    let air = try Air()
    var accepted: [RecordSocket] = []
    var found: [AirAddress: RecordSocket] = [:]
    let first = try Advertisement(of: service, in: air.folder, on: air.loop) { accepted.append($0) }
    let other = try Advertisement(of: UUID128(service.bytes.reversed())!, in: air.folder, on: air.loop) { _ in
      Issue.record("another service was connected to")
    }
    #expect(try Files.list(air.folder).contains("\(serviceName).\(first.address)"))
    let discovery = try Discovery(of: service, in: air.folder, on: air.loop) { event in
      if case .connected(let address, let connection) = event { found[address] = connection }
    }
    try air.turn { found.count == 1 && accepted.count == 1 }
    let second = try Advertisement(of: service, in: air.folder, on: air.loop) { accepted.append($0) }
    try air.turn { found.count == 2 && accepted.count == 2 }
    #expect(Set(found.keys) == [first.address, second.address])
    let log = try Log(accepted[1])
    let back = try Log(try #require(found[second.address]))
    #expect(found[second.address]?.send([1, 2]) == true)
    #expect(accepted[1].send([3]))
    try air.turn { log.records == [[1, 2]] && back.records == [[3]] }
    first.stop()
    second.stop()
    other.stop()
    #expect(try Files.list(air.folder) == [])
    #expect(accepted[1].isOpen)
    discovery.stop()
  }

  @Test("own advertisements are not connected to, whether known before or after")
  func own() throws {
    let air = try Air()
    var links = 0
    let mine = try Advertisement(of: service, in: air.folder, on: air.loop) { _ in links += 1 }
    let discovery = try Discovery(of: service, in: air.folder, except: [mine.address], on: air.loop) { _ in links += 1 }
    let later = try Advertisement(of: service, in: air.folder, on: air.loop) { _ in links += 1 }
    discovery.ignore(later.address)
    try air.rest(.milliseconds(30))
    #expect(links == 0)
    let both = [mine, later]
    both.forEach { $0.stop() }
  }

  @Test("a channel that is asked for is answered once, also when nobody looks any more or another is asked for")
  func channelAnswers() throws {
    let air = try Air()
    let here = try Advertisement(of: service, in: air.folder, on: air.loop) { _ in }
    var opened: [RecordSocket] = []
    try here.offerChannel(psm: 0x85) { opened.append($0) }
    let discovery = try Discovery(of: service, in: air.folder, on: air.loop) { _ in }
    var answers: [String] = []
    func ask(_ name: String) {
      discovery.openChannel(0x85, to: here.address) { result in
        switch result {
        case .success: answers.append("\(name) open")
        case .failure(let reason): answers.append("\(name) \(reason.code)")
        }
      }
    }
    ask("first")
    ask("second")
    #expect(answers == ["first l2capRefused"])
    try air.turn { answers.count == 2 && opened.count == 1 }
    #expect(answers.last == "second open")
    ask("third")
    discovery.stop()
    #expect(answers.last == "third l2capRefused")
    try air.rest()
    #expect(answers.count == 3 && opened.count == 1)
    // One that was found can be connected to still.
    let link = try Discovery.connect(to: here.address, of: service, in: air.folder, on: air.loop)
    #expect(link.isOpen)
    here.stop()
    #expect(throws: AirError.self) {
      try Discovery.connect(to: here.address, of: service, in: air.folder, on: air.loop)
    }
  }

  @Test("a stale name is skipped once and tried again when it is touched; other files are not looked at")
  func stale() throws {
    let air = try Air()
    let address = try #require(AirAddress("00000000000a"))
    let path = "\(air.folder)/\(serviceName).\(address)"
    let leftover = try bound(path).release()
    for name in ["notes", "\(serviceName).xyz", "\(serviceName).00000000000A", "\(serviceName).00000000000a1"] {
      try AtomicFile.write([], to: air.folder + "/" + name)
    }
    var log: [String] = []
    var link: RecordSocket?
    let discovery = try Discovery(of: service, in: air.folder, on: air.loop) { event in
      switch event {
      case .connected(let address, let connection):
        log.append("connected \(address)")
        link = connection
      case .skipped(let address, let error): log.append("skipped \(address) \(error.call) \(error.reason)")
      case .folderGone: log.append("gone")
      }
    }
    try air.turn { !log.isEmpty }
    #expect(log == ["skipped 00000000000a connect Connection refused"])
    try air.rest(.milliseconds(50))
    #expect(log.count == 1)
    #expect(listen(leftover, 5) == 0)
    #expect(utimes(path, nil) == 0)
    try air.turn { log.count == 2 }
    #expect(log.last == "connected 00000000000a")
    #expect(utimes(path, nil) == 0)
    try air.rest(.milliseconds(30))
    #expect(log.count == 2)
    discovery.connectAgain(to: address)
    try air.turn { log.count == 3 }
    link = nil
    close(leftover)  // an open socket keeps its folder from going
    try FileManager.default.removeItem(atPath: air.folder)
    try air.turn { log.last == "gone" }
    #expect(log.count == 4)
    #expect(air.loop.watchCount == 0)
    #expect(link == nil)
    discovery.stop()
  }

  @Test("one who binds the name first and listens a moment later is found all the same")
  func slowListener() throws {
    let air = try Air()
    var links: [RecordSocket] = []
    let discovery = try Discovery(of: service, in: air.folder, on: air.loop) { event in
      if case .connected(_, let connection) = event { links.append(connection) } else { Issue.record("\(event)") }
    }
    let socket = try bound("\(air.folder)/\(serviceName).0123456789ab")
    let raw = socket.raw
    let timer = air.loop.timer("listen") { _ = listen(raw, 1) }
    timer.set(after: .milliseconds(10))
    try air.turn { links.count == 1 }
    discovery.stop()
  }

  @Test("an advertiser that is gone ends the links that it had not taken")
  func gone() throws {
    let air = try Air()
    var advertisement: Advertisement? = try Advertisement(of: service, in: air.folder, on: air.loop) { _ in }
    let path = "\(air.folder)/\(serviceName).\(try #require(advertisement).address)"
    let client = Descriptor(owning: linux_seqpacket_socket())
    #expect(linux_unix_connect(client.raw, path) == 0)
    let connection = RecordSocket(client, bufferSize: 1 << 20, on: air.loop)
    #expect(connection.send([1]))
    let log = try Log(connection)
    advertisement?.stop()
    advertisement = nil
    try air.turn { log.close != nil }
    #expect(log.events == [.closed(.byPeer)])
    #expect(try Files.list(air.folder) == [])
    #expect(air.loop.watchCount == 0)
  }

  @Test("a hundred links to one advertisement each get their own answers")
  func many() throws {
    let air = try Air()
    var servers: [RecordSocket] = []
    let advertisement = try Advertisement(of: service, in: air.folder, on: air.loop) { connection in
      servers.append(connection)
      try? connection.start { [unowned connection] event in
        if case .received(let record) = event { #expect(connection.send(record.map { $0 ^ 0xff })) }
      }
    }
    var clients: [(Discovery, RecordSocket, Log)] = []
    var searching: [Discovery] = []
    for index in 0..<100 {
      var link: RecordSocket?
      searching.append(
        try Discovery(of: service, in: air.folder, on: air.loop) { event in
          if case .connected(_, let connection) = event { link = connection }
        })
      try air.turn { link != nil }
      let connection = try #require(link)
      clients.append((searching[index], connection, try Log(connection)))
      #expect(connection.send([UInt8(index)]))
    }
    try air.turn { clients.allSatisfy { $0.2.events.count == 1 } }
    for (index, client) in clients.enumerated() { #expect(client.2.records == [[UInt8(index) ^ 0xff]]) }
    searching.forEach { $0.stop() }
    clients.forEach { $0.1.close() }
    try air.turn { servers.allSatisfy { !$0.isOpen } }
    advertisement.stop()
    #expect(air.loop.watchCount == 0)
  }

  @Test("a path that does not fit and a missing folder are refused by name")
  func refused() throws {
    let air = try Air()
    let long = "/" + String(repeating: "x", count: 57)
    let error = thrown(AirError.self) { _ = try Advertisement(of: service, in: long, on: air.loop) { _ in } }
    guard case .pathTooLong(let path, byteCount: 108, limit: 107)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(path.hasPrefix("\(long)/\(serviceName)."))
    // One byte less fits the limit, and then the folder is what is missing.
    let fitting = String(long.dropLast())
    let missing = thrown(AirError.self) {
      _ = try Advertisement(of: service, in: fitting, on: air.loop) { _ in }
    }
    guard case .system(let system)? = missing else {
      Issue.record("\(String(describing: missing))")
      return
    }
    #expect(system.call == "bind")
    #expect(system.code == ENOENT)
    #expect(
      throws: AirError.system(SystemError("inotify_add_watch", code: ENOENT, subject: fitting))
    ) { try Discovery(of: service, in: fitting, on: air.loop) { _ in } }
  }

  @Test(
    "an address is twelve lower-case digits",
    arguments: [("0123456789ab", true), ("0123456789AB", false), ("+12345678901", false), ("123", false), ("", false)])
  func addresses(text: String, isValid: Bool) {
    #expect((AirAddress(text) != nil) == isValid)
    if isValid { #expect(AirAddress(text)?.description == text) }
    #expect(AirAddress(AirAddress.random().description) != nil)
  }

  private func bound(_ path: String) throws -> Descriptor {
    let socket = Descriptor(owning: try check("socket") { linux_seqpacket_socket() })
    let raw = socket.raw
    _ = try check("bind", path) { linux_unix_bind(raw, path) }
    return socket
  }
}
