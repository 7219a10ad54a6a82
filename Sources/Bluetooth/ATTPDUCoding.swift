import Bytes

extension ATTPDU {
  /// Reads one PDU, all of it. Throws when its length or its format is not that of its opcode.
  package init(_ bytes: ByteView) throws(Violation) {
    guard let opcode = bytes.first else { throw .empty }
    var body = Parameters(opcode: opcode, rest: bytes.dropFirst())
    switch opcode {
    case Opcode.errorResponse:
      self = .errorResponse(
        request: try body.byte(), handle: try body.handle(), code: ATTErrorCode(rawValue: try body.byte()))
      try body.end()
    case Opcode.exchangeMTURequest:
      self = .exchangeMTURequest(try body.word())
      try body.end()
    case Opcode.exchangeMTUResponse:
      self = .exchangeMTUResponse(try body.word())
      try body.end()
    case Opcode.findInformationRequest:
      self = .findInformationRequest(try body.range())
      try body.end()
    case Opcode.findInformationResponse: self = .findInformationResponse(try body.information())
    case Opcode.findByTypeValueRequest:
      self = .findByTypeValueRequest(
        try body.range(), type: UUID128(short: try body.word()), value: body.rest)
    case Opcode.findByTypeValueResponse: self = .findByTypeValueResponse(try body.ranges())
    case Opcode.readByTypeRequest: self = .readByTypeRequest(try body.range(), type: try body.type())
    case Opcode.readByTypeResponse: self = .readByTypeResponse(try body.values())
    case Opcode.readRequest:
      self = .readRequest(try body.handle())
      try body.end()
    case Opcode.readResponse: self = .readResponse(body.rest)
    case Opcode.readBlobRequest:
      self = .readBlobRequest(try body.handle(), offset: try body.word())
      try body.end()
    case Opcode.readBlobResponse: self = .readBlobResponse(body.rest)
    case Opcode.readByGroupTypeRequest: self = .readByGroupTypeRequest(try body.range(), type: try body.type())
    case Opcode.readByGroupTypeResponse: self = .readByGroupTypeResponse(try body.groups())
    case Opcode.writeRequest: self = .writeRequest(try body.handle(), body.rest)
    case Opcode.writeResponse:
      self = .writeResponse
      try body.end()
    case Opcode.writeCommand: self = .writeCommand(try body.handle(), body.rest)
    case Opcode.notification: self = .notification(try body.handle(), body.rest)
    case Opcode.indication: self = .indication(try body.handle(), body.rest)
    case Opcode.confirmation:
      self = .confirmation
      try body.end()
    default: self = .other(opcode)
    }
  }

  /// The parameters of a PDU that are still to be read.
  private struct Parameters {
    let opcode: UInt8
    var rest: ByteView

    mutating func byte() throws(Violation) -> UInt8 {
      guard let byte = rest.popFirst() else { throw .length(opcode: opcode) }
      return byte
    }

    mutating func word() throws(Violation) -> UInt16 {
      let low = try byte()
      return UInt16(low) | UInt16(try byte()) << 8
    }

    mutating func handle() throws(Violation) -> AttributeHandle { AttributeHandle(try word()) }

    mutating func range() throws(Violation) -> HandleRange { HandleRange(try handle(), try handle()) }

    /// All that is left, as a type of 2 or 16 bytes.
    mutating func type() throws(Violation) -> UUID128 {
      guard let type = UUID128(wire: rest) else { throw .length(opcode: opcode) }
      rest = []
      return type
    }

    func end() throws(Violation) {
      guard rest.isEmpty else { throw .length(opcode: opcode) }
    }

    /// All that is left, cut into entries of `size` bytes: one at least, and nothing over.
    func entries(_ size: Int) throws(Violation) -> [ByteView] {
      guard !rest.isEmpty, rest.count.isMultiple(of: size) else { throw .length(opcode: opcode) }
      return stride(from: rest.startIndex, to: rest.endIndex, by: size).map { rest[$0..<$0 + size] }
    }

    /// Entries after their size; an entry has `least` bytes in front of its value.
    mutating func sizedEntries(least: Int) throws(Violation) -> [ByteView] {
      let size = Int(try byte())
      guard size >= least else { throw .format(opcode: opcode) }
      return try entries(size)
    }

