import Bytes
import CBOR
import Crypto
import Foundation
import Mdoc
import TestSupport
import Testing

@testable import MdocSession

/// A file of the reference data, kind "session".
private struct SessionCase: Decodable {
  struct Key: Decodable {
    let curve, d: String
  }
  struct Step: Decodable {
    let plaintext, failure, reply: String?
    let code: UInt64?
    let ends: Bool
  }
  struct Expected: Decodable {
    let steps: [Step]
  }
  let name, engagement, handover: String
  let readerKey: Key
  let incoming: [String]
  let expected: Expected

  func session() throws -> ReaderSession {
    let curve = try #require(Curve(rawValue: readerKey.curve))
    let scalar = try #require(bytes(hex: readerKey.d))
    let handover = try #require(bytes(hex: handover))
    let engagement = try #require(bytes(hex: engagement))
    return try ReaderSession(
      engagement: DeviceEngagement(engagement), ephemeralKey: PrivateKey(curve: curve, scalar: scalar),
      handover: .encoded(handover), request: [], afterResponse: .stayOpen, at: start)
  }
}

extension SessionCase.Step {
  /// What the reader has to do in this step, deadlines apart.
  func outputs() throws -> [ReaderSession.Output] {
    var outputs: [ReaderSession.Output] = []
    if let plaintext { outputs.append(.response(try #require(bytes(hex: plaintext)))) }
    if let reply { outputs.append(.send(try #require(bytes(hex: reply)))) }
    guard ends else { return outputs }
    switch failure {
    case nil: outputs.append(.finished(.completed))
    case "sessionDataMalformed": outputs.append(.finished(.failed(.sessionDataMalformed)))
    case "decryptionFailed": outputs.append(.finished(.failed(.decryptionFailed)))
    case "sessionTerminatedByPeer": outputs.append(.finished(.failed(.sessionTerminatedByPeer)))
    case "unexpectedStatus": outputs.append(.finished(.failed(.unexpectedStatus(try #require(code)))))
    case let unknown?: Issue.record("no failure is called \(unknown)")
    }
    return outputs
  }
}

@Suite("Session verdicts of the reference data")
struct SessionVerdictTests {
  @Test("every session goes through exactly its declared steps")
  func steps() throws {
    let names = try sharedCases(in: "vectors/verdicts/session")
    guard !names.isEmpty else { return }
    #expect(names.count >= 25)
    var tally = VectorTally("session verdicts")
    for name in names {
      let data = try #require(try sharedBytes("vectors/verdicts/session/\(name)"))
      let entry = try JSONDecoder().decode(SessionCase.self, from: Data(data))
      var session = try entry.session()
      _ = session.drain()
      _ = session.outputs(of: .linkStarted)
      var steps = entry.expected.steps[...]
      var isAsDeclared = true
      for message in entry.incoming {
        let incoming = try #require(bytes(hex: message))
        let outputs = session.outputs(of: .message(incoming[...])).filter { if case .wake = $0 { false } else { true } }
        isAsDeclared = try outputs == steps.popFirst()?.outputs() ?? [] && isAsDeclared
      }
      tally.count(entry.name, ["steps": isAsDeclared, "end": steps.isEmpty])
    }
    #expect(tally.failures == [])
    print(tally)
  }
}
