import Pictures

/// What a JPEG says before its first scan (ITU-T T.81, B.2): enough to keep from libv4l what it cannot take.
///
/// It takes 4:2:2 and 4:2:0 in one interleaved scan. A first scan of fewer components makes it follow a null pointer. For
/// any other sampling it changes, for good, to a decoder of its own that reads far outside of a damaged picture. Components
/// out of order are refused too: it looks at the scan's order, and fills its output in the frame's.
struct JPEGHeader: Equatable, Sendable {
  let size: PixelSize
  /// Whether luma has two samples to one of colour in each row, and one or two in each column.
  private let isSampledAsUsual: Bool
  private let components: [UInt8]
  private let scanned: [UInt8]

  /// Nil where there is no frame and no scan after it, or more than one frame.
  init?(_ bytes: [UInt8]) {
    guard bytes.starts(with: [0xff, 0xd8]) else { return nil }
    var rest = bytes.dropFirst(2)
    var frame: ArraySlice<UInt8>?
    while let (marker, body) = JPEGHeader.nextSegment(&rest) {
      switch marker {
      case 0xc0...0xc3, 0xc5...0xc7, 0xc9...0xcb, 0xcd...0xcf:
        guard frame == nil else { return nil }
        frame = body
      case 0xda:
        guard let frame else { return nil }
        self.init(frame: Array(frame), scan: Array(body))
        return
      default: break
      }
    }
    return nil
  }

  private init?(frame: [UInt8], scan: [UInt8]) {
    guard frame.count >= 6, frame.count == 6 + 3 * Int(frame[5]), let count = scan.first,
      scan.count == 4 + 2 * Int(count)
    else { return nil }
    size = PixelSize(Int(frame[3]) << 8 | Int(frame[4]), Int(frame[1]) << 8 | Int(frame[2]))
    components = stride(from: 6, to: frame.count, by: 3).map { frame[$0] }
    let sampling = stride(from: 7, to: frame.count, by: 3).map { frame[$0] }
    isSampledAsUsual = sampling == [0x21, 0x11, 0x11] || sampling == [0x22, 0x11, 0x11]
    scanned = (0..<Int(count)).map { scan[1 + 2 * $0] }
  }

  /// Whether libv4l can be given this picture where one of this size is expected.
  func isDecodable(as expected: PixelSize) -> Bool {
    size == expected && isSampledAsUsual && scanned == components
  }

  /// The next marker that has a segment, and what is in it. As libjpeg does, bytes between segments are skipped.
  private static func nextSegment(_ rest: inout ArraySlice<UInt8>) -> (marker: UInt8, body: ArraySlice<UInt8>)? {
    while let start = rest.firstIndex(of: 0xff) {
      rest = rest[start...].drop { $0 == 0xff }
      guard let marker = rest.popFirst() else { return nil }
      switch marker {
      // A stuffed zero, and markers without a segment.
      case 0x00, 0x01, 0xd0...0xd7: continue
      // A second start, or an end before any scan.
      case 0xd8, 0xd9: return nil
      default: break
      }
      guard let high = rest.popFirst(), let low = rest.popFirst() else { return nil }
      let length = Int(high) << 8 | Int(low)
      guard length >= 2, rest.count >= length - 2 else { return nil }
      let body = rest.prefix(length - 2)
      rest = rest.dropFirst(length - 2)
      return (marker, body)
    }
    return nil
  }
}
