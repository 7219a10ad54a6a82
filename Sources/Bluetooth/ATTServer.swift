import Bytes

/// Answers the requests of one connection from a fixed table; says what was written. Knows nothing of sessions.
struct ATTServer: Sendable {
  /// The MTU this side offers: what phones ask for.
  static let offeredMTU: UInt16 = 517

  let table: AttributeTable
  /// Client configurations of this connection, by handle.
  private var configurations: [UInt16: UInt16] = [:]

  init(table: AttributeTable) {
    self.table = table
  }

  /// What a PDU led to.
  struct Outcome {
    /// To be sent, in answer to a request.
    var response: ATTPDU?
    /// A value that was written to a handle, with or without response.
    var write: (handle: UInt16, value: ByteView)?
    /// The MTU the other side offered.
    var offeredMTU: UInt16?
  }

  /// Whether the other side asked for notifications of a characteristic.
  func isSubscribed(to characteristic: MdocService.Characteristic) -> Bool {
    guard let handle = table.configurations[characteristic] else { return false }
    return configurations[handle, default: 0] & 1 != 0
  }

  /// Answers a PDU that is for a server: a request or a command. `mtu` bounds what a response may hold.
  mutating func handle(_ pdu: ATTPDU, mtu: Int) -> Outcome {
    switch pdu {
    case .exchangeMTURequest(let offer):
      return Outcome(response: .exchangeMTUResponse(ATTServer.offeredMTU), offeredMTU: offer)
    case .findInformationRequest(let range): return Outcome(response: findInformation(range, mtu: mtu))
    case .findByTypeValueRequest(let range, let type, let value):
      return Outcome(response: findByTypeValue(range, type: .short(type), value: value, mtu: mtu))
    case .readByTypeRequest(let range, let uuid): return Outcome(response: readByType(range, uuid, mtu: mtu))
    case .readByGroupTypeRequest(let range, let uuid): return Outcome(response: readByGroupType(range, uuid, mtu: mtu))
    case .readRequest(let handle): return Outcome(response: read(handle, offset: 0, opcode: 0x0a, mtu: mtu))
    case .readBlobRequest(let handle, let offset):
      return Outcome(response: read(handle, offset: Int(offset), opcode: 0x0c, mtu: mtu))
    case .writeRequest(let handle, let value): return write(handle, value, isRequest: true)
    case .writeCommand(let handle, let value): return write(handle, value, isRequest: false)
    case .unknown(let opcode) where ATTPDU.isRequest(opcode):
      return Outcome(response: .errorResponse(request: opcode, handle: 0, code: .requestNotSupported))
    default: return Outcome()
    }
  }

  private func findInformation(_ range: ClosedRange<UInt16>, mtu: Int) -> ATTPDU {
    let attributes = table.attributes(in: range)
    guard let size = attributes.first?.type.wire.count else {
      return .errorResponse(request: 0x04, handle: range.lowerBound, code: .attributeNotFound)
    }
    let rows = attributes.prefix { $0.type.wire.count == size }.prefix((mtu - 2) / (2 + size))
    return .findInformationResponse(rows.map { .init(handle: $0.handle, uuid: $0.type) })
  }

  private func findByTypeValue(_ range: ClosedRange<UInt16>, type: AttributeUUID, value: [UInt8], mtu: Int) -> ATTPDU {
    let found = table.attributes(in: range).filter { $0.type == type && $0.value == value }
      .prefix((mtu - 1) / 4).map { table.group(at: $0.handle) ?? $0.handle...$0.handle }
    guard !found.isEmpty else {
      return .errorResponse(request: 0x06, handle: range.lowerBound, code: .attributeNotFound)
    }
    return .findByTypeValueResponse(found)
  }

  private func readByType(_ range: ClosedRange<UInt16>, _ uuid: AttributeUUID, mtu: Int) -> ATTPDU {
    let found = table.attributes(in: range).filter { $0.type == uuid }
    guard let first = found.first else {
      return .errorResponse(request: 0x08, handle: range.lowerBound, code: .attributeNotFound)
    }
    guard first.access.contains(.read) else {
      return .errorResponse(request: 0x08, handle: first.handle, code: .readNotPermitted)
    }
    let size = min(current(first).count, mtu - 4, 253)
    let rows = found.prefix { $0.access.contains(.read) && $0.value.count == first.value.count }
      .prefix(max(1, (mtu - 2) / (2 + size)))
    return .readByTypeResponse(rows.map { .init(handle: $0.handle, value: Array(current($0).prefix(size))) })
  }

  private func readByGroupType(_ range: ClosedRange<UInt16>, _ uuid: AttributeUUID, mtu: Int) -> ATTPDU {
    guard uuid == .primaryService else {
      return .errorResponse(request: 0x10, handle: range.lowerBound, code: .unsupportedGroupType)
    }
    let found = table.attributes(in: range).filter { $0.type == uuid }
    guard let first = found.first else {
      return .errorResponse(request: 0x10, handle: range.lowerBound, code: .attributeNotFound)
    }
    let size = min(first.value.count, mtu - 6)
    let rows = found.prefix { $0.value.count == first.value.count }.prefix(max(1, (mtu - 2) / (4 + size)))
    return .readByGroupTypeResponse(
      rows.map { row in
        .init(handles: table.group(at: row.handle) ?? row.handle...row.handle, value: Array(row.value.prefix(size)))
      })
  }

  private func read(_ handle: UInt16, offset: Int, opcode: UInt8, mtu: Int) -> ATTPDU {
    guard let attribute = table[handle] else { return .errorResponse(request: opcode, handle: handle, code: .invalidHandle) }
    guard attribute.access.contains(.read) else {
      return .errorResponse(request: opcode, handle: handle, code: .readNotPermitted)
    }
    let value = current(attribute)
    guard offset <= value.count else { return .errorResponse(request: opcode, handle: handle, code: .invalidOffset) }
    let part = Array(value.dropFirst(offset).prefix(mtu - 1))
    return opcode == 0x0a ? .readResponse(part) : .readBlobResponse(part)
  }

  private func current(_ attribute: AttributeTable.Attribute) -> [UInt8] {
    guard attribute.type == .clientConfiguration else { return attribute.value }
    return ATTServer.bytes(configurations[attribute.handle, default: 0])
  }

  private static func bytes(_ value: UInt16) -> [UInt8] {
    [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
  }

  private mutating func write(_ handle: UInt16, _ value: ByteView, isRequest: Bool) -> Outcome {
    func refuse(_ code: ATTErrorCode) -> Outcome {
      Outcome(response: isRequest ? .errorResponse(request: 0x12, handle: handle, code: code) : nil)
    }
    guard let attribute = table[handle] else { return refuse(.invalidHandle) }
    guard attribute.access.contains(.write) else { return refuse(.writeNotPermitted) }
    // A value of an attribute has at most 512 bytes, whatever the MTU is.
    guard value.count <= 512 else { return refuse(.invalidValueLength) }
    if attribute.type == .clientConfiguration {
      guard value.count == 2 else { return refuse(.invalidValueLength) }
      configurations[handle] = value.little16
      return Outcome(response: isRequest ? .writeResponse : nil)
    }
    return Outcome(response: isRequest ? .writeResponse : nil, write: (handle, value))
  }
}
