import Bytes
import CBOR
import Issuer
import Mdoc
import MdocVerification
import Testing

@Suite("Shapes of an answer")
struct AnswerShapeTests {
  private static let shapes: [(String, CBORValue?, Set<String>)] = [
    ("absent", nil, ["noDocuments"]), ("null", .null, ["responseMalformed"]), ("empty", .array([]), ["noDocuments"]),
    ("a map", .map([]), ["responseMalformed"]), ("a number", 5, ["responseMalformed"]),
    ("text", "documents", ["responseMalformed"]), ("a list of null", .array([.null]), ["responseMalformed"]),
    ("a list of an empty map", .array([.map([])]), ["responseMalformed"]),
    ("a list in tag 24", .embedded(.array([])), ["responseMalformed"]),
  ]

  @Test("status 0 promises nothing about documents: each other shape has its reason", arguments: shapes.indices)
  func documents(index: Int) throws {
    let (title, documents, failures) = AnswerShapeTests.shapes[index]
    let response = CBORValue.map(["version": "1.0", "status": 0]).replacing("documents", with: documents)
    let verdict = try TestVisit().verdict(on: response.encode())
    #expect(!verdict.isVerified && verdict.failures == failures && verdict.texts.count == 1, "\(title)")
  }

  @Test("two documents are two verdicts, and one that fails is not made up for by the other")
  func two() throws {
    var visit = try TestVisit()
    let good = try visit.presentation(visit.issue()).document()
    let now = visit.now
    let over = try visit.presentation(visit.issue { $0.validUntil = now.adding(seconds: -1) }).document()
    let both = try visit.verdict(on: DeviceResponseDraft(documents: [good, good]).encode())
    #expect(both.isVerified && both.documents.count == 2)
    let mixed = try visit.verdict(on: DeviceResponseDraft(documents: [good, over]).encode())
    #expect(!mixed.isVerified && mixed.documents.map(\.isVerified) == [true, false] && mixed.failures == ["expired"])
  }

  @Test(
    "a status beside 0 is told by its number, whatever comes with it",
    arguments: [1, 10, 11, 12, 20, 1 << 31, 1 << 32, 1 << 63, .max] as [UInt64])
  func statuses(status: UInt64) throws {
    var visit = try TestVisit()
    let document = try visit.presentation(visit.issue()).document()
    for documents in [[], [document]] {
      let verdict = try visit.verdict(on: DeviceResponseDraft(documents: documents, status: status).encode())
      #expect(verdict.failures == ["responseStatus(\(status))"] && verdict.documents.isEmpty)
    }
  }

  @Test("what is missing is what did not come, whatever the wallet says about it")
  func missing() throws {
    var visit = try TestVisit()
    let document = try visit.presentation(visit.issue()).document()
    let asked = ["family_name", "given_name", "age_over_18", "portrait"]
    func errors(_ elements: [String]) -> CBORValue {
      .map([TestVisit.nameSpace: .map(elements.map { CBORValue.Pair(.text($0), 0) })])
    }
    let claims: [CBORValue?] = [
      nil, errors(["given_name", "portrait"]),
      // Against the data: what came is said to be missing, and nothing is said of what is.
      errors(["family_name", "age_over_18"]), errors([]), errors(asked), .map([]),
      .map(["org.example": .map(["x": -9])]),
    ]
    for claim in claims {
      let verdict = try visit.verdict(on: document.replacing("errors", with: claim), asking: asked)
      #expect(verdict.isVerified && verdict.texts.isEmpty)
      let verified = try #require(verdict.documents.first?.verified)
      #expect(verified.missing.map(\.element) == ["given_name", "portrait"])
      #expect(verified.elements.map(\.name.element) == ["family_name", "age_over_18"])
    }
    let malformed = document.replacing("errors", with: "none")
    #expect(try visit.verdict(on: malformed, asking: asked).failures == ["responseMalformed"])
  }

  @Test("another age statement answers a limit where it decides it, and is left aside where it does not")
  func ages() throws {
    var visit = try TestVisit()
    for (asked, given, value, answer) in [
      (23, 25, true, .yes), (21, 25, true, .yes), (21, 18, false, .no), (21, 18, true, .unknown),
      (21, 25, false, .unknown), (21, 21, true, .yes), (21, 21, false, .no),
    ] as [(Int, Int, Bool, AgeAnswer)] {
      let credential = try visit.issue([Element("age_over_\(given)", .bool(value))])
      let verdict = try visit.verdict(on: credential, asking: ["age_over_\(asked)"])
      let verified = try #require(verdict.documents.first?.verified)
      #expect(verified.ages.map(\.answer) == [answer], "\(asked): \(given) \(value)")
      #expect(verified.missing.isEmpty == (answer != .unknown))
      #expect(
        verdict.texts
          == (answer == .unknown ? ["dropped unrequestedElement(org.iso.18013.5.1, age_over_\(given))"] : []))
    }
  }

  @Test(
    "other spellings of an age are elements that nobody knows",
    arguments: ["age_over_0", "age_over_018", "age_over_100", "Age_over_18", "age_over_1x", "age_over_+9"])
  func ageSpellings(identifier: String) throws {
    var visit = try TestVisit()
    let verdict = try visit.verdict(on: visit.issue([Element(identifier, true)]), asking: ["age_over_18", identifier])
    let verified = try #require(verdict.documents.first?.verified)
    #expect(verified.ages.map(\.answer) == [.unknown] && verified.missing.map(\.element) == ["age_over_18"])
    #expect(verified.elements.map(\.name.element) == [identifier])
  }
}
