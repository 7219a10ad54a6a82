import Bytes
import CBOR
import CivilTime
import Crypto
import Foundation
import Issuer
import Mdoc
import TestSupport
import Testing

@testable import ReaderCommands

/// Values that must not come out, in the forms they could.
private let marker = "MARKER"
private let number: Int64 = 735_128_946
private let traces = [
  marker, Array(marker.utf8).hex, Base64.standard.encode(Array(marker.utf8)), "\(number)", "1987-06-05", "54321.5",
]

private func leaks(_ text: String) -> [String] {
  traces.filter { text.contains($0) }
}

/// A value of every kind, each with the marker in it.
private let values: [CBORValue] = [
  .text(marker), .bytes(Array(marker.utf8)), .bytes(Array((marker + marker + marker).utf8)), .int(number),
  .int(-1 - number),
  .double(54321.5), .tag(1004, "1987-06-05"), .tag(0, "1987-06-05T00:00:00Z"), .tag(0, .text(marker)),
  .array([.text(marker), .array([.text(marker)])]), .map([.init(.text(marker), .text(marker))]),
  .map(["vehicle_category_code": .text(marker), "codes": .array([.map(["code": .text(marker)])])]),
  .map(["docType": .text(marker), "version": .text(marker), "elementIdentifier": .text(marker)]),
  .map([.init(.int(number), .text(marker))]), .embedded(.text(marker)),
  .embedded(.map(["elementIdentifier": .text(marker), "elementValue": .text(marker)])), .tag(99, .text(marker)),
  .tag(24, .bytes(Array(marker.utf8))),
]

private struct Sample {
  let document: CBORValue
  let item: CBORValue

  init() throws {
    var random = SplitMix64(state: 7)
    let now = try #require(DateTime("2026-06-01T12:00:00Z")).instant
    let authority = try IssuerAuthority(
      curve: .p256, country: "UT", state: nil, notBefore: now.adding(seconds: -8_640_000), random: &random)
    let signer = try authority.makeSigner(
      curve: .p256, notBefore: now.adding(seconds: -864_000), notAfter: now.adding(seconds: 864_000), random: &random)
    var terms = IssuanceTerms(now: now)
    terms.status = .map([
      "status_list": .map(["idx": .int(number), "uri": .text("https://" + marker)]), "other": .text(marker),
    ])
    terms.keyAuthorizations = .map(["nameSpaces": .array(["device.space"])])
    let elements = values.enumerated().map { Element("element_\($0.offset)", $0.element) }
    let deviceKey = try PrivateKey.generate(.p256)
    let credential = try signer.issue(
      docType: "org.iso.18013.5.1.mDL", [NameSpaceContent("org.iso.18013.5.1", elements)], deviceKey: deviceKey,
      terms: terms,
      random: &random)
    var presentation = DocumentPresentation(
      credential, selection: credential.everything, method: .signature, transcript: [0xf6], readerKey: nil)
    presentation.deviceNameSpaces = .map([
      "device.space": .map(
        values.enumerated().map { CBORValue.Pair(.text("element_\($0.offset)"), $0.element) })
    ])
    document = try presentation.document()
    item = .map([
      "digestID": 1, "random": .bytes([UInt8](repeating: 0, count: 16)), "elementIdentifier": "a",
      "elementValue": .text(marker),
    ])
  }

  var response: CBORValue { .map(["version": "1.0", "documents": .array([document]), "status": 0]) }
}

@Suite("What inspect does not show")
struct InspectDisclosureTests {
  private let folder: InspectionFolder
  private let sample: Sample

  init() throws {
    folder = try InspectionFolder()
    sample = try Sample()
  }

  /// Everything that inspect says about an input.
  private func everything(_ bytes: [UInt8]) -> String {
    let input = InspectionInput(content: bytes)
    let inspection = Inspection(input, showsValues: false)
    return inspection.lines(form: input.form).joined(separator: "\n") + inspection.problems.joined(separator: "\n")
      + inspection.json(form: input.form).visibleText
  }

  @Test("no value of any kind in any place of a response, for people and for tools")
  func response() throws {
    let path = try folder.file("response", sample.response.encode())
    for words in [[], ["--json"]] {
      let run = CommandRun(["inspect", path] + words)
      #expect(run.status == 0)
      #expect(leaks(run.out + run.err) == [])
    }
    let shown = CommandRun(["inspect", path, "--show-values"])
    #expect(shown.status == 0 && traces.filter { shown.out.contains($0) }.count >= 5)
  }

