internal import CLinux
import Glibc
import Kernel

/// One link: a connected socket whose records are PDUs of ATT or SDUs of a channel, on the simulated air (AF_UNIX) or on
/// the real one (L2CAP).
///
/// It belongs to the thread of its loop. Nothing is read before `start`. When the link has closed, for whatever
/// reason, `closed` has been the last event and the descriptor is gone.
package final class RecordSocket {
  /// The longest PDU of ATT: an attribute value of 512 bytes with a header of at most 5.
  package static let maximumPDU = 517

  /// What happens on the link.
  package enum Event: Equatable, Sendable {
    /// One record, not empty and no longer than we take.
    case received([UInt8])
    /// `send` can be tried again after it said false.
    case writable
    /// The link is gone; unless the failure is ours, everything that had been sent to us came before this.
    case closed(CloseReason)
  }

  /// Why the link is gone.
  package enum CloseReason: Equatable, Sendable {
    case byPeer
    /// The peer sent a record of this many bytes, more than we take. Ours is closed.
    case recordTooLong(Int)
    case failed(SystemError)
  }

  /// Records that are read in one turn of the loop, so that a peer that never stops cannot keep others waiting.
  private static let recordsPerTurn = 64
  /// The kernel does not tell when it has memory again.
  private static let memoryPause = Duration.milliseconds(10)

  private let loop: EventLoop
  private var descriptor: Descriptor?
  private let raw: CInt
  private var watch: EventLoop.Watch?
  private var handler: ((Event) -> Void)?
  private var isWaitingToWrite = false
  /// Set while the kernel has no memory for a record, or when a failure is to be told that it does not tell itself.
  private var again: EventLoop.Timer?
  /// Gives what the call gives, and `errno`; tests stand in for a kernel without memory.
  var sendRecord: (CInt, UnsafeRawBufferPointer) -> Int = { linux_send($0, $1.baseAddress, $1.count) }
  private let maximumRecord: Int
  /// The longest record that the peer takes, in bytes.
  package let sendLimit: Int
  private var failure: SystemError?

  /// Takes over a connected, non-blocking socket of records.
  ///
  /// - Parameters:
  ///   - maximumRecord: a peer that sends a longer one loses the link.
  ///   - sendLimit: the longest record that the peer takes; nil for as long as ours.
  ///   - bufferSize: bytes that the kernel keeps in each direction; nil where that has been set already.
  package init(
    _ socket: consuming Descriptor, maximumRecord: Int = RecordSocket.maximumPDU, sendLimit: Int? = nil,
    bufferSize: CInt? = nil, on loop: EventLoop
  ) {
    raw = socket.raw
    descriptor = consume socket
    self.maximumRecord = maximumRecord
    self.sendLimit = sendLimit ?? maximumRecord
    self.loop = loop
    again = loop.timer("record") { [weak self] in self?.tryAgain() }
    guard var size = bufferSize else { return }
    // As much as the system allows an ordinary process; in a UNIX socket the sender's buffer counts.
    for option in [SO_RCVBUF, SO_SNDBUF] {
      _ = setsockopt(raw, SOL_SOCKET, option, &size, socklen_t(MemoryLayout<CInt>.size))
    }
  }

  deinit { close() }

  /// The longest SDU that is taken on a channel. With the credits that the kernel grants, it is also what may be under
  /// way at a time: a few connection intervals' worth.
  package static let maximumSDU = 8192

  /// Two ends of one link, for tests and for both roles in one process.
  package static func pair(
    maximumRecord: Int = RecordSocket.maximumPDU, on loop: EventLoop
  ) throws(SystemError) -> (RecordSocket, RecordSocket) {
    var raw: [CInt] = [-1, -1]
    _ = try check("socketpair") { linux_seqpacket_pair(&raw) }
    return (
      RecordSocket(Descriptor(owning: raw[0]), maximumRecord: maximumRecord, bufferSize: 1 << 20, on: loop),
      RecordSocket(Descriptor(owning: raw[1]), maximumRecord: maximumRecord, bufferSize: 1 << 20, on: loop)
    )
  }

  /// Whether records can still be sent and received.
  package var isOpen: Bool { descriptor != nil }

  /// Begins to read. `handler` is kept until the link is closed; the loop itself does not keep the connection.
  package func start(_ handler: @escaping (Event) -> Void) throws(SystemError) {
    guard isOpen, watch == nil else { return }
    watch = try loop.watch(raw: raw, for: isWaitingToWrite ? [.read, .write] : .read) { [weak self] in
      self?.ready($0)
    }
    self.handler = handler
    if failure?.code == EMSGSIZE { again?.set(after: .zero) }
  }

  /// Sends one record; false when it has to wait for `writable`, and then nothing was sent.
  ///
  /// A record for a peer that is gone is lost, as it is on the air, and so is every one after it: what the peer had sent
  /// is still read, then comes `closed`. A record that is longer than any buffer is the end of the link in the loop's next
  /// turn. An empty record cannot be told from the end of the link, so there is none.
  package func send(_ record: some Collection<UInt8>) -> Bool {
    precondition(!record.isEmpty, "an empty record")
    // After a record that is lost, another would leave a hole in a stream of them.
    guard isOpen, failure == nil else { return true }
    let bytes = ArraySlice(record)
    while true {
      let count = bytes.withUnsafeBytes { sendRecord(raw, $0) }
      if count >= 0 { return true }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        isWaitingToWrite = true
        updateInterest()
        return false
      case ENOBUFS, ENOMEM:
        again?.set(after: RecordSocket.memoryPause)
        return false
      case EMSGSIZE:
        // The socket itself is in order and will not report anything.
        failure = .last("send", "link")
        again?.set(after: .zero)
        return true
      default:
        // A socket tells its failure once, to whoever asks first: reading would not find it any more.
        if failure == nil { failure = .last("send", "link") }
        return true
      }
    }
  }

  /// Closes the link from this side, without an event. What was sent can still be read by the peer.
  package func close() {
    if let watch { loop.remove(watch) }
    watch = nil
    again?.cancel()
    handler = nil
    descriptor = nil
  }

  private func updateInterest() {
    guard let watch else { return }
    // The descriptor is in the set already: changing that takes no memory and cannot fail.
    try? loop.change(watch, to: isWaitingToWrite ? [.read, .write] : .read)
  }

  private func tryAgain() {
    if failure?.code == EMSGSIZE {
      if watch != nil { end(closeReason) }
    } else {
      handler?(.writable)
    }
  }

  func ready(_ readiness: EventLoop.Readiness) {
    if readiness.contains(.writable), isWaitingToWrite {
      isWaitingToWrite = false
      updateInterest()
      handler?(.writable)
    }
    // A hang-up is found by reading to the end: records may be waiting before it.
    if !readiness.subtracting(.writable).isEmpty { readRecords(isLast: readiness.contains(.hungUp)) }
  }

  /// - Parameter isLast: nothing more will come after what is there.
  private func readRecords(isLast: Bool) {
    var count = 0
    // A socket that has failed says so once, and may never be reported as ready again: it is read to its end at once.
    while count < RecordSocket.recordsPerTurn || failure != nil {
      guard isOpen else { return }
      count += 1
      var length = 0
      let record = [UInt8](unsafeUninitializedCapacity: maximumRecord) { buffer, count in
        // The array's own storage; the true length may be larger than what was put there.
        length = linux_receive_record(raw, buffer.baseAddress, buffer.count)
        count = max(0, min(length, buffer.count))
      }
      switch length {
      case 0: return end(closeReason)
      case ..<0:
        switch errno {
        case EINTR: continue
        case EAGAIN:
          // An L2CAP socket that has told its failure already is hung up, and there is nothing to read in it.
          if failure != nil || isLast { end(closeReason) }
          return
        default:
          // It comes before the records that were received earlier: those are still to be read.
          guard failure == nil else { return end(closeReason) }
          failure = .last("recv", "link")
        }
      case ...maximumRecord: handler?(.received(record))
      default: return end(.recordTooLong(length))
      }
    }
  }

  /// A reset is a peer that closed without having read all of ours.
  private var closeReason: CloseReason {
    guard let failure, failure.code != ECONNRESET, failure.code != EPIPE else { return .byPeer }
    return .failed(failure)
  }

  private func end(_ reason: CloseReason) {
    let handler = self.handler
    close()
    handler?(.closed(reason))
  }
}
