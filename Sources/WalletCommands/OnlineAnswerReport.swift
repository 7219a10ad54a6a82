import JSON
import Mdoc
import MdocVerification
import OpenID4VP
import Wallet

/// What a verifier makes of an answer. Values of elements are personal data and come only when they are asked for.
struct OnlineAnswerReport {
  private let outcome: VerifierTransaction.Outcome
  private let showsValues: Bool

  init(_ outcome: VerifierTransaction.Outcome, showsValues: Bool) {
    self.outcome = outcome
    self.showsValues = showsValues
  }

  var isVerified: Bool {
    if case .answered(let answer) = outcome { answer.isVerified } else { false }
  }

  var lines: [String] {
    switch outcome {
    case .pending: ["no answer yet"]
    case .refused(let error): ["refused: \(error)"]
    case .invalid(let fault): ["NOT verified: \(fault.code)"]
    case .answered(let answer):
      [answer.isVerified ? "verified" : "NOT verified"]
        + (answer.isSatisfied ? [] : ["  not all that was asked for is there, verified"])
        + answer.parts.flatMap(lines)
    }
  }

  private func lines(_ part: VerifiedAnswer.Part) -> [String] {
    var lines: [String] = []
    for document in part.verdict.documents {
      lines.append("\(part.id.map { $0 + ": " } ?? "")\(terminalSafe(document.docType))")
      for element in document.verified?.elements ?? [] {
        let value = showsValues ? plainText(element.value) : kindText(element.value)
        lines.append("  \(terminalSafe(element.name.nameSpace)) \(terminalSafe(element.name.element)): \(value)")
      }
    }
    return lines + part.verdict.allFindings.map { "  \($0.severity.rawValue): \($0.reason.code)" }
  }

  var json: JSONValue {
    switch outcome {
    case .pending: ["event": "pending"]
    case .refused(let error): ["event": "refused", "error": .string(error)]
    case .invalid(let fault): ["event": "answered", "verified": false, "code": .string(fault.code)]
    case .answered(let answer):
      [
        "event": "answered", "verified": .bool(answer.isVerified), "satisfied": .bool(answer.isSatisfied),
        "presentations": .array(answer.parts.map(json)),
      ]
    }
  }

  private func json(_ part: VerifiedAnswer.Part) -> JSONValue {
    let documents = part.verdict.documents.map { document -> JSONValue in
      let elements = (document.verified?.elements ?? []).map { element -> JSONValue in
        .object([
          "nameSpace": .string(element.name.nameSpace), "element": .string(element.name.element),
          "value": showsValues ? .string(plainText(element.value)) : nil,
        ])
      }
      return ["docType": .string(document.docType), "elements": .array(elements)]
    }
    return .object([
      "id": part.id.map(JSONValue.string), "verified": .bool(part.verdict.isVerified), "documents": .array(documents),
      "findings": .array(
        part.verdict.allFindings.map { ["severity": .string($0.severity.rawValue), "code": .string($0.reason.code)] }),
    ])
  }
}
