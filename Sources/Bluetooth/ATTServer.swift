import Bytes

/// The server half of ATT: answers each request at once, from a fixed table. It asks for nothing by itself.
package struct ATTServer: Sendable {
  /// What a peer did that matters beyond the answer.
  package enum Event: Equatable, Sendable {
    /// A value was written, with or without response.
    case written(MdocCharacteristic, ByteView)
    /// Notifications of a characteristic were switched.
    case subscribed(MdocCharacteristic, Bool)
    /// The peer offers an MTU.
    case mtuOffered(UInt16)
  }

  /// What one PDU leads to.
  package struct Outcome: Equatable, Sendable {
    /// To be sent before anything else; nil for a command.
    package var response: ATTPDU?
    package var event: Event?
  }

  private let table: AttributeTable
  private let offer: UInt16
  private var subscriptions: Set<MdocCharacteristic> = []

  /// - Parameter offer: the MTU that is offered to a client that asks, in bytes.
  package init(_ table: AttributeTable, offer: Int = ATTMTU.offer) {
    self.table = table
    self.offer = UInt16(clamping: offer)
  }

  /// Whether the peer wants notifications of a characteristic.
  package func isSubscribed(to characteristic: MdocCharacteristic) -> Bool { subscriptions.contains(characteristic) }

  /// The handle of a characteristic's value.
  package func value(of characteristic: MdocCharacteristic) -> AttributeHandle? { table.value(of: characteristic) }

  /// Answers a PDU whose purpose is `request` or `command`. Malformed requests are refused, malformed commands ignored.
  package mutating func handle(_ bytes: ByteView, mtu: ATTMTU) -> Outcome {
    guard let opcode = bytes.first else { return Outcome() }
    let isRequest = ATTPDU.purpose(of: opcode) == .request
    guard let pdu = try? ATTPDU(bytes) else {
      return isRequest ? refusal(of: opcode, .none, .invalidPDU) : Outcome()
    }
    switch pdu {
    case .exchangeMTURequest(let peer):
      return Outcome(response: .exchangeMTUResponse(offer), event: .mtuOffered(peer))
    case .findInformationRequest(let range): return findInformation(range, mtu)
    case .findByTypeValueRequest(let range, let type, let value): return findByTypeValue(range, type, value, mtu)
    case .readByTypeRequest(let range, let type): return readByType(range, type, mtu)
    case .readByGroupTypeRequest(let range, let type): return readByGroupType(range, type, mtu)
    case .readRequest(let handle): return read(handle, offset: nil, mtu)
    case .readBlobRequest(let handle, let offset): return read(handle, offset: Int(offset), mtu)
    case .writeRequest(let handle, let value): return write(handle, value)
    case .writeCommand(let handle, let value): return Outcome(event: write(handle, value).event)
    default: return isRequest ? refusal(of: opcode, .none, .requestNotSupported) : Outcome()
    }
  }

  private func refusal(of opcode: UInt8, _ handle: AttributeHandle, _ code: ATTErrorCode) -> Outcome {
    Outcome(response: .errorResponse(request: opcode, handle: handle, code: code))
  }

  // MARK: Discovery

  private func findInformation(_ range: HandleRange, _ mtu: ATTMTU) -> Outcome {
    let opcode = ATTPDU.Opcode.findInformationRequest
    guard range.isValid else { return refusal(of: opcode, range.first, .invalidHandle) }
    var entries: [ATTPDU.Information] = []
    var size = 0
    for (handle, attribute) in table.attributes(in: range) {
      let typeSize = attribute.type.wire.count
      if entries.isEmpty { size = typeSize }
      guard typeSize == size, 2 + (entries.count + 1) * (2 + size) <= mtu.value else { break }
      entries.append(ATTPDU.Information(handle: handle, type: attribute.type))
    }
    guard !entries.isEmpty else { return refusal(of: opcode, range.first, .attributeNotFound) }
    return Outcome(response: .findInformationResponse(entries))
  }

  private func findByTypeValue(_ range: HandleRange, _ type: UUID128, _ value: ByteView, _ mtu: ATTMTU) -> Outcome {
    let opcode = ATTPDU.Opcode.findByTypeValueRequest
    guard range.isValid else { return refusal(of: opcode, range.first, .invalidHandle) }
    var found: [HandleRange] = []
    for (handle, attribute) in table.attributes(in: range) where attribute.type == type {
      guard case .value(let own) = attribute.content, own.elementsEqual(value) else { continue }
      guard 1 + (found.count + 1) * 4 <= mtu.value else { break }
      found.append(table.service(at: handle) ?? HandleRange(handle, handle))
    }
    guard !found.isEmpty else { return refusal(of: opcode, range.first, .attributeNotFound) }
    return Outcome(response: .findByTypeValueResponse(found))
  }

  private func readByType(_ range: HandleRange, _ type: UUID128, _ mtu: ATTMTU) -> Outcome {
    let opcode = ATTPDU.Opcode.readByTypeRequest
    guard range.isValid else { return refusal(of: opcode, range.first, .invalidHandle) }
    var entries: [ATTPDU.Value] = []
    for (handle, attribute) in table.attributes(in: range) where attribute.type == type {
      guard let value = readableValue(of: attribute) else {
        // Only the first attribute that matches may refuse; a later one ends the list.
        guard entries.isEmpty else { break }
        return refusal(of: opcode, handle, .readNotPermitted)
      }
      let shown = value.prefix(min(mtu.value - 4, 253))
      if let first = entries.first, first.value.count != shown.count { break }
      guard 2 + (entries.count + 1) * (2 + shown.count) <= mtu.value else { break }
      entries.append(ATTPDU.Value(handle: handle, value: shown))
    }
    guard !entries.isEmpty else { return refusal(of: opcode, range.first, .attributeNotFound) }
    return Outcome(response: .readByTypeResponse(entries))
  }

  private func readByGroupType(_ range: HandleRange, _ type: UUID128, _ mtu: ATTMTU) -> Outcome {
    let opcode = ATTPDU.Opcode.readByGroupTypeRequest
    guard range.isValid else { return refusal(of: opcode, range.first, .invalidHandle) }
    guard type == .primaryService || type == .secondaryService else {
      return refusal(of: opcode, range.first, .unsupportedGroupType)
    }
    var groups: [ATTPDU.Group] = []
    for (handle, attribute) in table.attributes(in: range) where attribute.type == type {
      guard case .value(let value) = attribute.content, let service = table.service(at: handle) else { continue }
      if let first = groups.first, first.value.count != value.count { break }
      guard 2 + (groups.count + 1) * (4 + value.count) <= mtu.value else { break }
      groups.append(ATTPDU.Group(range: service, value: value[...]))
    }
    guard !groups.isEmpty else { return refusal(of: opcode, range.first, .attributeNotFound) }
    return Outcome(response: .readByGroupTypeResponse(groups))
  }

  // MARK: Reading and writing

  private func readableValue(of attribute: AttributeTable.Attribute) -> ByteView? {
    switch attribute.content {
    case .value(let value): value[...]
    case .stream: nil
    case .configuration(let characteristic): [isSubscribed(to: characteristic) ? 1 : 0, 0]
    }
  }

  /// `offset` is nil for a plain read.
  private func read(_ handle: AttributeHandle, offset: Int?, _ mtu: ATTMTU) -> Outcome {
    let opcode = offset == nil ? ATTPDU.Opcode.readRequest : ATTPDU.Opcode.readBlobRequest
    guard let attribute = table.attribute(handle) else { return refusal(of: opcode, handle, .invalidHandle) }
    guard let value = readableValue(of: attribute) else { return refusal(of: opcode, handle, .readNotPermitted) }
    guard let offset else { return Outcome(response: .readResponse(value.prefix(mtu.value - 1))) }
    guard offset <= value.count else { return refusal(of: opcode, handle, .invalidOffset) }
    return Outcome(response: .readBlobResponse(value.dropFirst(offset).prefix(mtu.value - 1)))
  }

  private mutating func write(_ handle: AttributeHandle, _ value: ByteView) -> Outcome {
    let opcode = ATTPDU.Opcode.writeRequest
    guard let attribute = table.attribute(handle) else { return refusal(of: opcode, handle, .invalidHandle) }
    switch attribute.content {
    case .stream(let characteristic) where characteristic.properties & MdocCharacteristic.writeWithoutResponse != 0:
      // The properties name the write command only; a client that writes with response is served all the same.
      return Outcome(response: .writeResponse, event: .written(characteristic, value))
    case .value, .stream: return refusal(of: opcode, handle, .writeNotPermitted)
    case .configuration(let characteristic):
      guard value.count == 2 else { return refusal(of: opcode, handle, .invalidValueLength) }
      switch Array(value) {
      case [1, 0]: subscriptions.insert(characteristic)
      case [0, 0]: subscriptions.remove(characteristic)
      default: return refusal(of: opcode, handle, .configurationImproper)
      }
      return Outcome(response: .writeResponse, event: .subscribed(characteristic, value.first == 1))
    }
  }
}