    mutating func information() throws(Violation) -> [Information] {
      let size: Int
      switch try byte() {
      case 1: size = 2
      case 2: size = 16
      default: throw .format(opcode: opcode)
      }
      var result: [Information] = []
      for entry in try entries(2 + size) {
        guard let type = UUID128(wire: entry.dropFirst(2)) else { throw .format(opcode: opcode) }
        result.append(Information(handle: handle(of: entry), type: type))
      }
      return result
    }

    mutating func ranges() throws(Violation) -> [HandleRange] {
      try entries(4).map(range(of:))
    }

    mutating func values() throws(Violation) -> [Value] {
      try sizedEntries(least: 2).map { Value(handle: handle(of: $0), value: $0.dropFirst(2)) }
    }

    mutating func groups() throws(Violation) -> [Group] {
      try sizedEntries(least: 4).map { Group(range: range(of: $0), value: $0.dropFirst(4)) }
    }

    private func handle(of entry: ByteView) -> AttributeHandle {
      AttributeHandle(UInt16(entry[entry.startIndex]) | UInt16(entry[entry.startIndex + 1]) << 8)
    }

    private func range(of entry: ByteView) -> HandleRange {
      HandleRange(handle(of: entry), handle(of: entry.dropFirst(2)))
    }
  }
}

extension ATTPDU {
  /// The bytes of the PDU. Entries of a list must have one size; that is for the caller to see to.
  package var encoded: [UInt8] {
    switch self {
    case .errorResponse(let request, let handle, let code):
      [Opcode.errorResponse, request] + handle.wire + [code.rawValue]
    case .exchangeMTURequest(let mtu): [Opcode.exchangeMTURequest] + mtu.wire
    case .exchangeMTUResponse(let mtu): [Opcode.exchangeMTUResponse] + mtu.wire
    case .findInformationRequest(let range): [Opcode.findInformationRequest] + range.wire
    case .findInformationResponse(let entries):
      [Opcode.findInformationResponse, entries.first?.type.short == nil ? 2 : 1]
        + entries.flatMap { $0.handle.wire + $0.type.wire }
    case .findByTypeValueRequest(let range, let type, let value):
      [Opcode.findByTypeValueRequest] + range.wire + type.wire.prefix(2) + value
    case .findByTypeValueResponse(let ranges): [Opcode.findByTypeValueResponse] + ranges.flatMap(\.wire)
    case .readByTypeRequest(let range, let type): [Opcode.readByTypeRequest] + range.wire + type.wire
    case .readByTypeResponse(let entries):
      [Opcode.readByTypeResponse, UInt8(clamping: 2 + (entries.first?.value.count ?? 0))]
        + entries.flatMap { $0.handle.wire + $0.value }
    case .readRequest(let handle): [Opcode.readRequest] + handle.wire
    case .readResponse(let value): [Opcode.readResponse] + value
    case .readBlobRequest(let handle, let offset): [Opcode.readBlobRequest] + handle.wire + offset.wire
    case .readBlobResponse(let value): [Opcode.readBlobResponse] + value
    case .readByGroupTypeRequest(let range, let type): [Opcode.readByGroupTypeRequest] + range.wire + type.wire
    case .readByGroupTypeResponse(let groups):
      [Opcode.readByGroupTypeResponse, UInt8(clamping: 4 + (groups.first?.value.count ?? 0))]
        + groups.flatMap { $0.range.wire + $0.value }
    case .writeRequest(let handle, let value): [Opcode.writeRequest] + handle.wire + value
    case .writeResponse: [Opcode.writeResponse]
    case .writeCommand(let handle, let value): [Opcode.writeCommand] + handle.wire + value
    case .notification(let handle, let value): [Opcode.notification] + handle.wire + value
    case .indication(let handle, let value): [Opcode.indication] + handle.wire + value
    case .confirmation: [Opcode.confirmation]
    case .other(let opcode): [opcode]
    }
  }
}

extension UInt16 {
  /// Little-endian, as on the air.
  fileprivate var wire: [UInt8] { [UInt8(truncatingIfNeeded: self), UInt8(self >> 8)] }
}

extension AttributeHandle {
  var wire: [UInt8] { rawValue.wire }
}

extension HandleRange {
  fileprivate var wire: [UInt8] { first.wire + last.wire }
}
