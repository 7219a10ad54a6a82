import Bytes
import CBOR
import Crypto
import Foundation
import TestSupport
import Testing

@testable import COSE

/// The curves that sign. A closure among the arguments of a test crashes the 6.0.3 compiler.
private let signingCurves = Curve.allCases.filter { $0.kind != .montgomery }

private func item(_ hex: String) throws -> CBORItem { try decodeCBOR(bytes(hex: hex.filter { $0 != " " }) ?? []) }

/// The key of RFC 8152 appendix C.7.1, "11", on P-256.
private let key11X = "bac5b11cad8f99f9c72b05cf4b9e26d244dc189f745228255a219a86d6a09eff"
private let key11Y = "20138bf82dc1b6d562be0fa54ab7804a3a64b6d72ccfed6b6fb6ed28bbfc117e"
private let key11 = "a4 01 02 20 01 21 5820 \(key11X) 22 5820 \(key11Y)"

/// Keys, and why each is refused.
///
/// Not among the test's arguments: a closure or an interpolation there crashes the 6.0.3 compiler.
private let unusableKeys: [(String, COSEKeyError)] = [
  ("80", .malformed), ("a0", .malformed), ("a2 01 02 20 01", .malformed), ("a3 01 04 20 01 21 4101", .malformed),
  ("a4 01 02 20 08 21 5820 \(key11X) 22 5820 \(key11Y)", .unsupportedCurve),
  ("a4 01 01 20 01 21 5820 \(key11X) 22 5820 \(key11Y)", .malformed),
  ("a4 01 02 20 01 21 5820 \(key11X) 22 6161", .malformed),
  ("a3 01 02 20 01 21 5820 \(key11X)", .malformed),
  ("a4 01 02 20 01 21 5820 \(key11X) 22 5820 \(key11X)", .notOnCurve),
  ("a4 01 02 20 01 21 40 22 40", .notOnCurve),
  ("a3 01 01 20 04 21 41 01", .coordinateSize),
  ("a3 01 01 20 06 21 5821 00\(key11X)", .coordinateSize),
]

@Suite("COSE_Key")
struct COSEKeyTests {
  @Test("an EC2 key is read and written in the order 1, -1, -2, -3")
  func roundTrip() throws {
    let key = try PublicKey(coseKey: item(key11))
    #expect(key.curve == .p256 && key.x.hex == key11X && key.y.hex == key11Y)
    #expect(key.coseKey.encode().hex == key11.filter { $0 != " " })
  }

  @Test("labels that are not the key's own are ignored")
  func extraLabels() throws {
    let key = try PublicKey(
      coseKey: item(
        "a7 01 02 02 413131 03 26 23 4101 20 01 21 5820 \(key11X) 22 5820 \(key11Y)".replacingOccurrences(
          of: "413131", with: "423131")))
    #expect(key.x.hex == key11X)
  }

  @Test("the boolean form of y is solved, and the sign counts", arguments: [(false, true), (true, false)])
  func compressed(sign: Bool, isSame: Bool) throws {
    let key = try PublicKey(coseKey: item("a4 01 02 20 01 21 5820 \(key11X) 22 \(sign ? "f5" : "f4")"))
    #expect((key.y.hex == key11Y) == isSame)
    #expect(throws: COSEKeyError.compressedPoint) {
      try PublicKey(coseKey: item("a4 01 02 20 01 21 5820 \(key11X) 22 f4"), acceptsCompressed: false)
    }
  }

  @Test("surplus leading zeros are dropped; a coordinate that does not fit is refused")
  func longCoordinates() throws {
    _ = try PublicKey(coseKey: item("a4 01 02 20 01 21 5821 00\(key11X) 22 5822 0000\(key11Y)"))
    #expect(throws: COSEKeyError.coordinateSize) {
      try PublicKey(coseKey: item("a4 01 02 20 01 21 5821 01\(key11X) 22 5820 \(key11Y)"))
    }
  }

  @Test("a coordinate without its leading zero byte is padded, for every curve")
  func shortCoordinates() throws {
    for curve in Curve.allCases where curve.kind == .weierstrass {
      var found = false
      for _ in 0..<4000 where !found {
        let key = try PrivateKey.generate(curve).publicKey
        // P-521 coordinates have 7 spare bits, so that almost half begin with a zero byte.
        guard key.x.first == 0 else { continue }
        found = true
        let short = CBORValue.map(labels: [
          1: 2, -1: .int(curve.coseNumber), -2: .bytes(Array(key.x.drop { $0 == 0 })), -3: .bytes(key.y),
        ])
        #expect(try PublicKey(coseKey: decodeCBOR(short.encode())) == key)
      }
      #expect(found, "\(curve)")
    }
  }

  @Test("what is no usable key is refused by its own reason", arguments: unusableKeys)
  func refused(hex: String, reason: COSEKeyError) {
    #expect(throws: reason) { try PublicKey(coseKey: item(hex)) }
  }

  @Test("every curve goes through its COSE_Key", arguments: Curve.allCases)
  func curves(curve: Curve) throws {
    let key = try PrivateKey.generate(curve).publicKey
    #expect(try PublicKey(coseKey: decodeCBOR(key.coseKey.encode())) == key)
    #expect(Curve(coseNumber: curve.coseNumber) == curve)
  }
}

