import Bluetooth
import Glibc
import Kernel
import Testing

@testable import KernelBluetooth

/// A command socket whose other end is here, in place of the kernel.
private final class KernelEnd {
  let loop: EventLoop
  let peer: CInt
  private(set) var socket: CommandSocket!
  var log: [String] = []

  init() throws {
    loop = try EventLoop()
    var ends: [CInt] = [-1, -1]
    try #require(socketpair(AF_UNIX, CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
    peer = ends[1]
    socket = try CommandSocket(Descriptor(owning: ends[0]), "kernel", on: loop) { [unowned self] bytes in
      guard let event = ManagementEvent(bytes) else { return log.append("no packet") }
      switch event.content {
      case .commandComplete(let opcode, let status, let parameters):
        let isOurs = socket.answer(opcode, status: status.rawValue, reason: status.description, parameters)
        if !isOurs { log.append("not ours") }
      default: log.append("event")
      }
    } onFailure: { [unowned self] error in
      log.append("lost \(error.name)")
    }
  }

  deinit { close(peer) }

  func send(_ opcode: UInt8, limit: Duration = .seconds(2)) {
    socket.send(
      CommandSocket.Command(
        opcode: UInt16(opcode), name: "command \(opcode)", bytes: [opcode, 0, 0, 0, 0, 0], limit: limit
      ) { [unowned self] result in
        switch result {
        case .success(let bytes): log.append("\(opcode) \(Array(bytes))")
        case .failure(let failure): log.append("\(opcode) \(failure)")
        }
      })
  }

  /// The opcode of the next command that has come; nil when there is none.
  func received() -> UInt8? {
    var bytes = [UInt8](repeating: 0, count: 64)
    return read(peer, &bytes, 64) > 0 ? bytes[0] : nil
  }

  func answer(_ opcode: UInt8, status: UInt8 = 0, _ parameters: [UInt8] = []) {
    let packet = [1, 0, 0, 0, UInt8(3 + parameters.count), 0, opcode, 0, status] + parameters
    _ = write(peer, packet, packet.count)
  }

  func turn(_ time: Duration = .milliseconds(20)) throws { _ = try loop.run(until: .now + time) }
}

@Suite("Commands and their answers")
struct CommandSocketTests {
  @Test("one command is out at a time, and each gets its own answer")
  func inOrder() throws {
    let kernel = try KernelEnd()
    kernel.send(3)
    kernel.send(4)
    #expect(kernel.received() == 3)
    #expect(kernel.received() == nil)
    kernel.answer(3, [7])
    try kernel.turn()
    #expect(kernel.received() == 4)
    kernel.answer(4, status: 0x0b)
    try kernel.turn()
    #expect(
      kernel.log == ["3 [7]", "4 refused(command: \"command 4\", status: 11, reason: \"rejected\")"])
  }

  @Test("a command without an answer fails in time, and the next goes out")
  func silence() throws {
    let kernel = try KernelEnd()
    kernel.send(3, limit: .milliseconds(10))
    kernel.send(4)
    try kernel.turn(.milliseconds(60))
    #expect(kernel.log == ["3 noAnswer(command: \"command 3\")"])
    #expect(kernel.received() == 3)
    #expect(kernel.received() == 4)
    // Too late: nobody waits for it any more.
    kernel.answer(3)
    try kernel.turn()
    #expect(kernel.log.last == "not ours")
  }

  @Test("events and other people's answers do not disturb a command")
  func others() throws {
    let kernel = try KernelEnd()
    kernel.send(3)
    kernel.answer(9)
    _ = write(kernel.peer, [5, 0, 0, 0, 0, 0] as [UInt8], 6)
    _ = write(kernel.peer, [5, 0] as [UInt8], 2)
    kernel.answer(3)
    try kernel.turn()
    #expect(kernel.log == ["not ours", "event", "no packet", "3 []"])
  }

  @Test("a command to a socket that is gone fails at once")
  func lost() throws {
    let kernel = try KernelEnd()
    shutdown(kernel.peer, CInt(SHUT_RDWR))
    kernel.send(3)
    #expect(kernel.log == ["3 lost(write kernel: Broken pipe)"])
  }
}