  @Test("no value in a response that was cut anywhere, or has a byte changed")
  func damaged() throws {
    let bytes = sample.response.encode()
    for count in stride(from: 1, to: bytes.count, by: 41) { #expect(leaks(everything(Array(bytes[..<count]))) == []) }
    for place in stride(from: 0, to: bytes.count, by: 29) {
      for change: UInt8 in [0x01, 0x20] {
        var damaged = bytes
        damaged[place] ^= change
        // The marker itself may become another word, which is none of the traces.
        #expect(leaks(everything(damaged)) == [], "byte \(place) ^ \(change)")
      }
    }
  }

  @Test("no value in structures that are nested wrongly, whatever they are taken for")
  func wrongNesting() throws {
    let secret = CBORValue.text(marker)
    let item = sample.item
    let embedded = CBORValue.embedded(item)
    let shapes: [CBORValue] = [
      secret, item, embedded, .array([embedded]), .array([item, item]), .map(["x": item]),
      .map(["elementValue": secret]),
      .map(["nameSpaces": .map(["n": .array([item])])]), .map(["nameSpaces": .map(["n": .map(["e": secret])])]),
      .map(["nameSpaces": .array([item])]), .map(["nameSpaces": secret]), .map(["nameSpaces": .map(["n": secret])]),
      .map(["issuerAuth": secret, "nameSpaces": .map(["n": .array([secret])])]),
      .map(["issuerAuth": .array([.bytes(Array(marker.utf8)), .map(labels: [33: secret, 4: secret]), secret, secret])]),
      .map([
        "issuerSigned": .map(["nameSpaces": .map(["n": .array([.embedded(secret)])])]), "docType": .array([secret]),
      ]),
      .map(["deviceSigned": .map(["nameSpaces": .map(["n": .map(["e": secret])]), "deviceAuth": secret])]),
      .map(["deviceSigned": .map(["nameSpaces": .embedded(.map(["n": secret]))])]),
      .map(["documents": secret, "version": secret, "status": secret]),
      .map(["documents": .array([secret, item, embedded]), "version": "1.0", "status": 0]),
      .map(["documents": .map(["d": sample.document])]), .map(["document": sample.document]),
      .array([sample.document, sample.response]), .tag(24, .bytes(sample.response.encode())),
      .tag(55799, sample.response),
      .map(["status": .map(["x": secret]), "version": "1.0"]), .map(["version": secret, "docRequests": secret]),
      .map([
        "version": "1.0",
        "docRequests": .array([
          .map([
            "itemsRequest": .embedded(
              .map(["docType": "a", "nameSpaces": .map(["n": .map(["e": secret])]), "requestInfo": .map(["k": secret])])
            )
          ])
        ]),
      ]),
      .map(labels: [0: secret, 1: .array([secret, secret]), 2: .array([secret, .array([secret, secret, secret])])]),
      .map(labels: [
        0: "1.0", 1: .array([1, .embedded(.map(labels: [1: secret, -1: secret, -2: secret]))]), 7: secret,
      ]),
      .map(["data": secret, "status": secret]), .map(["eReaderKey": secret, "data": .bytes(Array(marker.utf8))]),
      .map(["valueDigests": .map(["n": .map(labels: [1: secret])]), "digestAlgorithm": secret, "version": secret]),
      .map(["validityInfo": .map(["signed": .tag(0, secret), "validFrom": secret]), "digestAlgorithm": "SHA-256"]),
      .map([
        "deviceKeyInfo": .map([
          "deviceKey": .map(labels: [1: secret, 2: secret]), "keyInfo": .map(labels: [1: secret]),
        ])
      ]),
      .map([.init(.array([secret]), 1), .init(.map([.init(secret, secret)]), 2), .init(.bytes(Array(marker.utf8)), 3)]),
    ]
    for shape in shapes + values.filter({ !carriesNames($0) }) {
      let bytes = shape.encode()
      #expect(leaks(everything(bytes)) == [], "\(bytes.hex)")
      #expect(leaks(everything(Array(bytes.dropLast()))) == [], "\(bytes.hex), cut")
      #expect(leaks(everything(Array((bytes.hex).utf8))) == [], "\(bytes.hex), in hexadecimal")
    }
  }

  /// Whether a value, when it is the whole input, has the marker where a name belongs.
  private func carriesNames(_ value: CBORValue) -> Bool {
    value.encode().hex.contains(Array("elementIdentifier".utf8).hex)
  }

  @Test("nothing of a duplicate key within a value")
  func duplicateKey() throws {
    let pair = CBORValue.Pair(.text(marker), .text(marker))
    let item = CBORValue.map([
      "elementIdentifier": "a", "elementValue": .map([pair, pair]), "digestID": 1, "random": .bytes([]),
    ])
    for shape in [
      item, .embedded(item), .map(["nameSpaces": .map(["n": .array([.embedded(item)])]), "issuerAuth": 1]),
    ] {
      let text = everything(shape.encode())
      #expect(text.contains("duplicateKey") && leaks(text) == [])
    }
  }

  @Test("no character that steers a terminal, in names, kinds, errors and shown values")
  func terminal() throws {
    let hostile = "a\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\u{7f}\n"
    let shapes: [CBORValue] = [
      .text(hostile), .map([.init(.text(hostile), .text(hostile))]),
      .map([
        "docType": .text(hostile),
        "issuerSigned": .map([
          "nameSpaces": .map([
            .init(
              .text(hostile),
              .array([
                .embedded(
                  .map([
                    "digestID": 1, "random": .bytes([]), "elementIdentifier": .text(hostile),
                    "elementValue": .text(hostile),
                  ]))
              ]))
          ])
        ]),
      ]),
      .map(["version": .text(hostile), "status": 0, "documentErrors": .array([.map([.init(.text(hostile), 0)])])]),
      .map([
        "version": "1.0",
        "docRequests": .array([
          .map([
            "itemsRequest": .embedded(
              .map([
                "docType": .text(hostile),
                "nameSpaces": .map([.init(.text(hostile), .map([.init(.text(hostile), true)]))]),
              ]))
          ])
        ]),
      ]),
    ]
    for (place, shape) in shapes.enumerated() {
      let path = try folder.file("hostile\(place)", shape.encode())
      for words in [[], ["--show-values"], ["--json"], ["--json", "--show-values"]] {
        let run = CommandRun(["inspect", path] + words)
        let bad = (run.out + run.err).unicodeScalars.filter { scalar in
          scalar != "\n" && (scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) || scalar.value == 0x202e)
        }
        #expect(bad.isEmpty, "shape \(place) \(words)")
      }
    }
  }

