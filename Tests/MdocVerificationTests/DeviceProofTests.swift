import Bytes
import CBOR
import COSE
import Crypto
import Issuer
import Mdoc
import MdocVerification
import Testing

@Suite("The proof of the device, as wallets write it")
struct DeviceProofTests {
  private static let own = "org.example.device"

  /// The issuer lets the device sign what it likes under one name space.
  private func authorized(_ terms: inout IssuanceTerms) {
    terms.keyAuthorizations = .map(["nameSpaces": .array([.text(DeviceProofTests.own)])])
  }

  @Test(
    "device name spaces are authenticated as they were received, empty ones above all",
    arguments: ["a0", "bfff", "b800", "ba00000000", "a1726f72672e6578616d706c652e646576696365a0"],
    DeviceAuthenticationMethod.allCases)
  func nameSpaces(encoded: String, method: DeviceAuthenticationMethod) throws {
    var visit = try TestVisit()
    var presentation = visit.presentation(try visit.issue(), method)
    presentation.deviceNameSpaces = .encoded(bytes(hex: encoded) ?? [])
    #expect(try visit.verdict(on: presentation.document()).texts == [])
    // The same emptiness in other bytes is not what the device authenticated.
    let proof = try presentation.deviceAuth(method)
    presentation.deviceNameSpaces = .encoded([0xb9, 0, 0])
    let other = try visit.verdict(on: presentation.document(deviceAuth: .map([proof])))
    #expect(other.failures == [method == .mac ? "deviceMacInvalid" : "deviceSignatureInvalid"])
  }

  @Test("one element of the device's own is given as such where the issuer allows it, in any encoding")
  func ownElement() throws {
    var visit = try TestVisit()
    let credential = try visit.issue(TestVisit.elements, authorized)
    for content in ["a1646e6f7465636f6e65", "bf646e6f7465636f6e65ff", "b90001646e6f7465636f6e65"] {
      var presentation = visit.presentation(credential)
      presentation.deviceNameSpaces = .encoded(
        [0xa1] + CBORValue.text(DeviceProofTests.own).encode() + (bytes(hex: content) ?? []))
      let verdict = try visit.verdict(on: presentation.document(), asking: ["note"], in: DeviceProofTests.own)
      let elements = try #require(verdict.documents.first?.verified?.elements)
      #expect(elements.map(\.name.element) == ["note"] && elements.allSatisfy(\.isDeviceSigned))
      #expect(verdict.failures == [])
    }
  }

  @Test("issuer data in the place of the device's own do not become what the device signed")
  func issuerDataAsOwn() throws {
    var visit = try TestVisit()
    var presentation = visit.presentation(try visit.issue())
    let proof = try presentation.deviceAuth(.signature)
    presentation.deviceNameSpaces = .map([TestVisit.nameSpace: .map(["given_name": "Testa"])])
    let verdict = try visit.verdict(on: presentation.document(deviceAuth: .map([proof])))
    #expect(verdict.failures == ["deviceSignatureInvalid"])
    // Rightly signed they are the holder's word, which nobody authorized.
    let signed = try visit.verdict(
      on: presentation.document(), asking: ["family_name", "age_over_18", "given_name"])
    #expect(signed.isVerified && signed.texts == ["dropped deviceElementUnauthorized(org.iso.18013.5.1, given_name)"])
    #expect(signed.documents.first?.verified?.missing.map(\.element) == ["given_name"])
  }

