import Bytes
import JSON
import Web

/// One request to a party at a step and what its answer says, with the rules that hold for all: bounded, no redirect, JSON where
/// JSON is due, error codes one to one.
struct ServerDialogue {
  let exchange: WebExchange
  let party: IssuanceError.Party
  let step: IssuanceError.Step

  func failure(_ problem: IssuanceError.Problem) -> IssuanceError { IssuanceError(party, step, problem) }

  /// The answer, of whatever status but a redirect.
  func answer(to request: WebRequest, size: Int) throws(IssuanceError) -> WebAnswer {
    let answer: WebAnswer
    do {
      answer = try exchange(request, limits: WebLimits(size: size))
    } catch {
      throw failure(.noAnswer(printable(error.code)))
    }
    // Whoever carries requests may count otherwise: what is read here is bounded here.
    guard answer.body.count <= size else { throw failure(.noAnswer("tooLarge")) }
    guard !(300..<400).contains(answer.status) else { throw failure(.redirected) }
    return answer
  }

  /// The document at an address.
  func document(at address: WebAddress, size: Int) throws(IssuanceError) -> JSONValue {
    let answer = try answer(to: .get(address, accept: "application/json"), size: size)
    guard answer.status == 200 else { throw failure(.status(answer.status)) }
    return try object(in: answer)
  }

  /// The JSON object of an answer. What calls itself something else is none, whatever it looks like.
  func object(in answer: WebAnswer) throws(IssuanceError) -> JSONValue {
    guard let type = answer.mediaType, type == "application/json" || type.hasSuffix("+json"),
      let value = JSONValue(reading: answer.body), case .object = value
    else { throw failure(.notJSON) }
    return value
  }

  /// What an answer without success says.
  ///
  /// - Parameter secrets: texts that a server could repeat in its description: such a description is not kept.
  func refusal(_ answer: WebAnswer, secrets: [String] = []) -> IssuanceError {
    guard let refusal = Refusal(answer) else { return failure(.status(answer.status)) }
    return failure(refusal.problem(secrets: secrets))
  }
}

/// The error code of an answer, out of its body or of `WWW-Authenticate` (RFC 6750, section 3).
struct Refusal: Equatable {
  /// As sent.
  let code: String
  let description: String

  init(code: String, description: String) {
    self.code = code
    self.description = description
  }

  init?(_ answer: WebAnswer) {
    if answer.mediaType == "application/json", let body = JSONValue(reading: answer.body),
      let code = body["error"]?.string
    {
      self.init(code: code, description: body["error_description"]?.string ?? "")
    } else if let challenge = answer[header: "WWW-Authenticate"],
      let code = Refusal.parameter("error", of: challenge)
    {
      self.init(code: code, description: Refusal.parameter("error_description", of: challenge) ?? "")
    } else {
      return nil
    }
  }

  func problem(secrets: [String]) -> IssuanceError.Problem {
    let isRepeating = secrets.contains { !$0.isEmpty && (description.contains($0) || code.contains($0)) }
    let text = isRepeating ? "" : printable(description)
    if let known = IssuanceErrorCode(rawValue: code) { return .refused(known, text) }
    if IssuanceErrorCode.ofDrafts.contains(code) { return .issuerSpeaksDraft(code) }
    return .refusedOtherwise(isRepeating ? "" : printable(code), text)
  }

  /// A quoted parameter of a challenge; nil when it is not there. A quoted string with escapes is not looked for: no code has any.
  private static func parameter(_ name: String, of challenge: String) -> String? {
    let bytes = Array(challenge.utf8.prefix(4096))
    let pattern = Array("\(name)=\"".utf8)
    guard bytes.count >= pattern.count else { return nil }
    for start in 0...(bytes.count - pattern.count) where bytes[start...].starts(with: pattern) {
      let isWhole = start == 0 || [UInt8(ascii: " "), UInt8(ascii: ",")].contains(bytes[start - 1])
      guard isWhole else { continue }
      let value = bytes[(start + pattern.count)...].prefix { $0 != UInt8(ascii: "\"") }
      return String(decoding: value, as: UTF8.self)
    }
    return nil
  }
}
