import Bytes
import CBOR
import Crypto
import JSON
import Mdoc
import TrustStore

/// What a look into an input found: facts for people and tools, and what is wrong with it.
///
/// Nothing in it has been verified. Element values are in it only when `showsValues` says so.
struct Inspection {
  /// What it was taken for.
  var subject: String
  var facts: [JSONValue.Member] = []
  /// Why it is not what it was taken for; empty when it is.
  private(set) var problems: [String] = []
  /// What is unusual and does no harm by itself.
  private(set) var warnings: [String] = []
  /// Diagnostic notation, for CBOR.
  private(set) var diagnostic: String?
  let showsValues: Bool

  init(_ input: InspectionInput, showsValues: Bool) {
    self.showsValues = showsValues
    subject = appearance(of: input)
    switch input.form {
    case .pem: inspectCertificates(input.bytes)
    case .uri: inspectURI(input.bytes)
    case .otherText: problems.append("neither CBOR, nor hexadecimal or base64 text of such, nor a certificate")
    case .binary, .hexadecimal, .base64, .base64url:
      if CertificateInput.isDER(input.bytes) { inspectCertificates(input.bytes) } else { inspectCBOR(input.bytes) }
    }
  }

  // MARK: Facts

  mutating func add(_ key: String, _ value: JSONValue?) {
    if let value { facts.append(JSONValue.Member(key, value)) }
  }

  mutating func problem(_ text: String) { problems.append(text) }
  mutating func warn(_ text: String) { warnings.append(text) }

  /// A name space, an element identifier or a doc type; a text that cannot be one may be anything.
  func name(_ text: String, when isHarmless: (String) -> Bool = CBORDisclosure.isName) -> JSONValue {
    if isHarmless(text) { return .string(text) }
    return .string(showsValues ? text : "/ text, \(text.utf8.count) bytes /")
  }

  /// The notation of a value, or its kind and size.
  func value(_ item: CBORItem) -> JSONValue {
    .string(
      showsValues
        ? CBORDiagnostic(.nothing, showsValues: true, lineLength: .max).text(of: item) : CBORDiagnostic.kind(of: item))
  }

  /// An error for people; without values its path ends where keys may be somebody's data.
  func text(of error: CBORError) -> String { showsValues ? error.description : error.disclosedDescription }

  // MARK: Kinds of input

  private mutating func inspectURI(_ bytes: [UInt8]) {
    subject = "mdoc: URI"
    let uri: EngagementURI
    do throws(EngagementURI.Violation) {
      uri = try EngagementURI(content: bytes)
    } catch {
      problems.append("\(error.code): \(error.explanation)")
      return
    }
    inspectCBOR(uri.engagement)
  }

  private mutating func inspectCBOR(_ bytes: [UInt8]) {
    let item: CBORItem
    do throws(CBORError) {
      item = try decodeCBOR(bytes)
    } catch {
      problems.append("not one well-formed CBOR item: \(text(of: error))")
      return
    }
    var root = item.untagged(55799)
    var content = ArraySlice(bytes)
    if let inner = root.embeddedBytes {
      do throws(CBORError) {
        root = try root.embedded()
        content = inner
      } catch {
        problems.append("the item inside tag 24: \(text(of: error))")
      }
    }
    let subject = InspectionSubject(root)
    self.subject = subject.rawValue
    diagnostic = CBORDiagnostic(subject.disclosure, showsValues: showsValues).text(of: item)
    switch subject {
    case .engagement: inspectEngagement(content)
    case .establishment: inspectEstablishment(content)
    case .sessionData: inspectSessionData(content)
    case .request: inspectRequest(content)
    case .response: inspectResponse(content, root)
    case .document: add("document", inspectDocument(root, at: ""))
    case .issuerSigned: facts += inspectIssuerSigned(root, at: "")
    case .issuerAuth: facts += inspectIssuerAuth(root, at: "")
    case .securityObject:
      let payload = embedCBOR(root.encoded)
      facts += inspectObject(payload[...], at: "")
    case .item: inspectItem(root)
    case .other: add("kind", .string(CBORDiagnostic.kind(of: root)))
    }
  }

  private mutating func inspectItem(_ root: CBORItem) {
    for missing in Inspection.missingMembers(of: root) {
      problem("\(missing): missing or of the wrong kind in the map at byte \(root.offset)")
    }
    add("element", root[key: "elementIdentifier"]?.text.map { name($0) })
    add("value", root[key: "elementValue"].map(value))
    add("digestID", root[key: "digestID"]?.uint.map { .string("\($0)") })
    add("randomSize", root[key: "random"]?.bytes.map { .integer($0.count) })
  }

  // MARK: Output

  /// Everything as JSON, for tools.
  func json(form: InspectionInput.Form) -> JSONValue {
    .object([
      "subject": .string(subject), "form": .string(form.rawValue), "valuesShown": .bool(showsValues),
      "facts": .object(facts), "warnings": .array(warnings.map(JSONValue.string)),
      "problems": .array(problems.map(JSONValue.string)), "diagnostic": diagnostic.map(JSONValue.string),
    ])
  }

  /// Everything that is data, as lines for people; problems are not in it.
  func lines(form: InspectionInput.Form) -> [String] {
    var lines = ["\(subject), from \(form.rawValue)"] + factLines(.object(facts), indent: 2)
    lines += warnings.map { "  warning: \(CBORDiagnostic.escaped($0, keepingQuotes: true))" }
    if let diagnostic {
      lines += [
        "", "diagnostic notation\(showsValues ? "" : " (without values; --show-values shows them)"):", diagnostic,
      ]
    }
    return lines
  }
}

extension EngagementURI.Violation {
  fileprivate var explanation: String {
    switch self {
    case .otherScheme: "it does not begin with mdoc:"
    case .websiteForm: "mdoc:// is the form of websites (ISO/IEC 18013-7), not of a code that a reader scans"
    case .tooLong(let limit): "longer than \(limit) characters"
    case .empty: "nothing follows mdoc:"
    case .notASCII(let offset): "a character that is not ASCII at byte \(offset)"
    case .whitespace(let offset): "a space or line end inside the text at byte \(offset)"
    case .padding(let offset): "an equals sign at byte \(offset): base64url has no padding here"
    case .character(let offset): "a character outside the base64url alphabet at byte \(offset)"
    case .length: "its number of characters is that of no base64url text: some are missing"
    case .spareBits: "the last character has bits that belong to no byte: it was cut or changed"
    }
  }
}