  @Test("structures may have their tags, but not each other's")
  func tags() throws {
    var visit = try TestVisit()
    let credential = try visit.issue()
    for (method, right, wrong) in [(.signature, 18, 17), (.mac, 17, 18)]
      as [(DeviceAuthenticationMethod, UInt64, UInt64)]
    {
      let presentation = visit.presentation(credential, method)
      let proof = try presentation.deviceAuth(method)
      func failures(_ value: CBORValue, key: CBORValue? = nil) throws -> Set<String> {
        let auth = CBORValue.map([CBORValue.Pair(key ?? proof.key, value)])
        return try visit.verdict(on: presentation.document(deviceAuth: auth)).failures
      }
      #expect(try failures(proof.value) == [])
      #expect(try failures(.tag(right, proof.value)) == [])
      #expect(try failures(.tag(wrong, proof.value)) == ["deviceAuthMalformed"])
      #expect(try failures(.encoded(widened(proof.value.encode()))) == [])
      // A proof under the other's name proves nothing.
      let other: CBORValue = method == .mac ? "deviceSignature" : "deviceMac"
      #expect(
        try failures(proof.value, key: other) == [method == .mac ? "deviceSignatureInvalid" : "deviceMacInvalid"])
    }
  }

  @Test("every bit of a proof counts", arguments: DeviceAuthenticationMethod.allCases)
  func bits(method: DeviceAuthenticationMethod) throws {
    var visit = try TestVisit()
    let presentation = visit.presentation(try visit.issue(), method)
    let proof = try presentation.deviceAuth(method)
    guard case .array(let parts) = proof.value, case .bytes(let value) = parts[3] else { return #expect(Bool(false)) }
    #expect(value.count == (method == .mac ? 32 : 64))
    for bit in 0..<8 * value.count {
      var changed = value
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      let auth = CBORValue.map([CBORValue.Pair(proof.key, .array(parts.dropLast() + [.bytes(changed)]))])
      let failures = try visit.verdict(on: presentation.document(deviceAuth: auth)).failures
      #expect(failures == [method == .mac ? "deviceMacInvalid" : "deviceSignatureInvalid"], "bit \(bit)")
    }
  }

  @Test("an algorithm that does not fit the device key, or is none, proves nothing")
  func algorithms() throws {
    for (curve, right) in [(.p256, [-7, -9]), (.p384, [-35, -51]), (.p521, [-36, -52])] as [(Curve, Set<Int64>)] {
      var visit = try TestVisit(deviceKey: try PrivateKey.generate(curve))
      let presentation = visit.presentation(try visit.issue())
      for number in [-7, -35, -36, -9, -51, -52] as [Int64] {
        let proof = try COSESign1.sign(
          presentation.payload, with: visit.deviceKey, algorithm: COSEAlgorithm(number: number), isDetached: true)
        let auth = CBORValue.map(["deviceSignature": proof])
        let failures = try visit.verdict(on: presentation.document(deviceAuth: auth)).failures
        #expect(failures == (right.contains(number) ? [] : ["deviceSignatureInvalid"]), "\(curve) \(number)")
      }
      guard case .array(var parts) = try presentation.deviceAuth(.signature).value else { continue }
      for protected in ["a0", "", "a1013b8000000000000000", "a1011bffffffffffffffff", "a10105"] {
        parts[0] = .bytes(bytes(hex: protected) ?? [])
        let auth = CBORValue.map(["deviceSignature": .array(parts)])
        let failures = try visit.verdict(on: presentation.document(deviceAuth: auth)).failures
        #expect(failures == ["deviceSignatureInvalid"], "\(protected)")
      }
    }
  }

  // MARK: The device key in the signed object

  /// The verdict on a document whose object names the device key with this x and y.
  private func verdict(
    of key: PrivateKey, x: [UInt8]? = nil, y: CBORValue? = nil, method: DeviceAuthenticationMethod = .signature,
    policy edit: (inout VerificationPolicy) -> Void = { _ in }
  ) throws -> Verdict {
    var visit = try TestVisit(deviceKey: key)
    let coseKey = CBORValue.map(labels: [
      1: 2, -1: .int(key.publicKey.curve.coseNumber), -2: .bytes(x ?? key.publicKey.x),
      -3: y ?? .bytes(key.publicKey.y),
    ])
    let credential = try visit.issue { terms in terms.editMSO = { $0["deviceKeyInfo"] = .map(["deviceKey": coseKey]) } }
    return try visit.verdict(on: visit.presentation(credential, method).document(), policy: edit)
  }

  /// A key whose x, or else whose y, begins with a zero byte: one in some 256.
  private func key(withZeroX: Bool) throws -> PrivateKey {
    for _ in 0..<8000 {
      let key = try PrivateKey.generate(.p256)
      if (withZeroX ? key.publicKey.x : key.publicKey.y).first == 0 { return key }
    }
    throw CryptoError.invalidKey
  }

  @Test("a coordinate without its leading zeros is the same coordinate", arguments: DeviceAuthenticationMethod.allCases)
  func shortCoordinates(method: DeviceAuthenticationMethod) throws {
    let narrowX = try key(withZeroX: true)
    let x = narrowX.publicKey.x
    #expect(try verdict(of: narrowX, x: Array(x.drop { $0 == 0 }), method: method).isVerified)
    #expect(try verdict(of: narrowX, x: x, method: method).isVerified)
    #expect(try verdict(of: narrowX, x: [0] + x, method: method).isVerified)
    #expect(try verdict(of: narrowX, x: [1] + x, method: method).failures == ["deviceKeyInvalid"])
    let narrowY = try key(withZeroX: false)
    let y = narrowY.publicKey.y
    #expect(try verdict(of: narrowY, y: .bytes(Array(y.drop { $0 == 0 })), method: method).isVerified)
    #expect(try verdict(of: narrowY, y: .bytes([1] + y), method: method).failures == ["deviceKeyInvalid"])
  }

  @Test(
    "a compressed point is solved by its sign, unless the site refuses them",
    arguments: DeviceAuthenticationMethod.allCases)
  func compressedPoints(method: DeviceAuthenticationMethod) throws {
    var signs: Set<Bool> = []
    for _ in 0..<64 where signs.count < 2 {
      let key = try PrivateKey.generate(.p256)
      let isOdd = key.publicKey.y.last.map { $0 & 1 == 1 } ?? false
      guard signs.insert(isOdd).inserted else { continue }
      #expect(try verdict(of: key, y: .bool(isOdd), method: method).isVerified)
      let wrong = try verdict(of: key, y: .bool(!isOdd), method: method)
      // Of a shared secret only x is used, which both points with this x have in common.
      #expect(wrong.failures == (method == .mac ? [] : ["deviceSignatureInvalid"]))
      let refused = try verdict(of: key, y: .bool(isOdd), method: method) { $0.acceptsCompressedPoints = false }
      #expect(refused.failures == ["deviceKeyInvalid"])
    }
    #expect(signs.count == 2)
  }
}