@Suite("COSE_Sign1 and COSE_Mac0")
struct COSEStructureTests {
  @Test("each curve signs with its paired algorithm and is checked", arguments: signingCurves)
  func pairs(curve: Curve) throws {
    let key = try PrivateKey.generate(curve)
    let signed = try COSESign1.sign([1, 2, 3], with: key, isDetached: false).encode()
    let structure = try COSESign1(decodeCBOR(signed))
    #expect(structure.algorithm?.pairedCurves.contains(curve) == true)
    #expect(structure.isValid(for: try #require(structure.structure.payload), key: key.publicKey))
    #expect(!structure.isValid(for: [1, 2, 4], key: key.publicKey))
    #expect(!structure.isValid(for: [1, 2, 3], key: try PrivateKey.generate(curve).publicKey))
  }

  @Test("curves for key agreement cannot sign", arguments: [Curve.x25519, .x448])
  func agreementCurves(curve: Curve) throws {
    let key = try PrivateKey.generate(curve)
    #expect(throws: COSEError.unsupportedAlgorithm) { try COSESign1.sign([], with: key, isDetached: true) }
  }

  @Test("an algorithm fits the curves of its line and, unless strict, other ECDSA curves")
  func pairing() throws {
    let es256 = try #require(COSEAlgorithm(number: -7))
    #expect(es256.fits(.p256, strictPairing: true) && es256.fits(.brainpoolP256r1, strictPairing: true))
    #expect(!es256.fits(.p384, strictPairing: true) && es256.fits(.p384, strictPairing: false))
    #expect(!es256.fits(.ed25519, strictPairing: false))
    let esp256 = try #require(COSEAlgorithm(number: -9))
    #expect(esp256.fits(.p256, strictPairing: true))
    #expect(!esp256.fits(.p384, strictPairing: false) && !esp256.fits(.brainpoolP256r1, strictPairing: false))
    let ed25519 = try #require(COSEAlgorithm(number: -19))
    #expect(ed25519.fits(.ed25519, strictPairing: true) && !ed25519.fits(.ed448, strictPairing: false))
    for number in [0, -37, -47, -257, 5, 1] as [Int64] { #expect(COSEAlgorithm(number: number) == nil) }
  }

  @Test(
    "a fully specified number is a synonym of the classic one",
    arguments: [
      (-7, -9, Curve.p256), (-35, -51, .p384), (-36, -52, .p521), (-7, -265, .brainpoolP256r1),
      (-35, -266, .brainpoolP320r1), (-35, -267, .brainpoolP384r1), (-36, -268, .brainpoolP512r1), (-8, -19, .ed25519),
      (-8, -53, .ed448),
    ] as [(Int64, Int64, Curve)])
  func synonyms(classic: Int64, specified: Int64, curve: Curve) throws {
    let key = try PrivateKey.generate(curve)
    for number in [classic, specified] {
      let algorithm = try #require(COSEAlgorithm(number: number))
      let signed = try COSESign1.sign([9], with: key, algorithm: algorithm, isDetached: true).encode()
      let structure = try COSESign1(decodeCBOR(signed))
      #expect(structure.structure.algorithm == number && structure.structure.payload == nil)
      #expect(structure.isValid(for: [9], key: key.publicKey))
    }
  }

  @Test(
    "what is no array of four of the right kinds is malformed",
    arguments: [
      "80", "83 40 a0 f6", "85 40 a0 f6 40 40", "84 a0 a0 f6 40", "84 40 80 f6 40", "84 40 a0 60 40", "84 40 a0 f6 60",
      "84 41a1 a0 f6 40", "84 42a000 a0 f6 40", "84 4180 a0 f6 40", "84 45a201260126 a0 f6 40", "d1 84 40 a0 f6 40",
      "a0",
    ])
  func malformed(hex: String) {
    #expect(throws: COSEError.malformed) { try COSESign1(item(hex)) }
  }

  @Test("alg counts in the protected header only")
  func algorithmPlace() throws {
    #expect(try COSESign1(item("84 40 a10126 f6 40")).algorithm == nil)
    #expect(try COSESign1(item("84 43a10126 a0 f6 40")).algorithm == .es256)
    #expect(
      try COSESign1(
        item("84 46a1016545533235 a0 f6 40".replacingOccurrences(of: "46a1016545533235", with: "48a101654553323536"))
      ).algorithm == nil)
  }

