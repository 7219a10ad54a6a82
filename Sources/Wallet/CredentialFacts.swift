import CBOR
import COSE
import Crypto
import JSON
import Mdoc

/// What `list` and `show` say about a credential. Values are personal data and come only when they are asked for.
package struct CredentialFacts {
  package let docType: String
  private let stored: StoredCredential
  private let status: CredentialStatus?
  private let mso: MobileSecurityObject?
  /// Of the document; nil when it names none that can be read.
  package let signer: Certificate?

  /// - Parameter status: nil where it was not asked for.
  package init(_ stored: StoredCredential, status: CredentialStatus? = nil) {
    self.stored = stored
    self.status = status
    docType = stored.credential.docType
    let auth = (try? decodeCBOR(stored.credential.issuerAuth)).flatMap { try? COSESign1($0) }
    mso = auth?.structure.payload.flatMap {
      try? MobileSecurityObject(payload: $0, dates: .init(acceptsFraction: true, acceptsUntagged: true))
    }
    signer = auth?.structure.x5chain.first.flatMap { try? Certificate($0) }
  }

  /// The end of validity, or that it cannot be read.
  package var validUntil: String { mso?.validity.validUntil.description ?? "unreadable" }

  private var members: [(name: String, value: String)] {
    var members = facts
    if let status { members.append((name: "status", value: status.text)) }
    return members
  }

  /// Apart, with its type said: the oldest compiler gives up on it otherwise.
  private var facts: [(name: String, value: String)] {
    [
      ("valid from", mso?.validity.validFrom.description ?? "unreadable"), ("valid until", validUntil),
      ("digests", mso?.digestAlgorithm ?? "unreadable"),
      ("device key", "\(stored.credential.deviceKey.curve.rawValue), answers with a \(stored.method.rawValue)"),
      ("signer", signer?.subject.description ?? "unreadable"),
      ("issuer", signer?.issuer.description ?? "unreadable"),
    ]
  }

  package func text(file: String, showsValues: Bool) -> String {
    var text = "\(docType)  (\(file))\n"
    for member in members { text += "  \(member.name.padded(to: 12))\(member.value)\n" }
    for space in stored.credential.nameSpaces {
      text += "  \(space.name)\n"
      for item in space.items {
        text += "    \(item.identifier.padded(to: 26)) \(describe(item, showsValues: showsValues))\n"
      }
    }
    return text
  }

  package func json(file: String, showsValues: Bool) -> JSONValue {
    let spaces = stored.credential.nameSpaces.map { space in
      JSONValue.Member(
        space.name,
        .object(space.items.map { .init($0.identifier, .string(describe($0, showsValues: showsValues))) }))
    }
    var members: [JSONValue.Member] = [
      .init("file", .string(file)), .init("docType", .string(docType)),
      .init("validFrom", (mso?.validity.validFrom.description).map(JSONValue.string) ?? .null),
      .init("validUntil", (mso?.validity.validUntil.description).map(JSONValue.string) ?? .null),
      .init("curve", .string(stored.credential.deviceKey.curve.rawValue)),
      .init("auth", .string(stored.method.rawValue)),
    ]
    if let status { members.append(.init("status", .string(status.text))) }
    return .object(members + [.init("nameSpaces", .object(spaces))])
  }

  private func describe(_ item: Credential.Item, showsValues: Bool) -> String {
    guard let value = item.value.map(ElementValue.init) else { return "unreadable" }
    return showsValues ? plainText(value) : kindText(value)
  }
}

/// The kind of a value, without anything of its content but the size of bytes.
package func kindText(_ value: ElementValue) -> String {
  switch value {
  case .bool: "bool"
  case .string: "text"
  case .int, .unsigned, .double: "number"
  case .date: "date"
  case .dateTime: "date and time"
  case .data(let bytes): "\(bytes.count) bytes"
  case .map(let members): "map of \(members.count)"
  case .array(let elements): "array of \(elements.count)"
  case .null: "null"
  case .unreadable: "unreadable"
  }
}

/// A value as text for its holder. Control characters do not reach the terminal.
package func plainText(_ value: ElementValue) -> String {
  switch value {
  case .bool(let flag): flag ? "true" : "false"
  case .string(let text): terminalSafe(text)
  case .int(let number): String(number)
  case .unsigned(let number): String(number)
  case .double(let number): String(number)
  case .date(let date): date.description
  case .dateTime(let time): time.instant.description
  case .data(let bytes): "\(bytes.count) bytes"
  case .map(let members):
    "{" + members.map { terminalSafe($0.key) + ": " + plainText($0.value) }.joined(separator: ", ") + "}"
  case .array(let elements): "[" + elements.map(plainText).joined(separator: ", ") + "]"
  case .null: "null"
  case .unreadable: "unreadable"
  }
}

/// Text of strangers for a terminal: what could move the cursor or hide text becomes a question mark.
package func terminalSafe(_ text: String) -> String {
  var result = ""
  for scalar in text.unicodeScalars.prefix(400) {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: result += "?"
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result
}

extension String {
  /// With blanks behind it, to a width in characters.
  package func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
