import Bytes
import TestSupport
import Testing

@testable import CBOR

private func item(_ hex: String) throws -> CBORItem { try decodeCBOR(bytes(hex: hex) ?? []) }

private func everything(_ hex: String) throws -> String {
  CBORDiagnostic(.nothing, showsValues: true).text(of: try item(hex))
}

@Suite("CBOR diagnostic notation")
struct CBORDiagnosticTests {
  @Test(
    "writes the examples of RFC 8949 appendix A as they stand there",
    arguments: [
      ("00", "0"), ("1864", "100"), ("1bffffffffffffffff", "18446744073709551615"), ("20", "-1"), ("3903e7", "-1000"),
      ("3bffffffffffffffff", "-18446744073709551616"), ("f90000", "0.0"), ("f98000", "-0.0"),
      ("fb3ff199999999999a", "1.1"),
      ("fb7e37e43c8800759c", "1e+300"), ("f97c00", "Infinity"), ("f9fc00", "-Infinity"), ("f97e00", "NaN"),
      ("f4", "false"),
      ("f5", "true"), ("f6", "null"), ("f7", "undefined"), ("f0", "simple(16)"), ("f8ff", "simple(255)"),
      ("c074323031332d30332d32315432303a30343a30305a", "0(\"2013-03-21T20:04:00Z\")"),
      ("d74401020304", "23(h'01020304')"), ("d818456449455446", "24(<<\"IETF\">>)"), ("40", "h''"), ("60", "\"\""),
      ("62225c", "\"\\\"\\\\\""), ("62c3bc", "\"ü\""), ("80", "[]"), ("8301820203820405", "[1, [2, 3], [4, 5]]"),
      ("a201020304", "{1: 2, 3: 4}"), ("826161a161626163", "[\"a\", {\"b\": \"c\"}]"),
      ("5f42010243030405ff", "(_ h'0102', h'030405')"), ("7f657374726561646d696e67ff", "(_ \"strea\", \"ming\")"),
      ("9f018202039f0405ffff", "[_ 1, [2, 3], [_ 4, 5]]"), ("bf61610161629f0203ffff", "{_ \"a\": 1, \"b\": [_ 2, 3]}"),
    ])
  func appendix(hex: String, text: String) throws {
    #expect(try everything(hex) == text)
  }

  @Test(
    "hides everything when nothing is named",
    arguments: [
      ("1864", "/ integer /"), ("20", "/ integer /"), ("f5", "/ bool /"), ("f6", "/ simple value /"),
      ("f93c00", "/ number /"),
      ("6141", "/ text, 1 byte /"), ("7f6141624243ff", "/ text, 3 bytes /"), ("420102", "/ bytes, 2 bytes /"),
      ("820102", "/ array of 2 /"), ("a10102", "/ map of 1 /"), ("d903ec6a323030302d30312d3031", "/ date /"),
      ("c06130", "/ date-time /"), ("c101", "/ tag 1 /"), ("d818426141", "/ embedded item, 2 bytes /"),
    ])
  func hidden(hex: String, text: String) throws {
    #expect(CBORDiagnostic(.nothing).text(of: try item(hex)) == text)
  }

