import Bytes
import CBOR
import JSON
import Mdoc
import MdocVerification

/// A verdict for people and tools. Values are in it only when `showsValues` says so, and only verified ones.
struct VerdictReport {
  private let verdict: Verdict
  private let notes: [String]
  private let showsValues: Bool

  init(_ verdict: Verdict, notes: [String], showsValues: Bool) {
    self.verdict = verdict
    self.notes = notes
    self.showsValues = showsValues
  }

  // MARK: For people

  var lines: [String] {
    var lines = [verdict.isVerified ? "verified" : "NOT verified"]
    for finding in verdict.findings { lines += describe(finding, indent: "  ") }
    for (place, document) in verdict.documents.enumerated() {
      lines.append(
        "document \(place + 1): \(escaped(document.docType)): \(document.isVerified ? "verified" : "NOT verified")")
      if let country = document.verified?.issuingCountry { lines.append("  issuing country: \(escaped(country))") }
      for finding in document.findings { lines += describe(finding, indent: "  ") }
      if let verified = document.verified { lines += describe(verified) }
    }
    return lines
  }

  private func describe(_ finding: Finding, indent: String) -> [String] {
    let reason = finding.reason
    return ["\(indent)\(finding.severity.rawValue) \(reason.check) \(reason.text)", "\(indent)  \(reason.meaning)"]
  }

  private func describe(_ document: VerifiedDocument) -> [String] {
    var lines: [String] = []
    for age in document.ages {
      lines.append("  age: \(age.limit.element): \(age.answer.rawValue) (\(escaped(age.nameSpace)))")
    }
    for nameSpace in nameSpaces(of: document) {
      lines.append("  \(escaped(nameSpace)):")
      for element in document.elements where element.name.nameSpace == nameSpace {
        let value = showsValues ? ": \(element.value.shownText)" : ""
        let origin = element.isDeviceSigned ? ", signed by the device" : ""
        lines.append("    \(escaped(element.name.element)) (\(element.value.kindText)\(origin))\(value)")
      }
      for missing in document.missing where missing.nameSpace == nameSpace {
        lines.append("    \(escaped(missing.element)): not returned")
      }
    }
    return lines
  }

  /// In the order received; those of which nothing came follow.
  private func nameSpaces(of document: VerifiedDocument) -> [String] {
    var names: [String] = []
    for name in document.elements.map(\.name.nameSpace) + document.missing.map(\.nameSpace)
    where !names.contains(name) { names.append(name) }
    return names
  }

  // MARK: For tools

  var json: JSONValue {
    .object([
      "verified": .bool(verdict.isVerified),
      "findings": .array(verdict.allFindings.map(document)),
      "documents": .array(verdict.documents.map(document)),
      "notes": .array(notes.map { .string(escaped($0)) }),
    ])
  }

  private func document(of finding: Finding) -> JSONValue {
    [
      "check": .string(finding.reason.check), "code": .string(finding.reason.code),
      "text": .string(finding.reason.text), "meaning": .string(finding.reason.meaning),
      "severity": .string(finding.severity.rawValue),
      "document": finding.document.map(JSONValue.integer) ?? .null,
    ]
  }

  private func document(of document: DocumentVerdict) -> JSONValue {
    let reasons =
      document.isVerified ? [] : document.findings.filter { $0.severity == .failure || $0.severity == .dropped }
    let verified = document.verified
    return [
      "docType": .string(escaped(document.docType)),
      "verificationResult": [
        "verified": .bool(document.isVerified), "reasons": .array(reasons.map { .string($0.reason.text) }),
      ],
      "issuingCountry": verified?.issuingCountry.map { .string(escaped($0)) } ?? .null,
      "claims": byNameSpace((verified?.elements ?? []).map { ($0.name, claim($0)) }),
      "claimErrors": byNameSpace((verified?.missing ?? []).map { ($0, "notReturned") }),
      "ages": byNameSpace(
        (verified?.ages ?? []).map { age in
          (ElementName(nameSpace: age.nameSpace, element: age.limit.element), .string(age.answer.rawValue))
        }),
    ]
  }

  private func claim(_ element: VerifiedElement) -> JSONValue {
    .object([
      "type": .string(element.value.typeName), "value": showsValues ? element.value.json : nil,
      "deviceSigned": element.isDeviceSigned ? true : nil,
    ])
  }

  private func byNameSpace(_ members: [(ElementName, JSONValue)]) -> JSONValue {
    var spaces: [(name: String, members: [JSONValue.Member])] = []
    for (name, value) in members {
      let member = JSONValue.Member(escaped(name.element), value)
      if let place = spaces.firstIndex(where: { $0.name == name.nameSpace }) {
        spaces[place].members.append(member)
      } else {
        spaces.append((name.nameSpace, [member]))
      }
    }
    return .object(spaces.map { .init(escaped($0.name), .object($0.members)) })
  }

  /// Names and doc types may come from a stranger's phone.
  private func escaped(_ text: String) -> String { CBORDiagnostic.escaped(text, keepingQuotes: true) }
}

extension ElementValue {
  /// The kind as tools read it.
  fileprivate var typeName: String {
    switch self {
    case .bool: "boolean"
    case .string: "string"
    case .int, .unsigned: "integer"
    case .double: "number"
    case .date: "date"
    case .dateTime: "dateTime"
    case .data: "data"
    case .map: "object"
    case .array: "array"
    case .null: "null"
    case .unreadable: "unreadable"
    }
  }

  /// The kind and, where it says something about the form and not the person, the size.
  fileprivate var kindText: String {
    switch self {
    case .data(let bytes): "\(bytes.count) bytes"
    case .map(let members): "map of \(members.count)"
    case .array(let elements): "list of \(elements.count)"
    case .string: "text"
    case .bool: "yes or no"
    default: typeName
    }
  }

  fileprivate var json: JSONValue {
    switch self {
    case .bool(let flag): .bool(flag)
    case .string(let text): .string(text)
    case .int(let number): .integer(Int(number))
    // Beyond 2^63 a number of JSON would be another one.
    case .unsigned(let number): Int(exactly: number).map(JSONValue.integer) ?? .string("\(number)")
    case .double(let number): .double(number)
    case .date(let date): .string("\(date)")
    case .dateTime(let moment): .string("\(moment.instant)")
    case .data(let bytes): .string(Base64.url.encode(bytes))
    case .map(let members):
      .object(members.map { .init(CBORDiagnostic.escaped($0.key, keepingQuotes: true), $0.value.json) })
    case .array(let elements): .array(elements.map(\.json))
    case .null, .unreadable: .null
    }
  }

  /// The value on one line.
  fileprivate var shownText: String {
    switch self {
    case .string(let text): "\"\(CBORDiagnostic.escaped(text))\""
    case .bool(let flag): flag ? "yes" : "no"
    case .int(let number): "\(number)"
    case .unsigned(let number): "\(number)"
    case .double(let number): "\(number)"
    case .date(let date): "\(date)"
    case .dateTime(let moment): "\(moment.instant)"
    case .data(let bytes): "h'\(bytes.hex)'"
    case .map(let members):
      "{" + members.map { "\"\(CBORDiagnostic.escaped($0.key))\": \($0.value.shownText)" }.joined(separator: ", ") + "}"
    case .array(let elements): "[" + elements.map(\.shownText).joined(separator: ", ") + "]"
    case .null: "null"
    case .unreadable: "unreadable"
    }
  }
}
