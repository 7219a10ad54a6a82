import Bytes
import JSON
import Web

/// Reads members of a JSON object that came from a party at a step, so that what is wrong with one is an error that says whose.
struct MemberReading {
  let object: JSONValue
  let party: IssuanceError.Party
  let step: IssuanceError.Step

  /// - Throws: `notJSON` for anything but an object.
  init(
    _ object: JSONValue?, of party: IssuanceError.Party, at step: IssuanceError.Step
  ) throws(IssuanceError) {
    guard let object, case .object = object else { throw IssuanceError(party, step, .notJSON) }
    self.object = object
    self.party = party
    self.step = step
  }

  func failure(_ problem: IssuanceError.Problem) -> IssuanceError { IssuanceError(party, step, problem) }

  subscript(key: String) -> JSONValue? { object[key] }

  /// A text of at least one and at most so many characters; nil when there is no such member.
  func text(_ key: String, most: Int = IssuanceLimits.opaqueText) throws(IssuanceError) -> String? {
    guard let value = object[key] else { return nil }
    guard let text = value.string, !text.isEmpty, text.utf8.count <= most else { throw failure(.malformed(key)) }
    return text
  }

  func requiredText(_ key: String, most: Int = IssuanceLimits.opaqueText) throws(IssuanceError) -> String {
    guard let text = try text(key, most: most) else { throw failure(.missing(key)) }
    return text
  }

  /// An opaque text that is put into a header, a form or JSON again: visible ASCII only.
  func opaque(_ key: String) throws(IssuanceError) -> String? {
    guard let text = try text(key) else { return nil }
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw failure(.malformed(key)) }
    return text
  }

  /// A list of texts, not empty; nil when there is no such member.
  func texts(_ key: String, most: Int) throws(IssuanceError) -> [String]? {
    guard let value = object[key] else { return nil }
    guard case .array(let elements) = value, !elements.isEmpty else { throw failure(.malformed(key)) }
    guard elements.count <= most else { throw failure(.tooMany(key)) }
    let texts = value.strings
    guard texts.count == elements.count, texts.allSatisfy({ !$0.isEmpty && $0.utf8.count <= WebAddress.longest })
    else { throw failure(.malformed(key)) }
    return texts
  }

  func flag(_ key: String) throws(IssuanceError) -> Bool? {
    guard let value = object[key] else { return nil }
    guard case .bool(let flag) = value else { throw failure(.malformed(key)) }
    return flag
  }

  /// The object under a key; nil when there is no such member.
  func members(_ key: String) throws(IssuanceError) -> MemberReading? {
    guard let value = object[key] else { return nil }
    guard case .object = value else { throw failure(.malformed(key)) }
    return try MemberReading(value, of: party, at: step)
  }

  /// The objects of a list; nil when there is no such member.
  func list(_ key: String, most: Int) throws(IssuanceError) -> [MemberReading]? {
    guard let value = object[key] else { return nil }
    guard case .array(let elements) = value else { throw failure(.malformed(key)) }
    guard elements.count <= most else { throw failure(.tooMany(key)) }
    var result: [MemberReading] = []
    for element in elements {
      guard case .object = element else { throw failure(.malformed(key)) }
      result.append(try MemberReading(element, of: party, at: step))
    }
    return result
  }

  /// An address to which secrets may go; nil when there is no such member.
  func address(_ key: String) throws(IssuanceError) -> WebAddress? {
    guard let text = try text(key, most: WebAddress.longest) else { return nil }
    guard let address = WebAddress(text) else { throw failure(.malformed(key)) }
    guard address.isConfidential else { throw failure(.notConfidential(key)) }
    return address
  }
}
