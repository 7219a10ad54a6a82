import Bytes
import CBOR
import COSE
import Crypto

/// Why bytes are no session message. All of them are `sessionDataMalformed` to the session.
package enum SessionMessageViolation: Error, Equatable, Sendable {
  /// Not one CBOR item: truncated, trailing bytes, duplicate keys.
  case notCBOR(CBORError)
  case notMap
  /// A member of the wrong kind.
  case wrongKind(member: String, offset: Int)
  /// A member that has to be there; in SessionData "data" stands for either of the two.
  case missing(member: String)
}

/// The map of a session message within limits.
private func decodeMessage(_ message: ByteView, limits: CBORLimits) throws(SessionMessageViolation) -> CBORItem {
  let root: CBORItem
  do throws(CBORError) {
    root = try decodeCBOR(message, limits: limits)
  } catch {
    throw .notCBOR(error)
  }
  guard root.kind == .map else { throw .notMap }
  return root
}

/// SessionEstablishment (ISO/IEC 18013-5 section 9.1.1.4): the reader's key and its first encrypted request.
package struct SessionEstablishment: Sendable {
  /// EReaderKeyBytes as received, tag 24 included: part of the transcript.
  package let eReaderKeyBytes: ByteView
  private let key: CBORItem
  /// Ciphertext and tag.
  package let data: ByteView

  /// Limits of a message from a reader: requests take a few kilobytes.
  package static let limits = CBORLimits(depth: 16, items: 1000, size: 1 << 20)

  /// Reads the first message. The key in it is not looked at yet.
  package init(_ message: ByteView, limits: CBORLimits = limits) throws(SessionMessageViolation) {
    let root = try decodeMessage(message, limits: limits)
    guard let key = root[key: "eReaderKey"] else { throw .missing(member: "eReaderKey") }
    guard key.embeddedBytes != nil else { throw .wrongKind(member: "eReaderKey", offset: key.offset) }
    guard let data = root[key: "data"] else { throw .missing(member: "data") }
    guard let ciphertext = data.bytes else { throw .wrongKind(member: "data", offset: data.offset) }
    self.key = key
    eReaderKeyBytes = key.encoded
    self.data = ciphertext
  }

  /// The reader's ephemeral key.
  package func eReaderKey() throws(COSEKeyError) -> PublicKey {
    guard let content = try? key.embedded(limits: SessionEstablishment.limits) else { throw .malformed }
    return try PublicKey(coseKey: content)
  }

  /// The message: eReaderKey, then data.
  package static func encode(eReaderKeyBytes: some Collection<UInt8>, data: some Collection<UInt8>) -> [UInt8] {
    var writer = CBORWriter(capacity: eReaderKeyBytes.count + data.count + 32)
    writer.map(count: 2)
    writer.text("eReaderKey")
    writer.raw(eReaderKeyBytes)
    writer.text("data")
    writer.byteString(data)
    return writer.bytes
  }
}

/// SessionData (ISO/IEC 18013-5 section 9.1.1.4): every later message, in both directions.
package struct SessionData: Equatable, Sendable {
  /// Ciphertext and tag.
  package let data: ByteView?
  /// `Status` has the known values; any other number may come.
  package let status: UInt64?

  /// Status codes (table 20).
  package enum Status {
    /// The sender could not decrypt.
    package static let encryptionError: UInt64 = 10
    /// The sender could not read the CBOR.
    package static let decodingError: UInt64 = 11
    /// The session is over.
    package static let termination: UInt64 = 20
  }

  package init(data: ByteView? = nil, status: UInt64? = nil) {
    self.data = data
    self.status = status
  }

  /// Reads a message: at least one of the two members, unknown members ignored.
  package init(_ message: ByteView, limits: CBORLimits = CBORLimits()) throws(SessionMessageViolation) {
    let root = try decodeMessage(message, limits: limits)
    let data = root[key: "data"]
    let status = root[key: "status"]
    guard data != nil || status != nil else { throw .missing(member: "data") }
    if let data, data.kind != .bytes { throw .wrongKind(member: "data", offset: data.offset) }
    if let status, status.kind != .unsigned { throw .wrongKind(member: "status", offset: status.offset) }
    self.data = data?.bytes
    self.status = status?.uint
  }

  /// The message: data, then status, what there is of them.
  package func encode() -> [UInt8] {
    var writer = CBORWriter(capacity: (data?.count ?? 0) + 32)
    writer.map(count: (data == nil ? 0 : 1) + (status == nil ? 0 : 1))
    if let data {
      writer.text("data")
      writer.byteString(data)
    }
    if let status {
      writer.text("status")
      writer.unsigned(status)
    }
    return writer.bytes
  }
}
