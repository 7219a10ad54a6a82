import Bytes

/// One PDU of the attribute protocol (Bluetooth Core 5.4, volume 3, part F, section 3.4), as far as mdoc needs it.
package enum ATTPDU: Equatable, Sendable {
  case errorResponse(request: UInt8, handle: UInt16, code: ATTErrorCode)
  case exchangeMTURequest(UInt16)
  case exchangeMTUResponse(UInt16)
  case findInformationRequest(ClosedRange<UInt16>)
  /// All of one UUID size.
  case findInformationResponse([HandleUUID])
  case findByTypeValueRequest(ClosedRange<UInt16>, type: UInt16, value: [UInt8])
  case findByTypeValueResponse([ClosedRange<UInt16>])
  case readByTypeRequest(ClosedRange<UInt16>, AttributeUUID)
  /// All values of one size.
  case readByTypeResponse([HandleValue])
  case readRequest(UInt16)
  case readResponse([UInt8])
  case readBlobRequest(UInt16, offset: UInt16)
  case readBlobResponse([UInt8])
  case readByGroupTypeRequest(ClosedRange<UInt16>, AttributeUUID)
  /// All values of one size.
  case readByGroupTypeResponse([GroupValue])
  case writeRequest(UInt16, ByteView)
  case writeResponse
  case writeCommand(UInt16, ByteView)
  case notification(UInt16, ByteView)
  case indication(UInt16, ByteView)
  case confirmation
  /// An opcode without a meaning here; the server refuses requests among them and ignores commands.
  case unknown(opcode: UInt8)

  package struct HandleUUID: Equatable, Sendable {
    package let handle: UInt16
    package let uuid: AttributeUUID
  }

  package struct HandleValue: Equatable, Sendable {
    package let handle: UInt16
    package let value: [UInt8]
  }

  package struct GroupValue: Equatable, Sendable {
    package let handles: ClosedRange<UInt16>
    package let value: [UInt8]
  }

  /// The bytes do not have the shape their opcode asks for.
  package struct Malformed: Error, Equatable, Sendable {
    package let opcode: UInt8
    /// What an error response is to say: 0x04, or 0x01 for a range that starts at 0 or is upside down.
    package let code: ATTErrorCode
    package let handle: UInt16
  }

  /// Whether an opcode is a request: neither a command nor a response, notification, indication or confirmation.
  static func isRequest(_ opcode: UInt8) -> Bool {
    opcode & 0x40 == 0 && opcode & 1 == 0 && opcode != 0x1e
  }
}

/// Error codes of the attribute protocol (section 3.4.1.1).
package enum ATTErrorCode: Hashable, Sendable {
  case invalidHandle
  case readNotPermitted
  case writeNotPermitted
  case invalidPDU
  case requestNotSupported
  case invalidOffset
  case attributeNotFound
  case invalidValueLength
  case unsupportedGroupType
  case other(UInt8)

  private static let known: [(UInt8, ATTErrorCode)] = [
    (0x01, .invalidHandle), (0x02, .readNotPermitted), (0x03, .writeNotPermitted), (0x04, .invalidPDU),
    (0x06, .requestNotSupported), (0x07, .invalidOffset), (0x0a, .attributeNotFound), (0x0d, .invalidValueLength),
    (0x10, .unsupportedGroupType),
  ]

  init(_ value: UInt8) { self = ATTErrorCode.known.first { $0.0 == value }?.1 ?? .other(value) }

  package var value: UInt8 {
    if case .other(let value) = self { return value }
    return ATTErrorCode.known.first { $0.1 == self }?.0 ?? 0x0e
  }
}

// MARK: - Reading

