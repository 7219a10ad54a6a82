import Bluetooth
internal import CBluetooth
internal import CLinux
import Glibc
import Kernel
import Links

/// Where on a device a connection goes.
package enum L2CAPChannel: Hashable, Sendable {
  /// The fixed channel of ATT.
  case att
  /// An LE credit-based channel.
  case psm(UInt16)

  fileprivate var psm: UInt16 { if case .psm(let psm) = self { psm } else { 0 } }
  fileprivate var fixed: UInt16 { self == .att ? 4 : 0 }
}

/// What both ends of a connection need.
struct L2CAPOptions {
  /// The adapter; nil for whichever there is.
  var adapter: BluetoothAddress?
  /// Bytes that the kernel keeps until we read.
  var receiveBuffer: CInt
  /// The longest SDU that we take on a channel, in bytes.
  var channelMTU = UInt16(RecordSocket.maximumSDU)

  /// A new socket, bound on our side. No pairing is ever asked for.
  fileprivate func socket(for channel: L2CAPChannel, listening: Bool) throws(SystemError) -> Descriptor {
    let socket = Descriptor(owning: try check("socket", "L2CAP") { bluetooth_l2cap_socket() })
    let raw = socket.raw
    let own = adapter?.wire ?? [UInt8](repeating: 0, count: 6)
    _ = try check("setsockopt", "BT_SECURITY") { bluetooth_set_low_security(raw) }
    _ = try check("bind", "L2CAP") {
      bluetooth_l2cap_bind(raw, own, listening ? channel.psm : 0, channel.fixed)
    }
    if channel != .att {
      // Refused where the kernel decides by itself (ENOPROTOOPT); a wrong mode would show in connect.
      _ = bluetooth_set_le_flow_control(raw)
      let length = channelMTU
      _ = try check("setsockopt", "BT_RCVMTU") { bluetooth_set_receive_mtu(raw, length) }
    }
    setReceiveBuffer(raw)
    return socket
  }

  /// A connected socket. What does not fit the buffer is lost on ATT; on a channel the kernel keeps it and grants the peer
  /// no more until we have read.
  fileprivate func record(_ socket: consuming Descriptor, _ channel: L2CAPChannel, on loop: EventLoop) -> RecordSocket {
    guard channel != .att else { return RecordSocket(socket, on: loop) }
    let limit = bluetooth_send_mtu(socket.raw)
    return RecordSocket(
      socket, maximumRecord: Int(channelMTU), sendLimit: limit > 0 ? Int(limit) : ATTMTU.floor, on: loop)
  }

  /// Before the link is up, so that nothing is dropped from the start; the kernel does not hand it on to accepted ones.
  fileprivate func setReceiveBuffer(_ raw: CInt) { _ = bluetooth_set_receive_buffer(raw, receiveBuffer) }
}

/// Takes connections on the fixed channel of ATT, or on a PSM.
final class L2CAPListener {
  private let loop: EventLoop
  private let channel: L2CAPChannel
  private let options: L2CAPOptions
  private let socket: Descriptor
  private let handler: (RecordSocket, BluetoothAddress) -> Void
  private var watch: EventLoop.Watch?
  private var pause: EventLoop.Timer?

  /// Whether connections are taken still.
  var isListening: Bool { watch != nil }

  /// What a peer has to name; 0 for the fixed channel.
  private(set) var psm: UInt16 = 0

  /// Listens until `stop`; each connection is handed to `handler`, which starts and keeps it. `.psm(0)` leaves the choice
  /// among the dynamic PSMs of LE to the kernel.
  init(
    _ channel: L2CAPChannel, _ options: L2CAPOptions, on loop: EventLoop,
    handler: @escaping (RecordSocket, BluetoothAddress) -> Void
  ) throws(SystemError) {
    self.loop = loop
    self.channel = channel
    self.options = options
    self.handler = handler
    socket = try options.socket(for: channel, listening: true)
    let raw = socket.raw
    _ = try check("listen", "L2CAP") { listen(raw, 8) }
    if channel != .att { psm = UInt16(clamping: try check("getsockname", "L2CAP") { bluetooth_l2cap_psm(raw) }) }
    watch = try loop.watch(socket, for: .read) { [weak self] _ in self?.accept() }
    pause = loop.timer("accept again") { [weak self] in
      guard let self, let watch = self.watch else { return }
      try? self.loop.change(watch, to: .read)
    }
  }

