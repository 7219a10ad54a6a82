import CLinux
import Glibc
import Kernel
import Synchronization

@testable import Camera

/// A camera that does what a test says; nodes and links are the test's too.
final class ScriptedSystem: VideoSystem {
  struct State: Sendable {
    var nodes: [String: ScriptedNode] = [:]
    var links: [String: String] = [:]
  }

  let state = Mutex(State())

  init(_ nodes: [ScriptedNode] = [], links: [String: String] = [:]) {
    state.withLock { state in
      for node in nodes { state.nodes[node.path] = node }
      state.links = links
    }
  }

  func nodes() -> [String] { state.withLock { $0.nodes.keys.sorted() } }
  func resolve(_ path: String) -> String? {
    state.withLock { state in
      let target = state.links[path] ?? path
      return state.nodes[target] == nil ? nil : target
    }
  }
  func links(to node: String) -> [String] {
    state.withLock { $0.links.filter { $0.value == node }.map(\.key).sorted() }
  }
  func open(_ path: String) throws(SystemError) -> any VideoDevice {
    guard let node = state.withLock({ $0.nodes[path] }) else { throw SystemError("open", code: ENOENT, subject: path) }
    return try node.open()
  }
  func usbMegabits(of node: String) -> Int? { state.withLock { $0.nodes[node]?.usbMegabits } }
  func holder(of node: String) -> String? { "somebody" }

  func link(_ path: String, to node: String?) { state.withLock { $0.links[path] = node } }
  func plug(_ node: ScriptedNode) {
    node.change { $0.isPlugged = true }
    state.withLock { $0.nodes[node.path] = node }
  }
  func unplug(_ node: ScriptedNode) {
    node.change { $0.isPlugged = false }
    state.withLock { $0.nodes[node.path] = nil }
    node.ring()
  }
}

/// One node.
final class ScriptedNode: Sendable {
  struct State: Sendable {
    var isPlugged = true
    var openFailure: CInt?
    var startFailure: CInt?
    /// Called for each picture: its bytes, and whether it is marked as damaged; nil for silence.
    var picture: @Sendable (GrantedFormat, Int) -> (bytes: [UInt8], isBad: Bool)? = { ScriptedNode.grey($0, $1) }
    /// The number of the dequeue, from 1: an error to throw.
    var dequeueFailure: @Sendable (Int) -> CInt? = { _ in nil }
    var grant: @Sendable (FormatCandidate) -> GrantedFormat? = { ScriptedNode.granted($0) }
    var controls: [UInt32: (facts: ControlFacts, value: Int)] = [:]
    /// Makes of a value what is read back.
    var rounding = 1
    /// Bytes in a second above which nothing comes, at 30 pictures in a second.
    var byteRate: Int?
    /// Every call that matters, in order.
    var calls: [String] = []
    var dequeues = 0
    var pictures = 0
    var devices: [WeakDevice] = []
    var age = Duration.zero
    /// What an open device is watched by first reports one picture, and never another.
    var isDeafAtFirst = false
  }
  struct WeakDevice: Sendable { weak var device: ScriptedDevice? }

  let path: String
  let facts: NodeFacts
  let offered: [OfferedFormat]
  let usbMegabits: Int?
  let state = Mutex(State())

  init(
    _ path: String, card: String = "Scripted", driver: String = "scripted", bus: String = "scripted-1",
    isCapture: Bool = true,
    usbMegabits: Int? = nil, _ offered: [OfferedFormat] = [.init(.grey, .discrete([PixelSize(8, 4)]))],
    _ change: (inout State) -> Void = { _ in }
  ) {
    self.path = path
    facts = NodeFacts(driver: driver, card: card, bus: bus, isCapture: isCapture)
    self.offered = offered
    self.usbMegabits = usbMegabits
    state.withLock { change(&$0) }
  }

  func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }
  var calls: [String] { state.withLock { $0.calls } }

  func open() throws(SystemError) -> any VideoDevice {
    let failure = state.withLock { state -> CInt? in
      state.calls.append("open")
      return state.openFailure
    }
    if let failure { throw SystemError("open", code: failure, subject: path) }
    let device = ScriptedDevice(self)
    change { $0.devices.append(WeakDevice(device: device)) }
    return device
  }

  /// A picture is there, on every open device.
  func ring() { for device in state.withLock({ $0.devices }) { device.device?.ring() } }

  static func granted(_ candidate: FormatCandidate) -> GrantedFormat {
    let bytes = candidate.size.width * (candidate.format.luma.map { $0.step } ?? 1)
    return GrantedFormat(
      candidate.format, candidate.size, bytesPerLine: candidate.format.isCompressed ? 0 : bytes,
      imageBytes: bytes * candidate.size.height)
  }

  static func grey(_ format: GrantedFormat, _ number: Int) -> (bytes: [UInt8], isBad: Bool) {
    ([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: format.imageBytes), false)
  }
}

final class ScriptedDevice: VideoDevice {
  struct State: Sendable {
    var granted: GrantedFormat?
    var queued: Set<Int> = []
    var contents: [Int: [UInt8]] = [:]
    var isOpen = true
    var pending = 0
    var watches = 0
  }

  let node: ScriptedNode
  let state = Mutex(State())
  /// Readable while a picture is there.
  private let bell = linux_eventfd()
  /// What a deaf device is watched by first: it reports the picture that is there already, and none after it.
  private let decoy = linux_eventfd()

