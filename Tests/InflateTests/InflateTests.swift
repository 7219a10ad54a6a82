import Bytes
import Testing

@testable import Inflate

@Suite("Zlib streams")
struct InflateTests {
  @Test("a published list is unpacked")
  func published() throws {
    // The first example of the IETF draft: sixteen statuses of one bit.
    let compressed = try #require(bytes(hex: "78dadbb918000217015d"))
    #expect(try inflate(compressed[...], limit: 2) == [0xb9, 0xa3])
  }

  @Test("an empty stream has no content")
  func empty() throws {
    let compressed = try #require(bytes(hex: "789c030000000001"))
    #expect(try inflate(compressed[...], limit: 0) == [])
  }

  @Test("content beyond the limit is refused, and content of exactly the limit is not")
  func limit() throws {
    let compressed = try #require(bytes(hex: "78dadbb918000217015d"))
    #expect(throws: InflateError.tooLarge) { try inflate(compressed[...], limit: 1) }
    #expect(throws: InflateError.tooLarge) { try inflate(compressed[...], limit: 0) }
    #expect(throws: InflateError.tooLarge) { try inflate(compressed[...], limit: -1) }
  }

  @Test("every cut of a stream is refused")
  func truncations() throws {
    let compressed = try #require(bytes(hex: "78dadbb918000217015d"))
    for count in compressed.indices {
      #expect(throws: InflateError.malformed, "cut to \(count)") { try inflate(compressed[..<count], limit: 100) }
    }
  }

  @Test("bytes after a stream are refused")
  func trailing() throws {
    let compressed = try #require(bytes(hex: "78dadbb918000217015d00"))
    #expect(throws: InflateError.trailingBytes) { try inflate(compressed[...], limit: 100) }
  }

  @Test("a changed byte never gives other content: the stream has a checksum")
  func damaged() throws {
    let compressed = try #require(bytes(hex: "78dadbb918000217015d"))
    for place in compressed.indices {
      var damaged = compressed
      damaged[place] ^= 0x10
      // Some bits of it are spare.
      let content = (try? inflate(damaged[...], limit: 100)) ?? [0xb9, 0xa3]
      #expect(content == [0xb9, 0xa3], "byte \(place)")
    }
  }

  @Test("bare deflate, gzip and a preset dictionary are refused")
  func otherFormats() throws {
    for hex in ["dbb91800", "1f8b0800000000000203dbb9180000", "78bb00000001030000000001"] {
      let compressed = try #require(bytes(hex: hex))
      #expect(throws: InflateError.malformed, "\(hex)") { try inflate(compressed[...], limit: 100) }
    }
  }

  @Test("a stream of a thousand times its size is unpacked in steps, and stopped at the limit")
  func bomb() throws {
    // Three million zero bytes: a head, then one match after another, whose code is zeros too, and a tail.
    let zeros = [UInt8](repeating: 0, count: 2906)
    let compressed =
      try #require(bytes(hex: "78daedc101010000008220ffaf6e484001")) + zeros
      + (try #require(bytes(hex: "2f06c9630001")))
    #expect(try inflate(compressed[...], limit: 3_000_000) == [UInt8](repeating: 0, count: 3_000_000))
    #expect(throws: InflateError.tooLarge) { try inflate(compressed[...], limit: 2_999_999) }
  }

  @Test("a view into a larger buffer is read alone")
  func view() throws {
    let buffer = try #require(bytes(hex: "ffff78dadbb918000217015dffff"))
    #expect(try inflate(buffer[2..<12], limit: 100) == [0xb9, 0xa3])
  }
}
