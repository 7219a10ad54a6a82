import Bytes
import CBOR
import Crypto
import Mdoc

@testable import MdocSession

typealias Instant = ContinuousClock.Instant

/// Tests count time from here; no clock runs.
let start = ContinuousClock.now

extension ReaderSession {
  /// Feeds an input and gives all that comes out.
  mutating func outputs(of input: Input, at now: Instant = start) -> [Output] {
    handle(input, at: now)
    return drain()
  }

  mutating func drain() -> [Output] { all { nextOutput() } }
}

extension HolderSession {
  /// Feeds an input and gives all that comes out.
  mutating func outputs(of input: Input, at now: Instant = start) -> [Output] {
    handle(input, at: now)
    return drain()
  }

  mutating func drain() -> [Output] { all { nextOutput() } }
}

private func all<Output>(_ next: () -> Output?) -> [Output] {
  var outputs: [Output] = []
  while let output = next() { outputs.append(output) }
  return outputs
}

extension [ReaderSession.Output] {
  var sent: [[UInt8]] { compactMap { if case .send(let message) = $0 { message } else { nil } } }
  var responses: [[UInt8]] { compactMap { if case .response(let response) = $0 { response } else { nil } } }
  var outcome: SessionOutcome? {
    lazy.compactMap { if case .finished(let outcome) = $0 { outcome } else { nil } }.first
  }
}

extension [HolderSession.Output] {
  var sent: [[UInt8]] { compactMap { if case .send(let message) = $0 { message } else { nil } } }
  var requests: [[UInt8]] { compactMap { if case .request(let request) = $0 { request } else { nil } } }
  var outcome: SessionOutcome? {
    lazy.compactMap { if case .finished(let outcome) = $0 { outcome } else { nil } }.first
  }
}

let requestBytes = Array("a request".utf8)
let responseBytes = Array("a response".utf8)
func status(_ number: UInt64) -> [UInt8] { SessionData(status: number).encode() }

/// A reader and a holder that have seen the same code; both still wait for the link.
func sessions(
  on curve: Curve = .p256, afterResponse: ReaderSession.AfterResponse = .terminate,
  limits: SessionLimits = SessionLimits()
) throws -> Sessions {
  let holderKey = try PrivateKey.generate(curve)
  let engagement = DeviceEngagementDraft(key: holderKey.publicKey).encode()
  var reader = try ReaderSession(
    engagement: DeviceEngagement(engagement), ephemeralKey: PrivateKey.generate(curve), request: requestBytes,
    afterResponse: afterResponse, limits: limits, at: start)
  var holder = HolderSession(engagement: engagement, key: holderKey, limits: limits, at: start)
  _ = reader.drain()
  _ = holder.drain()
  return Sessions(reader: reader, holder: holder)
}

/// Both ends of a session; not copyable, like what they are made of.
struct Sessions: ~Copyable {
  var reader: ReaderSession
  var holder: HolderSession
  /// A message that the holder has made and the reader has not seen.
  var message: [UInt8] = []

  /// Brings both to where the request is with the holder.
  mutating func requested() {
    _ = holder.outputs(of: .linkStarted)
    for message in reader.outputs(of: .linkStarted).sent { _ = holder.outputs(of: .message(message[...])) }
  }

  /// The message with which the holder answers.
  mutating func answer(endsSession: Bool = false) -> [UInt8] {
    holder.outputs(of: .respond(responseBytes, endsSession: endsSession)).sent.first ?? []
  }

  /// The message with which the holder answers wrongly.
  mutating func wrongAnswer(_ override: SealOverride) -> [UInt8] {
    holder.outputs(of: .respondWrongly(responseBytes, override)).sent.first ?? []
  }
}
