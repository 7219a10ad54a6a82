import Bytes

/// The client half of ATT: one request at a time, and 30 seconds for its response. Which request comes next is for
/// `ClientSetup` to say.
package struct ATTClient: Sendable {
  package typealias Instant = ContinuousClock.Instant

  /// The transaction timer (Core, Vol 3, Part F, 3.3.3). After it no request may follow on this connection.
  package static let transactionLimit = Duration.seconds(30)

  /// What a PDU of the peer is to the request that is outstanding.
  package enum Match: Equatable, Sendable {
    case answer(ATTPDU)
    case refused(ATTErrorCode)
    /// Nothing was asked: to be ignored.
    case unexpected
    /// The answer to something else, or no PDU at all.
    case invalid
  }

  private var outstanding: (opcode: UInt8, deadline: Instant)?
  /// Requests that were answered or refused.
  package private(set) var roundTrips = 0

  package init() {}

  /// When the outstanding request fails; nil when there is none.
  package var deadline: Instant? { outstanding?.deadline }

  /// The bytes of a request, to be sent now. None may be outstanding.
  package mutating func request(_ pdu: ATTPDU, at now: Instant) -> [UInt8] {
    assert(outstanding == nil, "one request at a time")
    let bytes = pdu.encoded
    outstanding = (bytes[0], now + ATTClient.transactionLimit)
    return bytes
  }

  /// Takes a PDU whose purpose is `response`.
  package mutating func receive(_ bytes: ByteView) -> Match {
    guard let request = outstanding, let opcode = bytes.first else { return .unexpected }
    guard let pdu = try? ATTPDU(bytes) else { return .invalid }
    if case .errorResponse(let refused, _, let code) = pdu {
      guard refused == request.opcode else { return .invalid }
      outstanding = nil
      roundTrips += 1
      return .refused(code)
    }
    // Each response has the opcode after that of its request.
    guard opcode == request.opcode + 1 else { return .invalid }
    outstanding = nil
    roundTrips += 1
    return .answer(pdu)
  }
}