extension ATTPDU {
  /// Reads one PDU. An empty record has opcode 0.
  package init(_ bytes: ByteView) throws(Malformed) {
    guard let opcode = bytes.first else { throw Malformed(opcode: 0, code: .invalidPDU, handle: 0) }
    let body = bytes.dropFirst()
    let malformed = Malformed(opcode: opcode, code: .invalidPDU, handle: 0)
    func check(_ isRight: Bool) throws(Malformed) {
      guard isRight else { throw malformed }
    }
    func range() throws(Malformed) -> ClosedRange<UInt16> {
      let first = body.little16
      let last = body.dropFirst(2).little16
      guard first > 0, first <= last else { throw Malformed(opcode: opcode, code: .invalidHandle, handle: first) }
      return first...last
    }
    switch opcode {
    case 0x01:
      try check(body.count == 4)
      self = .errorResponse(
        request: body[body.startIndex], handle: body.dropFirst().little16, code: ATTErrorCode(body[body.startIndex + 3]))
    case 0x02, 0x03:
      try check(body.count == 2)
      self = opcode == 0x02 ? .exchangeMTURequest(body.little16) : .exchangeMTUResponse(body.little16)
    case 0x04:
      try check(body.count == 4)
      self = .findInformationRequest(try range())
    case 0x05:
      guard let format = body.first, format == 1 || format == 2,
        let rows = rows(body.dropFirst(), size: format == 1 ? 4 : 18)
      else { throw malformed }
      self = .findInformationResponse(
        rows.compactMap { row in
          AttributeUUID(wire: row.dropFirst(2)).map { HandleUUID(handle: row.little16, uuid: $0) }
        })
    case 0x06:
      try check(body.count >= 6)
      self = .findByTypeValueRequest(try range(), type: body.dropFirst(4).little16, value: Array(body.dropFirst(6)))
    case 0x07:
      guard let rows = rows(body, size: 4) else { throw malformed }
      var groups: [ClosedRange<UInt16>] = []
      for row in rows {
        let (first, last) = (row.little16, row.dropFirst(2).little16)
        try check(first > 0 && first <= last)
        groups.append(first...last)
      }
      self = .findByTypeValueResponse(groups)
    case 0x08, 0x10:
      guard body.count == 6 || body.count == 20, let uuid = AttributeUUID(wire: body.dropFirst(4)) else {
        throw malformed
      }
      self = opcode == 0x08 ? .readByTypeRequest(try range(), uuid) : .readByGroupTypeRequest(try range(), uuid)
    case 0x09:
      guard let size = body.first, size >= 2, let rows = rows(body.dropFirst(), size: Int(size)) else {
        throw malformed
      }
      self = .readByTypeResponse(rows.map { HandleValue(handle: $0.little16, value: Array($0.dropFirst(2))) })
    case 0x0a:
      try check(body.count == 2)
      self = .readRequest(body.little16)
    case 0x0b: self = .readResponse(Array(body))
    case 0x0c:
      try check(body.count == 4)
      self = .readBlobRequest(body.little16, offset: body.dropFirst(2).little16)
    case 0x0d: self = .readBlobResponse(Array(body))
    case 0x11:
      guard let size = body.first, size >= 4, let rows = rows(body.dropFirst(), size: Int(size)) else {
        throw malformed
      }
      var groups: [GroupValue] = []
      for row in rows {
        let (first, last) = (row.little16, row.dropFirst(2).little16)
        try check(first > 0 && first <= last)
        groups.append(GroupValue(handles: first...last, value: Array(row.dropFirst(4))))
      }
      self = .readByGroupTypeResponse(groups)
    case 0x12, 0x52, 0x1b, 0x1d:
      try check(body.count >= 2)
      let (handle, value) = (body.little16, body.dropFirst(2))
      switch opcode {
      case 0x12: self = .writeRequest(handle, value)
      case 0x52: self = .writeCommand(handle, value)
      case 0x1b: self = .notification(handle, value)
      default: self = .indication(handle, value)
      }
    case 0x13, 0x1e:
      try check(body.isEmpty)
      self = opcode == 0x13 ? .writeResponse : .confirmation
    default: self = .unknown(opcode: opcode)
    }
  }
}

/// At least one row of exactly `size` bytes, and nothing left over.
private func rows(_ bytes: ByteView, size: Int) -> [ByteView]? {
  guard !bytes.isEmpty, bytes.count.isMultiple(of: size) else { return nil }
  return stride(from: bytes.startIndex, to: bytes.endIndex, by: size).map { bytes[$0..<$0 + size] }
}

// MARK: - Writing

extension ATTPDU {
  /// The bytes on the air. Rows of a response have to be of one size.
  package var encoded: [UInt8] {
    switch self {
    case .errorResponse(let request, let handle, let code): [0x01, request] + little(handle) + [code.value]
    case .exchangeMTURequest(let mtu): [0x02] + little(mtu)
    case .exchangeMTUResponse(let mtu): [0x03] + little(mtu)
    case .findInformationRequest(let range): [0x04] + little(range)
    case .findInformationResponse(let rows):
      [0x05, rows.first?.uuid.wire.count == 2 ? 1 : 2] + rows.flatMap { little($0.handle) + $0.uuid.wire }
    case .findByTypeValueRequest(let range, let type, let value): [0x06] + little(range) + little(type) + value
    case .findByTypeValueResponse(let groups): [0x07] + groups.flatMap(little)
    case .readByTypeRequest(let range, let uuid): [0x08] + little(range) + uuid.wire
    case .readByTypeResponse(let rows):
      [0x09, UInt8(2 + (rows.first?.value.count ?? 0))] + rows.flatMap { little($0.handle) + $0.value }
    case .readRequest(let handle): [0x0a] + little(handle)
    case .readResponse(let value): [0x0b] + value
    case .readBlobRequest(let handle, let offset): [0x0c] + little(handle) + little(offset)
    case .readBlobResponse(let value): [0x0d] + value
    case .readByGroupTypeRequest(let range, let uuid): [0x10] + little(range) + uuid.wire
    case .readByGroupTypeResponse(let rows):
      [0x11, UInt8(4 + (rows.first?.value.count ?? 0))] + rows.flatMap { little($0.handles) + $0.value }
    case .writeRequest(let handle, let value): [0x12] + little(handle) + value
    case .writeResponse: [0x13]
    case .writeCommand(let handle, let value): [0x52] + little(handle) + value
    case .notification(let handle, let value): [0x1b] + little(handle) + value
    case .indication(let handle, let value): [0x1d] + little(handle) + value
    case .confirmation: [0x1e]
    case .unknown(let opcode): [opcode]
    }
  }
}

private func little(_ value: UInt16) -> [UInt8] {
  [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
}

private func little(_ range: ClosedRange<UInt16>) -> [UInt8] { little(range.lowerBound) + little(range.upperBound) }