  init(_ node: ScriptedNode) {
    self.node = node
    var one: UInt64 = 1
    _ = write(decoy, &one, 8)
  }

  deinit {
    _ = Glibc.close(bell)
    _ = Glibc.close(decoy)
  }

  var descriptor: Int32 {
    let isFirst = state.withLock { state -> Bool in
      defer { state.watches += 1 }
      return state.watches == 0
    }
    return isFirst && node.state.withLock { $0.isDeafAtFirst } ? decoy : bell
  }

  private func log(_ call: String) { node.change { $0.calls.append(call) } }

  func facts() throws(SystemError) -> NodeFacts { node.facts }
  func formats() throws(SystemError) -> [OfferedFormat] { node.offered }
  func setFormat(_ wanted: FormatCandidate) throws(SystemError) -> GrantedFormat {
    log("format \(wanted)")
    guard let granted = node.state.withLock({ $0.grant(wanted) }) else {
      throw SystemError("VIDIOC_S_FMT", code: EINVAL, subject: node.path)
    }
    state.withLock { $0.granted = granted }
    return granted
  }
  func setRate(_ perSecond: Int) -> Int? { perSecond * 1000 }
  func control(_ id: ControlID) -> ControlFacts? { node.state.withLock { $0.controls[id.number]?.facts } }
  func controls() -> [ControlFacts] {
    node.state.withLock { state in state.controls.keys.sorted().compactMap { state.controls[$0]?.facts } }
  }
  func value(of id: ControlID) throws(SystemError) -> Int {
    guard let value = node.state.withLock({ $0.controls[id.number]?.value }) else {
      throw SystemError("VIDIOC_G_CTRL", code: EINVAL, subject: node.path)
    }
    return value
  }
  func set(_ id: ControlID, to value: Int) throws(SystemError) {
    log("set \(id) \(value)")
    let isRefused = node.state.withLock { state -> Bool in
      guard state.controls[id.number]?.facts.range.contains(value) == true else { return true }
      state.controls[id.number]?.value = value / state.rounding * state.rounding
      return false
    }
    if isRefused { throw SystemError("VIDIOC_S_CTRL", code: ERANGE, subject: node.path) }
  }
  func start(buffers: Int) throws(SystemError) -> Int {
    log("start \(buffers)")
    if let failure = node.state.withLock({ $0.startFailure }) {
      throw SystemError("VIDIOC_STREAMON", code: failure, subject: node.path)
    }
    state.withLock { $0.queued = Set(0..<buffers) }
    return buffers
  }

  func ring() {
    state.withLock { $0.pending += 1 }
    var one: UInt64 = 1
    _ = write(bell, &one, 8)
  }

  func dequeue() throws(SystemError) -> FilledBuffer? {
    let (isPlugged, failure) = node.state.withLock { state -> (Bool, CInt?) in
      if !state.isPlugged { return (false, nil) }
      state.dequeues += 1
      return (true, state.dequeueFailure(state.dequeues))
    }
    guard isPlugged else { throw SystemError("VIDIOC_DQBUF", code: ENODEV, subject: node.path) }
    let (granted, index) = state.withLock { state -> (GrantedFormat?, Int?) in
      guard state.pending > 0, let index = state.queued.min() else {
        state.pending = 0
        var count: UInt64 = 0
        _ = read(bell, &count, 8)
        _ = read(decoy, &count, 8)
        return (nil, nil)
      }
      state.pending -= 1
      return (state.granted, index)
    }
    guard let granted, let index else {
      node.change { $0.dequeues -= 1 }
      return nil
    }
    if let failure { throw SystemError("VIDIOC_DQBUF", code: failure, subject: node.path) }
    let (picture, age) = node.state.withLock { state -> ((bytes: [UInt8], isBad: Bool)?, Duration) in
      if let limit = state.byteRate, granted.imageBytes * 30 > limit { return (nil, .zero) }
      state.pictures += 1
      return (state.picture(granted, state.pictures), state.age)
    }
    guard let picture else { return nil }
    state.withLock { state in
      state.queued.remove(index)
      state.contents[index] = picture.bytes
    }
    var clock = timespec()
    clock_gettime(CLOCK_MONOTONIC, &clock)
    let now = Int64(clock.tv_sec) * 1_000_000_000 + Int64(clock.tv_nsec)
    let age64 = age.components.seconds * 1_000_000_000 + age.components.attoseconds / 1_000_000_000
    return FilledBuffer(index: index, bytes: picture.bytes.count, isBad: picture.isBad, nanoseconds: now - age64)
  }

  func withBytes<Result>(of buffer: FilledBuffer, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    let bytes = state.withLock { $0.contents[buffer.index] ?? [] }
    return bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0.prefix(buffer.bytes))) }
  }

  func queue(_ buffer: FilledBuffer) throws(SystemError) {
    if !node.state.withLock({ $0.isPlugged }) { throw SystemError("VIDIOC_QBUF", code: ENODEV, subject: node.path) }
    _ = state.withLock { $0.queued.insert(buffer.index) }
  }

  func close() {
    let wasOpen = state.withLock { state in
      defer { state.isOpen = false }
      return state.isOpen
    }
    if wasOpen { log("close") }
  }
}
