import Bluetooth
import Bytes
import Kernel

/// Why a command came to nothing.
package enum CommandFailure: Error, Equatable, Sendable {
  /// The kernel or the controller said no, with the number and the name of its status.
  case refused(command: String, status: UInt8, reason: String)
  /// Nothing came back in time.
  case noAnswer(command: String)
  /// The socket is gone.
  case lost(SystemError)
}

/// A socket on which commands go out, one at a time, and answers and events come in. It belongs to the thread of its
/// loop.
final class CommandSocket {
  struct Command {
    let opcode: UInt16
    let name: String
    let bytes: [UInt8]
    /// The wait for its answer.
    let limit: Duration
    let completion: (Result<ByteView, CommandFailure>) -> Void
  }

  /// Packets that are read in one turn of the loop: a busy air must not hold up the rest.
  private static let packetsPerTurn = 64

  private let loop: EventLoop
  private let subject: String
  private let onPacket: (ByteView) -> Void
  private let onFailure: (SystemError) -> Void
  private var descriptor: Descriptor?
  private var watch: EventLoop.Watch?
  private var timer: EventLoop.Timer?
  private var waiting: [Command] = []
  private var outstanding: Command?

  init(
    _ descriptor: consuming Descriptor, _ subject: String, on loop: EventLoop,
    onPacket: @escaping (ByteView) -> Void, onFailure: @escaping (SystemError) -> Void
  ) throws(SystemError) {
    self.loop = loop
    self.subject = subject
    self.onPacket = onPacket
    self.onFailure = onFailure
    let raw = descriptor.raw
    self.descriptor = consume descriptor
    watch = try loop.watch(raw: raw, for: .read) { [weak self] _ in self?.read() }
    timer = loop.timer("command") { [weak self] in self?.expire() }
  }

  deinit { close() }

  /// Ends it, without an event and without completing what waits.
  func close() {
    if let watch { loop.remove(watch) }
    watch = nil
    timer?.cancel()
    descriptor = nil
    waiting = []
    outstanding = nil
  }

  /// Sends a last command whose answer nobody waits for.
  func sendLast(_ bytes: [UInt8]) {
    _ = try? descriptor?.write(bytes[...], subject: subject)
    close()
  }

  func send(_ command: Command) {
    waiting.append(command)
    sendNext()
  }

  /// Takes an answer; false when nobody asked, so that somebody else on this machine did.
  func answer(_ opcode: UInt16, status: UInt8, reason: String, _ parameters: ByteView) -> Bool {
    guard let command = outstanding, command.opcode == opcode else { return false }
    complete(
      status == 0
        ? .success(parameters) : .failure(.refused(command: command.name, status: status, reason: reason)))
    return true
  }

  private func sendNext() {
    guard outstanding == nil, !waiting.isEmpty, descriptor != nil else { return }
    let command = waiting.removeFirst()
    outstanding = command
    timer?.set(after: command.limit)
    do throws(SystemError) {
      // These sockets take a command at once; one that does not is as good as silent.
      _ = try descriptor?.write(command.bytes[...], subject: subject)
    } catch {
      complete(.failure(.lost(error)))
    }
  }

  private func expire() {
    guard let command = outstanding else { return }
    complete(.failure(.noAnswer(command: command.name)))
  }

  private func complete(_ result: Result<ByteView, CommandFailure>) {
    guard let command = outstanding else { return }
    outstanding = nil
    timer?.cancel()
    command.completion(result)
    sendNext()
  }

  private func read() {
    for _ in 0..<CommandSocket.packetsPerTurn {
      do throws(SystemError) {
        guard let bytes = try descriptor?.read(upTo: 2048, subject: subject) else { return }
        onPacket(bytes[...])
      } catch {
        close()
        onFailure(error)
        return
      }
    }
  }
}