  @Test("shows what the disclosure names, and only in the shape it names")
  func disclosure() throws {
    let shape = CBORDisclosure.record([
      "docType": .name, "status": .integer, "list": .list(.flag), "kid": .shortBytes, "names": .names(.nothing),
      "key": .labels([1: .integer], others: .nothing), "pair": .tuple([.integer]), "when": .tagged(0, .name),
      "inner": .embedded(.record(["version": .name])),
    ])
    func text(_ value: CBORValue) throws -> String {
      CBORDiagnostic(shape, lineLength: 1000).text(of: try decodeCBOR(value.encode()))
    }
    let secret = CBORValue.text("SECRET WORD")
    #expect(try text(.map(["docType": "a.b.c"])) == "{\"docType\": \"a.b.c\"}")
    #expect(try text(.map(["docType": secret])) == "{\"docType\": / text, 11 bytes /}")
    #expect(try text(.map(["docType": 7])) == "{\"docType\": / integer /}")
    #expect(try text(.map(["docType": .array([secret])])) == "{\"docType\": / array of 1 /}")
    #expect(try text(.map(["status": .tag(99, 4)])) == "{\"status\": 99(4)}")
    #expect(try text(.map(["status": "1"])) == "{\"status\": / text, 1 byte /}")
    #expect(try text(.map(["list": .array([true, 1])])) == "{\"list\": [true, / integer /]}")
    #expect(try text(.map(["kid": .bytes([1, 2])])) == "{\"kid\": h'0102'}")
    #expect(
      try text(.map(["kid": .bytes([UInt8](repeating: 1, count: 17))])) == "{\"kid\": / bytes, 17 bytes /}")
    #expect(
      try text(.map(["names": .map(["age": 20, "a b": 1])]))
        == "{\"names\": {/ text, 3 bytes /: / integer /, \"age\": / integer /}}")
    #expect(try text(.map(["key": .map(labels: [1: 2, 3: 4])])) == "{\"key\": {1: 2, 3: / integer /}}")
    #expect(try text(.map(["pair": .array([1, 2])])) == "{\"pair\": [1, / integer /]}")
    #expect(try text(.map(["when": .tag(0, "x")])) == "{\"when\": 0(\"x\")}")
    #expect(try text(.map(["when": "x"])) == "{\"when\": / text, 1 byte /}")
    #expect(try text(.map(["inner": .bytes([0xa0])])) == "{\"inner\": <<{}>>}")
    #expect(
      try text(.map(["inner": .embedded(.map(["version": "1", "x": 2]))]))
        == "{\"inner\": 24(<<{/ text, 1 byte /: / integer /, \"version\": \"1\"}>>)}")
    #expect(try text(.map(["inner": .bytes([0xa1])])) == "{\"inner\": / bytes, 1 byte /}")
    #expect(try text(.map(["SECRET": secret])) == "{/ text, 6 bytes /: / text, 11 bytes /}")
    #expect(try text(.array([secret])) == "/ array of 1 /")
  }

  @Test("escapes every character that could steer a terminal")
  func escapes() throws {
    let text = "a\u{1b}[31m\u{7}\u{9b}\u{202e}\u{2028}\u{feff}\u{e000}\n\r\t\u{7f}é漢😀\u{1d173}"
    let shown = CBORDiagnostic(.nothing, showsValues: true).text(of: try decodeCBOR(CBORValue.text(text).encode()))
    #expect(
      shown
        == "\"a\\u001b[31m\\u0007\\u009b\\u202e\\u2028\\ufeff\\ue000\\n\\r\\t\\u007fé漢😀\\ud834\\udd73\"")
  }

  @Test("breaks long containers into lines")
  func lines() throws {
    let value = CBORValue.map(["a": .embedded(.array([1, 2, .map(["key": "value"])])), "b": .array([])])
    let text = CBORDiagnostic(.nothing, showsValues: true, lineLength: 16).text(of: try decodeCBOR(value.encode()))
    #expect(
      text == """
        {
          "a": 24(<<[
            1,
            2,
            {
              "key": "value"
            }
          ]>>),
          "b": []
        }
        """)
  }

  @Test("opens embedded items only so deep, however deep they are")
  func deepEmbedding() throws {
    var bytes: [UInt8] = [0]
    for _ in 0..<20_000 { bytes = CBORValue.tag(24, .bytes(bytes)).encode() }
    let text = CBORDiagnostic(.scalars).text(of: try decodeCBOR(bytes))
    #expect(text.hasPrefix("24(<<24(<<") && text.contains("/ bytes, ") && text.count < 200)
  }

  @Test("hides every scalar of a document that is not the one expected, wherever it stands")
  func mutations() throws {
    let marker = CBORValue.text("SECRET")
    let shape = CBORDisclosure.record(["documents": .list(.record(["docType": .name, "x": .names(.nothing)]))])
    let values: [CBORValue] = [
      marker, .array([marker]), .map(["k": marker]), .map([.init(marker, marker)]), .tag(24, .bytes(marker.encode())),
      .tag(0, marker), .embedded(.map(["documents": .array([.map(["x": .map(["a": marker])])])])),
    ]
    for value in values {
      for whole in [
        value, .map(["documents": value]), .map(["documents": .array([value])]),
        .map(["documents": .array([.map(["x": value])])]),
        .map(["documents": .array([.map(["x": .map(["n": value])])])]),
        .map(["other": value]),
      ] {
        // A key of `names` that looks like a name is one; the marker stands there in one combination.
        let text = CBORDiagnostic(shape).text(of: try decodeCBOR(whole.encode()))
        let isName = text.contains("\"x\": {\"SECRET\"")
        #expect(!text.contains("SECRET") || isName)
      }
    }
  }
}
