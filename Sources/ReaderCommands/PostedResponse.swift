import Bytes
import CBOR
import Commands
import JSON

/// A response as a wallet posts it online (OpenID4VP 1.0 section 8, ISO/IEC 18013-7 Annex B): JSON around presentations.
struct PostedResponse {
  /// One presentation, which for an mdoc is a DeviceResponse.
  struct Presentation {
    /// The credential query that it answers; nil in the older forms, which have none.
    let id: String?
    /// Its place among several for the same query.
    let index: Int
    let content: Result<[UInt8], Unreadable>

    /// For people: `mdl[0]`.
    var name: String { CBORDiagnostic.escaped(id ?? "vp_token", keepingQuotes: true) + "[\(index)]" }
  }

  /// Why a presentation gives no bytes.
  enum Unreadable: Error, Equatable {
    case noText
    case noBase64(Base64.Violation)

    var text: String {
      switch self {
      case .noText: "no text, so no mdoc; it may be of another format"
      case .noBase64(.character(let offset)):
        "no base64url at character \(offset + 1); it may be of another format than mso_mdoc"
      case .noBase64: "no base64url: its length or its end is not right"
      }
    }
  }

  let presentations: [Presentation]
  /// Whether `vp_token` is a text by itself, as in Annex B and the drafts.
  let isBare: Bool

  /// The JSON that `input` is: the whole response, or the value of its `vp_token`; nil for what is no JSON, and then the
  /// input itself may be a DeviceResponse. Throws what keeps it from being a response.
  init?(_ input: InspectionInput, file: String) throws(CommandError) {
    guard input.form == .otherText, let first = input.bytes.first(where: { $0 > 0x20 }) else { return nil }
    func failure(_ why: String, hint: String) -> CommandError { .failure(quoted(file), why, hint: hint) }
    if input.bytes.starts(with: "eyJ".utf8) {
      let isEncrypted = input.bytes.count { $0 == UInt8(ascii: ".") } == 4
      throw failure(
        isEncrypted ? "an encrypted response (JWE)" : "a JSON Web Token, and no response of a wallet",
        hint: "decrypt it first, and give the JSON that was in it")
    }
    if ["vp_token=", "response=", "state="].contains(where: { input.bytes.starts(with: $0.utf8) }) {
      throw failure("a form as it was posted", hint: "give the value of its field vp_token, without percent encoding")
    }
    guard first == UInt8(ascii: "{") || first == UInt8(ascii: "\"") else { return nil }
    guard let value = JSONValue(reading: input.bytes) else {
      throw failure("JSON that cannot be read", hint: "give the response whole; a name may be in an object once only")
    }
    if value["vp_token"] == nil, let error = value["error"]?.string {
      let more = value["error_description"]?.string.map { ": " + CBORDiagnostic.escaped($0, keepingQuotes: true) } ?? ""
      throw failure(
        "the wallet answered with the error \(CBORDiagnostic.escaped(error, keepingQuotes: true))\(more)",
        hint: "there is nothing to verify")
    }
    do throws(Shape) {
      (presentations, isBare) = try PostedResponse.read(value["vp_token"] ?? value)
    } catch {
      throw failure(
        error.why, hint: "OpenID4VP 1.0 has an object in vp_token: query ids, and an array of texts for each")
    }
  }

  /// What is wrong with a `vp_token`.
  private struct Shape: Error { let why: String }

  private static func read(_ token: JSONValue) throws(Shape) -> ([Presentation], isBare: Bool) {
    var presentations: [Presentation] = []
    var isBare = false
    func take(_ elements: [JSONValue], _ id: String?) {
      for (index, element) in elements.enumerated() {
        presentations.append(Presentation(id: id, index: index, content: decode(element)))
      }
    }
    switch token {
    case .string:
      take([token], nil)
      isBare = true
    case .array(let elements): take(elements, nil)
    case .object(let members):
      for member in members {
        let name = CBORDiagnostic.escaped(member.key, keepingQuotes: true)
        guard case .array(let elements) = member.value else {
          throw Shape(why: "no vp_token: \(name) is no array of presentations")
        }
        guard !elements.isEmpty else { throw Shape(why: "\(name) in vp_token has no presentation") }
        take(elements, member.key)
      }
    default: throw Shape(why: "vp_token is neither object nor text")
    }
    guard !presentations.isEmpty else { throw Shape(why: "vp_token has no presentation") }
    return (presentations, isBare)
  }

  private static func decode(_ element: JSONValue) -> Result<[UInt8], Unreadable> {
    guard let text = element.string else { return .failure(.noText) }
    do throws(Base64.Violation) {
      return .success(try Base64.url.decode(text))
    } catch {
      return .failure(.noBase64(error))
    }
  }
}