  deinit { stop() }

  func stop() {
    if let watch { loop.remove(watch) }
    watch = nil
    pause?.cancel()
    _ = shutdown(socket.raw, CInt(SHUT_RDWR))
  }

  private func accept() {
    while watch != nil {
      var address = [UInt8](repeating: 0, count: 6)
      var type: UInt8 = 0
      let raw = bluetooth_l2cap_accept(socket.raw, &address, &type)
      guard raw >= 0 else {
        switch errno {
        // A connection that went before it was taken; the next one is reported again.
        case EINTR, ECONNABORTED: continue
        case EAGAIN: break
        case EMFILE, ENFILE, ENOBUFS, ENOMEM:
          // What waits stays reported, and would be in every turn. Later, then.
          if let watch { try? loop.change(watch, to: []) }
          pause?.set(after: .milliseconds(100))
        // It listens no more; the next plan listens anew.
        default: stop()
        }
        return
      }
      let connected = Descriptor(owning: raw)
      options.setReceiveBuffer(raw)
      guard let kind = BluetoothAddress.Kind(rawValue: type), let peer = BluetoothAddress(wire: address, kind: kind)
      else { continue }
      handler(options.record(connected, channel, on: loop), peer)
    }
  }
}

/// One attempt to connect to a device. It completes once, unless it is cancelled before.
final class L2CAPConnector {
  private let loop: EventLoop
  private var descriptor: Descriptor?
  private var watch: EventLoop.Watch?
  private var timer: EventLoop.Timer?
  private var completion: ((Result<RecordSocket, SystemError>) -> Void)?

  init(
    to address: BluetoothAddress, channel: L2CAPChannel = .att, _ options: L2CAPOptions, limit: Duration,
    on loop: EventLoop, completion: @escaping (Result<RecordSocket, SystemError>) -> Void
  ) throws(SystemError) {
    self.loop = loop
    let socket = try options.socket(for: channel, listening: false)
    let raw = socket.raw
    // The call goes on in the background; the socket becomes writable, or fails.
    if bluetooth_l2cap_connect(raw, address.wire, address.kind.rawValue, channel.psm, channel.fixed) != 0,
      errno != EINPROGRESS, errno != EAGAIN
    {
      throw .last("connect", address.description)
    }
    watch = try loop.watch(raw: raw, for: .write) { [weak self] _ in self?.ready(address, channel, options) }
    descriptor = consume socket
    self.completion = completion
    timer = loop.timer("connect") { [weak self] in self?.overdue(address, channel, options) }
    timer?.set(after: limit)
  }

  deinit { cancel() }

  /// Gives up; the kernel cancels what the controller is doing for it.
  func cancel() {
    completion = nil
    stopWaiting()
    descriptor = nil
  }

  private func stopWaiting() {
    if let watch { loop.remove(watch) }
    watch = nil
    timer?.cancel()
  }

  /// A channel on which the peer has granted nothing yet is open, and not writable.
  private func overdue(_ address: BluetoothAddress, _ channel: L2CAPChannel, _ options: L2CAPOptions) {
    // The kernel knows what the peer takes when the channel is open, and not before.
    if channel != .att, let raw = descriptor?.raw, bluetooth_send_mtu(raw) > 0 {
      ready(address, channel, options)
    } else {
      finish(.failure(SystemError("connect", code: ETIMEDOUT, subject: address.description)))
    }
  }

  private func ready(_ address: BluetoothAddress, _ channel: L2CAPChannel, _ options: L2CAPOptions) {
    guard let raw = descriptor?.raw else { return }
    var code: CInt = 0
    _ = linux_socket_error(raw, &code)
    guard code == 0 else { return finish(.failure(SystemError("connect", code: code, subject: address.description))) }
    stopWaiting()
    guard let socket = descriptor.take() else { return }
    finish(.success(options.record(socket, channel, on: loop)))
  }

  private func finish(_ result: Result<RecordSocket, SystemError>) {
    let completion = self.completion
    cancel()
    completion?(result)
  }
}