  @Test(
    "crit is understood only when it lists alg alone",
    arguments: [("46a20126028101", false), ("45a201260280", true), ("47a2012602811863", true), ("45a201260201", true)])
  func critical(protected: String, isUnknown: Bool) throws {
    #expect(try COSESign1(item("84 \(protected) a0 f6 40")).structure.hasUnknownCritical == isUnknown)
  }

  @Test(
    "x5chain is a byte string or an array of them in the unprotected header",
    arguments: [
      ("a1 1821 4101", 1), ("a1 1821 8141 01", 1), ("a1 1821 8241014102", 2), ("a1 1821 80", 0), ("a1 1821 f6", 0),
      ("a0", 0),
      ("a1 1821 6161", 0), ("a1 1821 818141 01", 0), ("a1 1821 40", 1),
    ])
  func certificateChains(unprotected: String, count: Int) throws {
    #expect(try COSESign1(item("84 40 \(unprotected) f6 40")).structure.x5chain.count == count)
  }

  @Test("the structure that is signed is that of RFC 8152 appendix C.2.1")
  func signatureStructure() throws {
    let input = COSEStructure.input(
      .sign1, protected: [0xa1, 0x01, 0x26], payload: ArraySlice("This is the content.".utf8))
    #expect(input.hex == "846a5369676e61747572653143a101264054546869732069732074686520636f6e74656e742e")
    let empty = COSEStructure.input(.sign1, protected: [0xa0], payload: [0x01])
    #expect(empty.hex == "846a5369676e61747572653140404101")
  }

  @Test("a MAC holds for its key and payload in full length only")
  func mac() throws {
    let key = SecretBytes(copying: [UInt8](repeating: 7, count: 32))
    let made = COSEMac0.authenticate([1, 2, 3], key: key).encode()
    #expect(try COSEMac0(decodeCBOR(made)).isValid(for: [1, 2, 3], key: key))
    #expect(try !COSEMac0(decodeCBOR(made)).isValid(for: [1, 2], key: key))
    for position in made.indices.suffix(32) {
      var changed = made
      changed[position] ^= 1
      #expect(try !COSEMac0(decodeCBOR(changed)).isValid(for: [1, 2, 3], key: key))
    }
    let short = CBORValue.array([.bytes([0xa1, 0x01, 0x05]), .map([]), .null, .bytes(Array(made.suffix(16)))]).encode()
    #expect(try !COSEMac0(decodeCBOR(short)).isValid(for: [1, 2, 3], key: key))
    #expect(throws: COSEError.malformed) { try COSEMac0(item("d2 84 40 a0 f6 40")) }
  }
}

