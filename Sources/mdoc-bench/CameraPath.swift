internal import CQREncode
import Camera
import Glibc
import Kernel
import QRScan
import Synchronization

/// From a camera's buffer to the text of the code in it: the whole way through the camera edge, the loop and the decoder's
/// thread, on pictures that are made here, as YUYV.
final class CameraPath {
  static let width = 1280
  static let height = 720

  /// The luma of each picture.
  let pictures: [[UInt8]]
  private let replay: ReplayDevice
  private let loop: EventLoop
  private var camera: V4L2Camera?
  private var worker: DecodeWorker?
  private var texts: [[UInt8]] = []
  private var failure: String?

  init(pictures count: Int) throws {
    pictures = try (0..<count).map { try CameraPath.picture($0) }
    replay = try ReplayDevice(pictures)
    loop = try EventLoop()
    worker = try DecodeWorker(on: loop) { [weak self] in
      self?.texts = $0.codes
      self?.loop.stop()
    }
    var settings = CameraSettings()
    settings.discardedPictures = 0
    settings.firstPictureDeadline = .seconds(60)
    settings.silenceDeadline = .seconds(60)
    camera = try V4L2Camera(settings, on: loop, system: ReplaySystem(device: replay)) { [weak self] event in
      switch event {
      case .frame(let frame): self?.worker?.submit(frame.image, .live)
      case .opened: self?.loop.stop()
      case .fault(let problem): self?.failure = "\(problem)"
      case .recovered, .note: break
      }
    }
    camera?.start()
    guard try loop.run(until: .now + .seconds(10)) else { throw BenchError("no camera: \(failure ?? "")") }
  }

  /// The median time of one picture, in nanoseconds; each must be read.
  func round() throws -> Int64 {
    var times: [Int64] = []
    for index in pictures.indices {
      texts = []
      let start = ContinuousClock.now
      replay.show(index)
      guard try loop.run(until: .now + .seconds(10)), texts.count == 1 else {
        throw BenchError("picture \(index) was not read")
      }
      let (seconds, attoseconds) = (ContinuousClock.now - start).components
      times.append(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
    return median(times)
  }

  func end() {
    camera?.cancel()
    worker?.stop()
  }

  /// What the floor program reads.
  var floorFile: [UInt8] {
    let facts = [CameraPath.width, CameraPath.height, pictures.count, pictures.count]
    return facts.flatMap { fact in (0..<4).map { UInt8(truncatingIfNeeded: fact >> (8 * $0)) } }
      + pictures.reduce(into: []) { $0 += $1 }
  }

  /// A code of an engagement's length on grey with some noise, in another place and size each time.
  private static func picture(_ number: Int) throws -> [UInt8] {
    var state = UInt64(number) &* 0x9e37_79b9_7f4a_7c15 | 1
    func random() -> UInt64 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return state
    }
    let text = Array("mdoc:".utf8) + (0..<150).map { _ in UInt8(ascii: "a") + UInt8(random() % 26) }
    guard let code = QRcode_encodeData(CInt(text.count), text, 0, QR_ECLEVEL_M) else { throw BenchError("no code") }
    defer { QRcode_free(code) }
    let modules = Int(code.pointee.width)
    let size = 4 + number % 6
    let (x0, y0) = (100 + Int(random() % 600), 40 + Int(random() % 150))
    var luma = (0..<width * height).map { _ in 90 + UInt8(random() % 16) }
    for y in -4 * size..<(modules + 4) * size where y0 + y < height {
      for x in -4 * size..<(modules + 4) * size {
        let (row, column) = (y >= 0 ? y / size : -1, x >= 0 ? x / size : -1)
        let isInside = row >= 0 && row < modules && column >= 0 && column < modules
        let isDark = isInside && code.pointee.data[row * modules + column] & 1 == 1
        luma[(y0 + y) * width + x0 + x] = (isDark ? 30 : 210) + UInt8(random() % 16)
      }
    }
    return luma
  }
}

private struct ReplaySystem: VideoSystem {
  let device: ReplayDevice
  func nodes() -> [String] { ["/dev/video0"] }
  func resolve(_ path: String) -> String? { path }
  func links(to node: String) -> [String] { [] }
  func open(_ node: String) throws(SystemError) -> any VideoDevice { device }
  func usbMegabits(of node: String) -> Int? { nil }
  func holder(of node: String) -> String? { nil }
}

/// A camera that shows one of its pictures when it is told to.
private final class ReplayDevice: VideoDevice {
  private let pictures: [[UInt8]]
  private let input: Int32
  let descriptor: Int32
  private let shown = Mutex<Int?>(nil)

  init(_ lumas: [[UInt8]]) throws {
    pictures = lumas.map { luma in
      [UInt8](unsafeUninitializedCapacity: 2 * luma.count) { buffer, count in
        for (index, value) in luma.enumerated() { (buffer[2 * index], buffer[2 * index + 1]) = (value, 128) }
        count = 2 * luma.count
      }
    }
    (descriptor, input) = try makePipe()
  }

  func show(_ index: Int) {
    shown.withLock { $0 = index }
    var byte: UInt8 = 1
    _ = write(input, &byte, 1)
  }

  func facts() throws(SystemError) -> NodeFacts {
    NodeFacts(driver: "replay", card: "Replay", bus: "", isCapture: true)
  }
  func formats() throws(SystemError) -> [OfferedFormat] {
    [OfferedFormat(.yuyv, .discrete([PixelSize(CameraPath.width, CameraPath.height)]))]
  }
  func setFormat(_ wanted: FormatCandidate) throws(SystemError) -> GrantedFormat {
    let line = 2 * wanted.size.width
    return GrantedFormat(wanted.format, wanted.size, bytesPerLine: line, imageBytes: line * wanted.size.height)
  }
  func setRate(_ perSecond: Int) -> Int? { nil }
  func control(_ id: ControlID) -> ControlFacts? { nil }
  func controls() -> [ControlFacts] { [] }
  func value(of id: ControlID) throws(SystemError) -> Int { throw SystemError("no control", code: EINVAL) }
  func set(_ id: ControlID, to value: Int) throws(SystemError) { throw SystemError("no control", code: EINVAL) }
  func start(buffers: Int) throws(SystemError) -> Int { buffers }
  func dequeue() throws(SystemError) -> FilledBuffer? {
    let index = shown.withLock { shown in
      defer { shown = nil }
      return shown
    }
    guard let index else { return nil }
    var byte: UInt8 = 0
    _ = read(descriptor, &byte, 1)
    return FilledBuffer(index: index, bytes: pictures[index].count)
  }
  func withBytes<Result>(of buffer: FilledBuffer, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    pictures[buffer.index].withUnsafeBytes { body($0) }
  }
  func queue(_ buffer: FilledBuffer) throws(SystemError) {}
  func close() {}
}
