import Kernel

/// What a node says about itself.
package struct NodeFacts: Equatable, Sendable {
  package var driver: String
  /// The device's name for people.
  package var card: String
  /// Where it is attached; the same for all nodes of one device.
  package var bus: String
  /// Whether this node, not only its device, takes pictures in one plane by streaming.
  package var isCapture: Bool

  package init(driver: String, card: String, bus: String, isCapture: Bool) {
    self.driver = driver
    self.card = card
    self.bus = bus
    self.isCapture = isCapture
  }
}

/// A buffer that the driver has filled.
package struct FilledBuffer: Equatable, Sendable {
  package var index: Int
  /// How many bytes of it.
  package var bytes: Int
  /// Whether the driver marked it as damaged.
  package var isBad: Bool
  /// When the picture was taken, in nanoseconds of CLOCK_MONOTONIC; 0 when unknown.
  package var nanoseconds: Int64

  package init(index: Int, bytes: Int, isBad: Bool = false, nanoseconds: Int64 = 0) {
    self.index = index
    self.bytes = bytes
    self.isBad = isBad
    self.nanoseconds = nanoseconds
  }
}

/// An open node: the calls of V4L2, one each, and no decisions. One thread at a time uses it.
package protocol VideoDevice: AnyObject, Sendable {
  /// Readable when a buffer is filled; valid until `close`.
  var descriptor: Int32 { get }
  func facts() throws(SystemError) -> NodeFacts
  func formats() throws(SystemError) -> [OfferedFormat]
  func setFormat(_ wanted: FormatCandidate) throws(SystemError) -> GrantedFormat
  /// Pictures in a second, in thousandths; nil when the driver has no say in it.
  func setRate(_ perSecond: Int) -> Int?
  /// nil when there is no such control.
  func control(_ id: ControlID) -> ControlFacts?
  func controls() -> [ControlFacts]
  func value(of id: ControlID) throws(SystemError) -> Int
  func set(_ id: ControlID, to value: Int) throws(SystemError)
  /// Gets, maps and queues buffers, and starts the stream; says how many buffers there are.
  func start(buffers: Int) throws(SystemError) -> Int
  /// A filled buffer, nil when there is none now.
  func dequeue() throws(SystemError) -> FilledBuffer?
  /// Calls `body` with the filled part of a buffer, which is valid during the call.
  func withBytes<Result>(of buffer: FilledBuffer, _ body: (UnsafeRawBufferPointer) -> Result) -> Result
  func queue(_ buffer: FilledBuffer) throws(SystemError)
  /// Stops the stream, frees the buffers and closes the node. Doing it twice is harmless.
  func close()
}

/// Where nodes are found.
package protocol VideoSystem: Sendable {
  /// The paths of all nodes, by their number.
  func nodes() -> [String]
  /// The path of the node behind links, looked up now; nil when there is none.
  func resolve(_ path: String) -> String?
  /// Stable names of a node.
  func links(to node: String) -> [String]
  func open(_ node: String) throws(SystemError) -> any VideoDevice
  /// Megabits in a second of the USB link of a node; nil when it is on none.
  func usbMegabits(of node: String) -> Int?
  /// Who has a node open, as far as this process may see.
  func holder(of node: String) -> String?
}
