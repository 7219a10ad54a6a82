import Bytes
import CBOR
import Issuer
import Mdoc
import MdocVerification
import TestSupport
import Testing

/// One change of a response.
private struct Change: CustomStringConvertible {
  let kind: String
  let position: Int
  /// A byte that is doubled stands before the next one as much as after the one that it repeats.
  var touched: [Int] { kind == "doubled" ? [position, position + 1] : [position] }
  let bytes: [UInt8]

  var description: String { "\(kind) at \(position): \(bytes.hex)" }

  /// Every single bit, every byte lost, doubled, and replaced by one of another's choice.
  static func all(of bytes: [UInt8], random: inout SplitMix64) -> [Change] {
    var changes: [Change] = []
    for position in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[position] ^= 1 << UInt8(bit)
        changes.append(Change(kind: "bit \(bit)", position: position, bytes: changed))
      }
      var replaced = bytes
      replaced[position] = bytes[position] &+ UInt8.random(in: 1...255, using: &random)
      changes.append(Change(kind: "byte", position: position, bytes: replaced))
      var doubled = bytes
      doubled.insert(bytes[position], at: position)
      changes.append(Change(kind: "doubled", position: position, bytes: doubled))
      var shorter = bytes
      shorter.remove(at: position)
      changes.append(Change(kind: "lost", position: position, bytes: shorter))
    }
    return changes
  }
}

/// An answer with everything that nothing vouches for: messages about what is kept back, and headers nobody reads.
private struct Answer {
  private static let own = "org.example.device"
  private var visit: TestVisit
  let bytes: [UInt8]

  init(_ method: DeviceAuthenticationMethod) throws {
    var random = SplitMix64(state: 41)
    visit = try TestVisit(deviceKey: try .make(.p256, random: &random))
    let unread = [CBORValue.Pair(4, .bytes(Array("kid".utf8))), CBORValue.Pair("note", "nobody reads this")]
    let credential = try visit.issue { terms in
      terms.keyAuthorizations = .map(["nameSpaces": .array([.text(Answer.own)])])
      terms.editIssuerAuth = { parts in
        if case .map(let members) = parts[1] { parts[1] = .map(members + unread) }
      }
    }
    var presentation = visit.presentation(credential, method)
    presentation.selection.missing = [.init(nameSpace: TestVisit.nameSpace, identifier: "portrait")]
    presentation.deviceNameSpaces = .map([Answer.own: .map(["note": "home"])])
    var proof = try presentation.deviceAuth(method)
    if case .array(var parts) = proof.value {
      parts[1] = .map(unread)
      proof = CBORValue.Pair(proof.key, .array(parts))
    }
    bytes = DeviceResponseDraft(
      documents: [presentation.document(deviceAuth: .map([proof]))], notReturned: ["org.example.other"]
    ).encode()
  }

  func verifier() throws -> (Verifier, Verifier.Circumstances) {
    try visit.verifier(asking: [
      (TestVisit.nameSpace, TestVisit.elements.map(\.identifier) + ["portrait"]), (Answer.own, ["note"]),
    ])
  }
}

@Suite("Every change of an answer")
struct ResponseMutationTests {
  @Test(
    "a bit, a byte that is lost, doubled or another, anywhere: nothing verifies that was not said",
    arguments: DeviceAuthenticationMethod.allCases)
  func changes(method: DeviceAuthenticationMethod) throws {
    let answer = try Answer(method)
    let (verifier, circumstances) = try answer.verifier()
    let genuine = Shown(try #require(verifier.verify(answer.bytes[...], in: circumstances).documents.first?.verified))
    let unread = try UnreadBytes(in: answer.bytes)
    var random = SplitMix64(state: 18013)
    var borne: [UnreadBytes.Reason: Set<Int>] = [:]
    let all = Change.all(of: answer.bytes, random: &random)
    let changes = stride(from: 0, to: all.count, by: TestStride.step).map { all[$0] }
    for change in changes {
      let verdict = verifier.verify(change.bytes[...], in: circumstances)
      guard let document = verdict.documents.lazy.compactMap(\.verified).first else { continue }
      guard let reason = change.touched.lazy.compactMap(unread.reason).first else {
        Issue.record("\(change) verifies")
        continue
      }
      #expect(verdict.documents.count == 1 && reason.allows(Shown(document), of: genuine), "\(change)")
      borne[reason, default: []].insert(change.position)
    }
    print("\(method): \(answer.bytes.count) bytes, \(changes.count) changes; verified although changed:")
    for reason in UnreadBytes.Reason.allCases {
      let positions = unread.ranges.filter { $0.reason == reason }.reduce(0) { $0 + $1.range.count }
      print("  at \(borne[reason]?.count ?? 0) of \(positions) bytes: \(reason.rawValue)")
      // A reason that excuses nothing has no place here.
      #expect(borne[reason] != nil, "\(reason)")
    }
  }

  @Test("an answer that is cut short or goes on verifies nothing", arguments: DeviceAuthenticationMethod.allCases)
  func cuts(method: DeviceAuthenticationMethod) throws {
    let answer = try Answer(method)
    let (verifier, circumstances) = try answer.verifier()
    for count in answer.bytes.indices {
      let verdict = verifier.verify(answer.bytes[..<count], in: circumstances)
      #expect(verdict.failures == ["responseMalformed"] && verdict.documents.isEmpty, "\(count) bytes")
    }
    for surplus in UInt8.min ... .max {
      let verdict = verifier.verify((answer.bytes + [surplus])[...], in: circumstances)
      #expect(verdict.failures == ["responseMalformed"] && verdict.documents.isEmpty, "\(surplus)")
    }
  }
}