@Suite("COSE reference data")
struct COSEVectorTests {
  @Test("the COSE working group's examples have their declared outcome")
  func examples() throws {
    guard let root = shared("vectors/cose") else { return }
    var tally = VectorTally("COSE examples")
    var counts = (accepted: 0, refused: 0)
    for folder in ["sign1-tests", "ecdsa-examples", "eddsa-examples", "RFC8152", "mac0-tests", "hmac-examples"] {
      for name in try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent(folder).path).sorted()
      {
        let file = try #require(
          try JSONSerialization.jsonObject(with: Data(contentsOf: root.appendingPathComponent("\(folder)/\(name)")))
            as? [String: Any])
        guard let verdict = try verdict(on: file) else {
          tally.leaveOut("no COSE_Sign1 or COSE_Mac0 with an algorithm of cipher suite 1")
          continue
        }
        let mustFail = name.contains("fail") || file["fail"] as? Bool == true
        tally.count("\(folder)/\(name)", passes: verdict == !mustFail)
        if mustFail { counts.refused += 1 } else { counts.accepted += 1 }
      }
    }
    print("\(tally); \(counts.accepted) to be accepted, \(counts.refused) to be refused")
    #expect(tally.failures == [])
    #expect(counts.accepted >= 12 && counts.refused >= 10)
  }

  private func verdict(on file: [String: Any]) throws -> Bool? {
    let input = try #require(file["input"] as? [String: Any])
    let cbor = try #require((file["output"] as? [String: Any])?["cbor"] as? String)
    let decoded = try item(cbor.lowercased())
    if let sign = input["sign0"] as? [String: Any], let jwk = sign["key"] as? [String: Any] {
      let external = bytes(hex: sign["external"] as? String ?? "") ?? []
      guard let structure = try? COSESign1(decoded), let payload = structure.structure.payload else { return false }
      // Two examples name the algorithm in the unprotected header; mdoc counts that as absent.
      if structure.algorithm == nil, structure.structure.unprotected[label: 1] != nil {
        return try unprotectedAlgorithm(structure, jwk, external)
      }
      return structure.isValid(for: payload, key: try key(jwk), strictPairing: false, externalData: external)
    }
    if let mac = input["mac0"] as? [String: Any], let recipients = mac["recipients"] as? [[String: Any]],
      let secret = (recipients[0]["key"] as? [String: Any])?["k"] as? String, mac["alg"] as? String == "HS256"
    {
      let external = bytes(hex: mac["external"] as? String ?? "") ?? []
      let key = SecretBytes(copying: try Base64.url.decode(secret))
      guard let structure = try? COSEMac0(decoded), let payload = structure.structure.payload else { return false }
      if structure.structure.algorithm == nil, structure.structure.unprotected[label: 1]?.int == 5 {
        let tag = hmacSHA256(
          key: key, message: structure.structure.input(payload: payload, externalData: external)[...])
        return isEqualInConstantTime(tag, structure.structure.proof)
      }
      return structure.isValid(for: payload, key: key, externalData: external)
    }
    return nil
  }

  private func unprotectedAlgorithm(_ structure: COSESign1, _ jwk: [String: Any], _ external: [UInt8]) throws -> Bool {
    let number = try #require(structure.structure.unprotected[label: 1]?.int)
    let algorithm = try #require(COSEAlgorithm(number: number))
    let payload = try #require(structure.structure.payload)
    return try key(jwk).isValid(
      signature: structure.structure.proof,
      for: structure.structure.input(payload: payload, externalData: external)[...],
      hash: algorithm.hash)
  }

  private func key(_ jwk: [String: Any]) throws -> PublicKey {
    func coordinate(_ name: String) throws -> [UInt8] {
      if let hex = jwk["\(name)_hex"] as? String { return bytes(hex: hex) ?? [] }
      return try Base64.url.decode(try #require(jwk[name] as? String))
    }
    let curve = try #require(Curve(rawValue: jwk["crv"] as? String ?? ""))
    return curve.kind == .weierstrass
      ? try PublicKey(curve: curve, x: coordinate("x"), y: coordinate("y"))
      : try PublicKey(curve: curve, raw: coordinate("x"))
  }
}
