import Bytes

/// An attribute handle. 0 is no attribute.
package struct AttributeHandle: RawRepresentable, Hashable, Comparable, Sendable {
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }
  package init(_ value: UInt16) { rawValue = value }

  package static let none = AttributeHandle(0)
  package static let last = AttributeHandle(0xffff)

  package static func < (left: AttributeHandle, right: AttributeHandle) -> Bool { left.rawValue < right.rawValue }

  /// The handle after this one; nil after the last.
  package var next: AttributeHandle? { rawValue == 0xffff ? nil : AttributeHandle(rawValue + 1) }
}

/// A first and a last handle as they stand in a PDU; what a peer sends need not be a range.
package struct HandleRange: Hashable, Sendable {
  package let first: AttributeHandle
  package let last: AttributeHandle

  package init(_ first: AttributeHandle, _ last: AttributeHandle) {
    self.first = first
    self.last = last
  }

  /// Every handle there can be.
  package static let all = HandleRange(AttributeHandle(1), .last)

  /// Whether the handles are in order and the first is not 0.
  package var isValid: Bool { first != .none && first <= last }

  package func contains(_ handle: AttributeHandle) -> Bool { first <= handle && handle <= last }
}

/// An error code of ATT (Core, Vol 3, Part F, 3.4.1.1).
package struct ATTErrorCode: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let invalidHandle = ATTErrorCode(rawValue: 0x01)
  package static let readNotPermitted = ATTErrorCode(rawValue: 0x02)
  package static let writeNotPermitted = ATTErrorCode(rawValue: 0x03)
  package static let invalidPDU = ATTErrorCode(rawValue: 0x04)
  package static let requestNotSupported = ATTErrorCode(rawValue: 0x06)
  package static let invalidOffset = ATTErrorCode(rawValue: 0x07)
  package static let attributeNotFound = ATTErrorCode(rawValue: 0x0a)
  package static let invalidValueLength = ATTErrorCode(rawValue: 0x0d)
  package static let unsupportedGroupType = ATTErrorCode(rawValue: 0x10)
  package static let configurationImproper = ATTErrorCode(rawValue: 0xfd)
}

/// One PDU of the attribute protocol (Core, Vol 3, Part F, 3.4). Values are views of the bytes they came in.
package enum ATTPDU: Equatable, Sendable {
  case errorResponse(request: UInt8, handle: AttributeHandle, code: ATTErrorCode)
  case exchangeMTURequest(UInt16)
  case exchangeMTUResponse(UInt16)
  case findInformationRequest(HandleRange)
  /// All types in one response have the same size on the air.
  case findInformationResponse([Information])
  case findByTypeValueRequest(HandleRange, type: UUID128, value: ByteView)
  case findByTypeValueResponse([HandleRange])
  case readByTypeRequest(HandleRange, type: UUID128)
  /// All values in one response have the same length.
  case readByTypeResponse([Value])
  case readRequest(AttributeHandle)
  case readResponse(ByteView)
  case readBlobRequest(AttributeHandle, offset: UInt16)
  case readBlobResponse(ByteView)
  case readByGroupTypeRequest(HandleRange, type: UUID128)
  /// All values in one response have the same length.
  case readByGroupTypeResponse([Group])
  case writeRequest(AttributeHandle, ByteView)
  case writeResponse
  case writeCommand(AttributeHandle, ByteView)
  case notification(AttributeHandle, ByteView)
  case indication(AttributeHandle, ByteView)
  case confirmation
  /// A PDU that we do not use, by its opcode; its parameters are not looked at.
  case other(UInt8)

  /// A handle and the type of the attribute there.
  package struct Information: Equatable, Sendable {
    package let handle: AttributeHandle
    package let type: UUID128
  }

  /// A handle and the value of the attribute there.
  package struct Value: Equatable, Sendable {
    package let handle: AttributeHandle
    package let value: ByteView
  }

  /// The handles of a service and the value of its declaration.
  package struct Group: Equatable, Sendable {
    package let range: HandleRange
    package let value: ByteView
  }

  /// Opcodes by name.
  package enum Opcode {
    package static let errorResponse: UInt8 = 0x01
    package static let exchangeMTURequest: UInt8 = 0x02
    package static let exchangeMTUResponse: UInt8 = 0x03
    package static let findInformationRequest: UInt8 = 0x04
    package static let findInformationResponse: UInt8 = 0x05
    package static let findByTypeValueRequest: UInt8 = 0x06
    package static let findByTypeValueResponse: UInt8 = 0x07
    package static let readByTypeRequest: UInt8 = 0x08
    package static let readByTypeResponse: UInt8 = 0x09
    package static let readRequest: UInt8 = 0x0a
    package static let readResponse: UInt8 = 0x0b
    package static let readBlobRequest: UInt8 = 0x0c
    package static let readBlobResponse: UInt8 = 0x0d
    package static let readMultipleResponse: UInt8 = 0x0f
    package static let readByGroupTypeRequest: UInt8 = 0x10
    package static let readByGroupTypeResponse: UInt8 = 0x11
    package static let writeRequest: UInt8 = 0x12
    package static let writeResponse: UInt8 = 0x13
    package static let prepareWriteResponse: UInt8 = 0x17
    package static let executeWriteResponse: UInt8 = 0x19
    package static let notification: UInt8 = 0x1b
    package static let indication: UInt8 = 0x1d
    package static let confirmation: UInt8 = 0x1e
    package static let readMultipleVariableResponse: UInt8 = 0x21
    package static let multipleNotification: UInt8 = 0x23
    package static let writeCommand: UInt8 = 0x52
  }

  /// What a PDU is for, by its opcode alone.
  package enum Purpose: Equatable, Sendable {
    /// Wants a response. Every opcode nobody has given a meaning counts here, for only these are to be refused.
    case request
    case response
    /// Wants none and is ignored where it is not understood (bit 6).
    case command
    case notification
    case indication
    case confirmation
  }

  /// The purpose of the PDUs of an opcode.
  package static func purpose(of opcode: UInt8) -> Purpose {
    if opcode & 0x40 != 0 { return .command }
    switch opcode {
    case Opcode.errorResponse, Opcode.exchangeMTUResponse, Opcode.findInformationResponse,
      Opcode.findByTypeValueResponse, Opcode.readByTypeResponse, Opcode.readResponse, Opcode.readBlobResponse,
      Opcode.readMultipleResponse, Opcode.readByGroupTypeResponse, Opcode.writeResponse, Opcode.prepareWriteResponse,
      Opcode.executeWriteResponse, Opcode.readMultipleVariableResponse:
      return .response
    case Opcode.notification, Opcode.multipleNotification: return .notification
    case Opcode.indication: return .indication
    case Opcode.confirmation: return .confirmation
    default: return .request
    }
  }

  /// Why bytes are no PDU.
  package enum Violation: Error, Equatable, Sendable {
    /// Not even an opcode.
    case empty
    /// Fewer or more parameters than the opcode has.
    case length(opcode: UInt8)
    /// A format or an entry size that does not exist.
    case format(opcode: UInt8)
  }
}
