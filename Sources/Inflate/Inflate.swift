import Bytes
internal import CZlib

/// Why bytes are no zlib stream that can be used.
package enum InflateError: Error, Equatable, Sendable {
  /// Not the zlib format, damaged, cut, or in need of a dictionary.
  case malformed
  /// More content than the limit.
  case tooLarge
  /// Bytes after the end of the stream.
  case trailingBytes
}

/// The content of one zlib stream (RFC 1950) and nothing after it.
///
/// - Parameter limit: most bytes of content; never is more memory used than that and one step.
package func inflate(_ compressed: ByteView, limit: Int) throws(InflateError) -> [UInt8] {
  guard compressed.count <= Int(UInt32.max), limit >= 0 else { throw .tooLarge }
  // The library keeps the address of the stream and compares it, so that the stream has a place of its own.
  let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  stream.initialize(to: z_stream())
  defer { stream.deallocate() }
  guard czlib_inflate_init(stream) == Z_OK else { throw .malformed }
  defer { inflateEnd(stream) }

  var content: [UInt8] = []
  let failure = compressed.withUnsafeBufferPointer { input -> InflateError? in
    // Read only, and only while this closure lasts.
    stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
    stream.pointee.avail_in = UInt32(input.count)
    // Lists of documents compress well: what comes out is often hundreds of times as long.
    var step = min(max(4 * input.count, 4096), 1 << 20)
    while true {
      // One byte of room beyond the limit tells a stream that is too long from one that fits exactly.
      let room = min(step, limit - content.count + 1)
      var produced = 0
      var code = Z_OK
      content += [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
        stream.pointee.next_out = buffer.baseAddress
        stream.pointee.avail_out = UInt32(room)
        code = CZlib.inflate(stream, Z_NO_FLUSH)
        count = room - Int(stream.pointee.avail_out)
        produced = count
      }
      if content.count > limit { return .tooLarge }
      switch code {
      case Z_STREAM_END: return stream.pointee.avail_in == 0 ? nil : .trailingBytes
      case Z_OK where produced > 0: break
      default: return .malformed
      }
      step = min(2 * step, 1 << 20)
    }
  }
  if let failure { throw failure }
  return content
}
