import Bytes

/// What a device says while it advertises: a list of structures, each a length, a type and data (Core Supplement,
/// Part A; Core, Vol 3, Part C, 11).
package struct AdvertisingData: Equatable, Sendable {
  /// One structure.
  package struct Field: Equatable, Sendable {
    package let type: UInt8
    package let data: ByteView

    package init(type: UInt8, data: ByteView) {
      self.type = type
      self.data = data
    }
  }

  /// Types by name (Assigned Numbers, 2.3).
  package enum FieldType {
    package static let flags: UInt8 = 0x01
    package static let incomplete128: UInt8 = 0x06
    package static let complete128: UInt8 = 0x07
  }

  /// Why data cannot be advertised.
  package enum Violation: Error, Equatable, Sendable {
    /// All fields together have so many bytes; legacy advertising has room for `limit`.
    case tooLong(byteCount: Int, limit: Int)
  }

  /// The most bytes that legacy advertising carries.
  package static let limit = 31

  package let fields: [Field]

  package init(_ fields: [Field]) { self.fields = fields }

  /// Reads what is there: data of a stranger, so a structure that does not fit ends the list, and those before it
  /// count. A length of zero ends it too (early termination).
  package init(parsing bytes: ByteView) {
    var reader = PacketReader(bytes)
    var fields: [Field] = []
    while let length = reader.byte(), length > 0, let body = reader.bytes(Int(length)), let type = body.first {
      fields.append(Field(type: type, data: body.dropFirst()))
    }
    self.fields = fields
  }

  /// Whether a list of 128-bit service UUIDs, complete or not, names this service. A list with a piece of a UUID at its
  /// end counts as far as it is whole.
  package func offers(_ service: UUID128) -> Bool {
    let wanted = service.wire128
    for field in fields where field.type == FieldType.incomplete128 || field.type == FieldType.complete128 {
      var reader = PacketReader(field.data)
      while let uuid = reader.bytes(16) {
        if uuid.elementsEqual(wanted) { return true }
      }
    }
    return false
  }

  /// The bytes to advertise; throws with the byte count when they do not fit.
  ///
  /// - Parameter reserved: bytes that the system adds, such as the 3 of Flags.
  package func encoded(reserved: Int = 0) throws(Violation) -> [UInt8] {
    let bytes = fields.flatMap { [UInt8(truncatingIfNeeded: $0.data.count + 1), $0.type] + $0.data }
    guard bytes.count + reserved <= AdvertisingData.limit else {
      throw .tooLong(byteCount: bytes.count + reserved, limit: AdvertisingData.limit)
    }
    return bytes
  }

  /// The one field of this reader: its service. Flags are added by the system, which knows what the adapter can do; a
  /// name, which would say who we are and does not fit, is not.
  package static func service(_ uuid: UUID128) -> AdvertisingData {
    AdvertisingData([Field(type: FieldType.complete128, data: uuid.wire128[...])])
  }
}