  @Test("no value of the field's samples, and none of them fails by itself")
  func samples() throws {
    for directory in ["vectors/device-responses", "vectors/issuer-signed"] {
      for name in try sharedCases(in: directory) {
        let json = try #require(try sharedJSON("\(directory)/\(name)") as? [String: Any])
        let hex = try #require(json["cborHex"] as? String)
        try check(hex, name)
      }
    }
    for (file, accepts) in [
      ("vectors/requests/device-requests.json", true), ("vectors/engagement/engagements.json", false),
    ] {
      guard let list = try sharedJSON(file) as? [[String: Any]] else { continue }
      for json in list {
        let name = try #require(json["name"] as? String)
        let hex = try #require(json["cborHex"] as? String)
        let isGood = json["expect"] as? String == "accept"
        #expect(isGood || !accepts)
        try check(hex, name, status: isGood ? 0 : 1)
      }
    }
  }

  private func check(_ hex: String, _ name: String, status: Int32 = 0) throws {
    let path = try folder.file("sample", text: hex)
    let run = CommandRun(["inspect", path])
    #expect(run.status == status, "\(name): \(run.err)")
    let json = CommandRun(["inspect", path, "--json"])
    #expect(json.status == status)
    // The names of issuers may stand in an element as well.
    let shown = strings(try jsonMembers(json.out)).joined(separator: "\n")
    let isIssuer = { (line: Substring) in line.contains(" subject: ") || line.contains(" issuer: ") }
    let lines = run.out.split(separator: "\n").filter { !isIssuer($0) }.joined(separator: "\n")
    // Long enough not to stand in a name or number by chance.
    for text in elementValues(try decodeCBOR(try #require(bytes(hex: hex)))) where text.utf8.count >= 8 {
      // A day of issue is often that of the signature.
      if CalendarDate(text) != nil || DateTime(text) != nil { continue }
      #expect(!lines.contains(text) && !shown.contains(text), "\(name): a value of \(text.utf8.count) bytes")
    }
  }

  /// All texts of a JSON value but the names of certificates.
  private func strings(_ value: Any) -> [String] {
    switch value {
    case let text as String: [text]
    case let list as [Any]: list.flatMap(strings)
    case let members as [String: Any]:
      members.flatMap { key, value in ["subject", "issuer"].contains(key) ? [] : [key] + strings(value) }
    default: []
    }
  }

  /// The texts within the element values of a response or document.
  private func elementValues(_ item: CBORItem) -> [String] {
    if let inner = item.embeddedBytes { return (try? decodeCBOR(inner)).map(elementValues) ?? [] }
    if let tagged = item.tagged { return elementValues(tagged) }
    if let elements = item.elements { return elements.flatMap(elementValues) }
    guard let entries = item.entries else { return [] }
    return entries.flatMap { key, value in key.text == "elementValue" ? texts(value) : elementValues(value) }
  }

  private func texts(_ item: CBORItem) -> [String] {
    if let text = item.text { return [text] }
    if let tagged = item.tagged { return texts(tagged) }
    if let elements = item.elements { return elements.flatMap(texts) }
    return item.entries?.flatMap { texts($0.value) } ?? []
  }
}
