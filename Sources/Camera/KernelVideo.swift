internal import CV4L2
import Glibc
import Kernel

/// The nodes of this machine.
package struct KernelVideo: VideoSystem {
  private static let folder = "/dev"
  private static let linkFolders = ["/dev/v4l/by-id", "/dev/v4l/by-path"]

  package init() {}

  package func nodes() -> [String] {
    let names = (try? Files.list(KernelVideo.folder)) ?? []
    return names.compactMap { name in name.hasPrefix("video") ? Int(name.dropFirst(5)) : nil }.sorted()
      .map { "\(KernelVideo.folder)/video\($0)" }
  }

  package func resolve(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  package func links(to node: String) -> [String] {
    KernelVideo.linkFolders.flatMap { folder in
      ((try? Files.list(folder)) ?? []).map { "\(folder)/\($0)" }.filter { resolve($0) == node }
    }
  }

  package func open(_ node: String) throws(SystemError) -> any VideoDevice { try KernelVideoDevice(node) }

  package func usbMegabits(of node: String) -> Int? {
    // The node belongs to an interface; the speed is the device's, one level up.
    let interface = "/sys/class/video4linux/\(Files.name(of: node))/device"
    guard let bytes = try? Files.read("\(interface)/../speed", limit: 64) else { return nil }
    return Int(String(decoding: bytes.prefix { $0 != 10 && $0 != UInt8(ascii: ".") }, as: UTF8.self))
  }

  package func holder(of node: String) -> String? {
    for process in (try? Files.list("/proc")) ?? [] where Int(process) != nil && Int(process) != Int(getpid()) {
      for descriptor in (try? Files.list("/proc/\(process)/fd")) ?? []
      where resolve("/proc/\(process)/fd/\(descriptor)") == node {
        let name = (try? Files.read("/proc/\(process)/comm", limit: 64)) ?? []
        return "\(String(decoding: name.prefix { $0 != 10 }, as: UTF8.self)) (process \(process))"
      }
    }
    return nil
  }
}

/// One open node.
///
/// Not checked by the compiler: it goes from the thread that opens it to the loop's and back for closing, and is used by
/// one of them at a time.
private final class KernelVideoDevice: VideoDevice, @unchecked Sendable {
  private struct Mapping {
    let address: UnsafeMutableRawPointer
    let length: Int
  }

  private let path: String
  private var opened: Descriptor?
  /// The buffers, mapped until `close`.
  private var mappings: [Mapping] = []
  private var isStreaming = false

  init(_ path: String) throws(SystemError) {
    self.path = path
    opened = try Descriptor(opening: path, flags: O_RDWR)
  }

  deinit { close() }

  var descriptor: Int32 {
    switch opened {
    case .some(let descriptor): descriptor.raw
    case .none: -1
    }
  }

  private func call(_ name: String, _ body: (Int32) -> CInt) throws(SystemError) {
    guard body(descriptor) != -1 else { throw .last(name, path) }
  }

  /// A text that C ended with a zero, in a field of a structure.
  private static func text<Field>(_ field: Field) -> String {
    withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  func facts() throws(SystemError) -> NodeFacts {
    var node = cv4l2_node()
    try call("VIDIOC_QUERYCAP") { cv4l2_query($0, &node) }
    let needed = cv4l2_capability_capture | cv4l2_capability_streaming
    return NodeFacts(
      driver: KernelVideoDevice.text(node.driver), card: KernelVideoDevice.text(node.card),
      bus: KernelVideoDevice.text(node.bus), isCapture: node.capabilities & needed == needed)
  }

  func formats() throws(SystemError) -> [OfferedFormat] {
    var formats: [OfferedFormat] = []
    var fourcc: UInt32 = 0
    // A driver that never ends its list must not hold us up.
    while formats.count < 100 {
      if cv4l2_format_at(descriptor, UInt32(formats.count), &fourcc) == -1 {
        guard errno == EINVAL else { throw .last("VIDIOC_ENUM_FMT", path) }
        break
      }
      formats.append(OfferedFormat(PixelFormat(fourcc: fourcc), sizes(fourcc)))
    }
    return formats
  }

  private func sizes(_ fourcc: UInt32) -> OfferedFormat.Sizes {
    var sizes: [PixelSize] = []
    var size = cv4l2_size()
    while sizes.count < 200, cv4l2_size_at(descriptor, fourcc, UInt32(sizes.count), &size) != -1 {
      let largest = PixelSize(Int(size.max_width), Int(size.max_height))
      if size.is_range != 0 {
        return .range(
          smallest: PixelSize(Int(size.min_width), Int(size.min_height)), largest: largest,
          step: PixelSize(Int(size.step_width), Int(size.step_height)))
      }
      sizes.append(largest)
    }
    return .discrete(sizes)
  }

  func setFormat(_ wanted: FormatCandidate) throws(SystemError) -> GrantedFormat {
    var format = cv4l2_format()
    format.fourcc = wanted.format.fourcc
    format.width = UInt32(clamping: wanted.size.width)
    format.height = UInt32(clamping: wanted.size.height)
    try call("VIDIOC_S_FMT") { cv4l2_set_format($0, &format) }
    return GrantedFormat(
      PixelFormat(fourcc: format.fourcc), PixelSize(Int(format.width), Int(format.height)),
      bytesPerLine: Int(format.bytes_per_line), imageBytes: Int(format.image_bytes))
  }

  func setRate(_ perSecond: Int) -> Int? {
    var millihertz: UInt32 = 0
    return cv4l2_set_rate(descriptor, UInt32(clamping: perSecond), &millihertz) == -1 ? nil : Int(millihertz)
  }

  func control(_ id: ControlID) -> ControlFacts? {
    var control = cv4l2_control()
    guard cv4l2_query_control(descriptor, id.number, 0, &control) != -1 else { return nil }
    return KernelVideoDevice.facts(control)
  }

  func controls() -> [ControlFacts] {
    var controls: [ControlFacts] = []
    var control = cv4l2_control()
    while controls.count < 500, cv4l2_query_control(descriptor, controls.last?.id.number ?? 0, 1, &control) != -1 {
      controls.append(KernelVideoDevice.facts(control))
    }
    return controls
  }

  private static func facts(_ control: cv4l2_control) -> ControlFacts {
    ControlFacts(
      ControlID(control.id), name: text(control.name),
      range: Int(control.minimum)...Int(max(control.minimum, control.maximum)), step: Int(control.step),
      isSettable: control.is_settable != 0)
  }

  func value(of id: ControlID) throws(SystemError) -> Int {
    var value: Int32 = 0
    try call("VIDIOC_G_CTRL") { cv4l2_get_control($0, id.number, &value) }
    return Int(value)
  }

  func set(_ id: ControlID, to value: Int) throws(SystemError) {
    try call("VIDIOC_S_CTRL") { cv4l2_set_control($0, id.number, Int32(clamping: value)) }
  }

  func start(buffers: Int) throws(SystemError) -> Int {
    var count = UInt32(clamping: buffers)
    try call("VIDIOC_REQBUFS") { cv4l2_request_buffers($0, &count) }
    for index in 0..<count {
      var address: UnsafeMutableRawPointer?
      var length = 0
      try call("mmap") { cv4l2_map($0, index, &address, &length) }
      guard let address else { throw SystemError("mmap", code: EFAULT, subject: path) }
      mappings.append(Mapping(address: address, length: length))
      try call("VIDIOC_QBUF") { cv4l2_queue($0, index) }
    }
    try call("VIDIOC_STREAMON") { cv4l2_stream($0, 1) }
    isStreaming = true
    return mappings.count
  }

  func dequeue() throws(SystemError) -> FilledBuffer? {
    var buffer = cv4l2_buffer()
    if cv4l2_dequeue(descriptor, &buffer) == -1 {
      if errno == EAGAIN { return nil }
      throw .last("VIDIOC_DQBUF", path)
    }
    return FilledBuffer(
      index: Int(buffer.index), bytes: Int(buffer.bytes), isBad: buffer.is_bad != 0, nanoseconds: buffer.nanoseconds)
  }

  func withBytes<Result>(of buffer: FilledBuffer, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    guard mappings.indices.contains(buffer.index) else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
    let mapping = mappings[buffer.index]
    // Mapped until `close`, and the driver leaves a dequeued buffer alone. It may claim more than the buffer has.
    return body(UnsafeRawBufferPointer(start: mapping.address, count: min(max(buffer.bytes, 0), mapping.length)))
  }

  func queue(_ buffer: FilledBuffer) throws(SystemError) {
    try call("VIDIOC_QBUF") { cv4l2_queue($0, UInt32(clamping: buffer.index)) }
  }

  func close() {
    guard opened != nil else { return }
    // Failures do not matter: the descriptor's end frees whatever is left.
    if isStreaming { _ = cv4l2_stream(descriptor, 0) }
    isStreaming = false
    for mapping in mappings { _ = cv4l2_unmap(mapping.address, mapping.length) }
    if !mappings.isEmpty {
      var none: UInt32 = 0
      _ = cv4l2_request_buffers(descriptor, &none)
    }
    mappings = []
    opened = nil
  }
}
