import Bytes
import CBOR
import TestSupport
import Testing

@testable import Mdoc

/// A response of these members, and what is wrong with it.
private let shapes: [(String, DeviceResponse.Violation)] = [
  ("", .notCBOR(CBORError(.truncated, offset: 0))),
  // {"version": "1.0"} without its last byte, and with one more
  ("a16776657273696f6e63312e", .notCBOR(CBORError(.truncated, offset: 9, path: "version"))),
  ("a16776657273696f6e63312e3000", .notCBOR(CBORError(.trailingBytes, offset: 13))),
  ("80", .wrongShape(path: "")), ("f6", .wrongShape(path: "")), ("d81841a0", .wrongShape(path: "")),
  ("a0", .wrongShape(path: "version")), ("a16776657273696f6e01", .wrongShape(path: "version")),
  ("a16776657273696f6e63312e30", .wrongShape(path: "status")),
]

private func response(_ members: KeyValuePairs<String, CBORValue>) -> [UInt8] {
  let usual: [CBORValue.Pair] = [.init("version", "1.0"), .init("status", 0)]
  let given = members.map { CBORValue.Pair(.text($0.key), $0.value) }
  return CBORValue.map(usual.filter { pair in !given.contains { $0.key == pair.key } } + given).encode()
}

@Suite("Device responses")
struct DeviceResponseTests {
  private func refusal(_ bytes: [UInt8]) -> DeviceResponse.Violation? {
    do { _ = try DeviceResponse(bytes[...]) } catch { return error }
    return nil
  }

  @Test("what is no response is named by what it is not", arguments: shapes)
  func shape(hex: String, violation: DeviceResponse.Violation) {
    #expect(refusal(bytes(hex: hex) ?? []) == violation)
  }

  @Test("an issued document, text of any coding and nothing at all are three different faults")
  func otherThings() throws {
    let issuerSigned = CBORValue.map([
      "nameSpaces": .map([]), "issuerAuth": .array([.bytes([]), .map([]), .bytes([]), .bytes([])]),
    ])
    #expect(refusal(issuerSigned.encode()) == .wrongShape(path: "version"))
    let good = response([:])
    #expect(refusal(good) == nil)
    for text in [Base64.standard.encode(good), Base64.url.encode(good), good.hex] {
      guard case .notCBOR = refusal(Array(text.utf8)) else {
        Issue.record("\(text): \(String(describing: refusal(Array(text.utf8))))")
        continue
      }
    }
    #expect(refusal([]) == .notCBOR(CBORError(.truncated, offset: 0)))
    // The whole response as a byte string, as some interfaces hand it over.
    #expect(refusal(CBORValue.bytes(good).encode()) == .wrongShape(path: ""))
  }

  @Test("documents are a list of maps with a doc type, or absent")
  func documents() throws {
    #expect(try DeviceResponse(response([:])[...]).documents.isEmpty)
    #expect(try DeviceResponse(response(["documents": .array([])])[...]).documents.isEmpty)
    for wrong in [.null, .map([]), "x", 1, .bool(true), .bytes([0x80])] as [CBORValue] {
      #expect(refusal(response(["documents": wrong])) == .wrongShape(path: "documents"))
    }
    let document = CBORValue.map(["docType": "a"])
    for wrong in [.null, .array([]), "x"] as [CBORValue] {
      #expect(refusal(response(["documents": .array([document, wrong])])) == .wrongShape(path: "documents[1]"))
    }
    #expect(
      refusal(response(["documents": .array([.map(["docType": 1])])])) == .wrongShape(path: "documents[0].docType"))
    for wrong in [.null, .array([]), .map(["x": 1]), .map(["x": .map(["y": "z"])])] as [CBORValue] {
      let faulty = CBORValue.map(["docType": "a", "errors": wrong])
      #expect(refusal(response(["documents": .array([faulty])])) == .wrongShape(path: "documents[0].errors"))
    }
    let two = try DeviceResponse(response(["documents": .array([document, .map(["docType": "b"])])])[...])
    #expect(two.documents.map(\.docType) == ["a", "b"] && two.documents.allSatisfy { $0.issuerSigned == nil })
  }

  @Test("numbers of any size are read or refused, none is cut")
  func numbers() throws {
    for (encoded, status) in [
      ("00", 0), ("1a80000000", 1 << 31), ("1b0000000100000000", 1 << 32), ("1b8000000000000000", 1 << 63),
      ("1bffffffffffffffff", .max),
    ] as [(String, UInt64)] {
      let read = try DeviceResponse(response(["status": .encoded(bytes(hex: encoded) ?? [])])[...])
      #expect(read.status == status)
    }
    for wrong in ["20", "3bffffffffffffffff", "f90000", "f4", "f6", "6130", "c24100"] {
      let found = refusal(response(["status": .encoded(bytes(hex: wrong) ?? [])]))
      #expect(found == .wrongShape(path: "status"), "\(wrong)")
    }
    for (encoded, code) in [
      ("00", 0), ("20", -1), ("3b7fffffffffffffff", .min), ("3bffffffffffffffff", .min), ("1b7fffffffffffffff", .max),
      ("1bffffffffffffffff", .max),
    ] as [(String, Int64)] {
      let errors = CBORValue.array([.map(["a": .encoded(bytes(hex: encoded) ?? [])])])
      #expect(
        try DeviceResponse(response(["documentErrors": errors])[...]).documentErrors == [
          .init(docType: "a", code: code)
        ])
    }
  }

  @Test(
    "the first edition's versions count, by their text",
    arguments: [
      ("1.0", true), ("1.1", true), ("1.10", true), ("2.0", false), ("1", false), ("1.", false), ("01.0", false),
      ("1.0 ", false), ("1.x", false), ("10.0", false), ("", false), ("1.\u{661}", false),
      ("1.99999999999999999999999", true),
    ])
  func versions(text: String, isSupported: Bool) throws {
    #expect(try DeviceResponse(response(["version": .text(text)])[...]).isVersionSupported == isSupported)
  }

  @Test("the tag of self-described CBOR is passed over")
  func selfDescribed() throws {
    #expect(try DeviceResponse(CBORValue.tag(55799, .encoded(response([:]))).encode()[...]).status == 0)
    #expect(refusal(CBORValue.tag(24, .bytes(response([:]))).encode()) == .wrongShape(path: ""))
  }
}
