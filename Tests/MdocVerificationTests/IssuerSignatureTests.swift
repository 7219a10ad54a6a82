import Bytes
import CBOR
import COSE
import Crypto
import Issuer
import Mdoc
import MdocVerification
import Testing

private let numbers: [Int64] = [-7, -35, -36, -9, -51, -52]

@Suite("The issuer's signature, as issuers write it")
struct IssuerSignatureTests {
  /// The verdict on a document whose issuerAuth has these parts in place of what was issued; nil leaves one as it is.
  private func verdict(
    certificates: CBORValue? = nil, protected: [UInt8]? = nil, external: [UInt8]? = nil,
    wrap: (CBORValue) -> CBORValue = { $0 }
  ) throws -> Verdict {
    var visit = try TestVisit()
    let signer = visit.signer
    let credential = try visit.issue { terms in
      terms.editIssuerAuth = { parts in
        if let certificates { parts[1] = certificates }
        guard protected != nil || external != nil, case .bytes(let old) = parts[0], case .bytes(let payload) = parts[2]
        else { return }
        parts[0] = .bytes(protected ?? old)
        // Sig_structure by hand: the product's own could hide what both do wrongly.
        let input = CBORValue.array([
          "Signature1", parts[0], external.map(CBORValue.encoded) ?? .bytes([]), .bytes(payload),
        ])
        parts[3] = .bytes((try? signer.key.signature(for: input.encode(), hash: .sha256)) ?? [])
      }
    }
    let auth = wrap(.encoded(credential.issuerAuth)).encode()
    return try visit.verdict(on: credential.with(issuerAuth: auth))
  }

  @Test("certificates come as one byte string or as a list of one or more, leaf first")
  func chains() throws {
    var visit = try TestVisit()
    let root = CBORValue.bytes(visit.authority.certificate)
    let leaf = CBORValue.bytes(visit.signer.certificate)
    func failures(_ chain: CBORValue?) throws -> Set<String> {
      let credential = try visit.issue { terms in
        terms.editIssuerAuth = { $0[1] = chain.map { .map(labels: [33: $0]) } ?? .map([]) }
      }
      return try visit.verdict(on: credential).failures
    }
    for chain in [leaf, .array([leaf]), .array([leaf, root]), .array([leaf, .bytes([1, 2, 3])])] {
      #expect(try failures(chain) == [])
    }
    for chain in [nil, .array([]), .null, "MII", .array(["MII"]), .array([leaf, .null])] as [CBORValue?] {
      #expect(try failures(chain) == ["signerCertificateMissing"])
    }
    #expect(try failures(.bytes([])) == ["signerCertificateMalformed"])
    #expect(try failures(.bytes([0x30, 0])) == ["signerCertificateMalformed"])
    // The root in front is taken for the signer, and has not signed this.
    #expect(try failures(.array([root, leaf])).contains("issuerSignatureInvalid"))
  }

  @Test("certificates in the protected header are not looked for there")
  func protectedChain() throws {
    let certificate = try TestVisit().signer.certificate
    let protected = CBORValue.map(labels: [1: -7, 33: .bytes(certificate)]).encode()
    #expect(try verdict(certificates: .map([]), protected: protected).failures == ["signerCertificateMissing"])
    // Beside the ones that count they do no harm.
    #expect(try verdict(protected: protected).isVerified)
  }

  @Test(
    "external data are the empty byte string, not null and not left out",
    arguments: [("40", true), ("f6", false), ("", false), ("60", false), ("80", false), ("4100", false)])
  func externalData(encoded: String, isValid: Bool) throws {
    let verdict = try verdict(external: bytes(hex: encoded) ?? [])
    #expect(verdict.isVerified == isValid)
    #expect(verdict.failures == (isValid ? [] : ["issuerSignatureInvalid"]))
  }

  @Test("the tag of COSE_Sign1 may be there or not, another tag may not")
  func tags() throws {
    #expect(try verdict().isVerified)
    #expect(try verdict(wrap: { .tag(18, $0) }).isVerified)
    for number in [17, 24, 98, 61, 55799] as [UInt64] {
      #expect(try verdict(wrap: { .tag(number, $0) }).failures == ["issuerAuthMalformed"], "\(number)")
    }
    #expect(try verdict(wrap: { .bytes($0.encode()) }).failures == ["issuerAuthMalformed"])
    #expect(try verdict(wrap: { .tag(18, .tag(18, $0)) }).failures == ["issuerAuthMalformed"])
  }

  @Test("an algorithm is that of the signer's curve, by its classic number or by the one that binds the curve")
  func algorithms() throws {
    let pairs: [Curve: Set<Int64>] = [.p256: [-7, -9], .p384: [-35, -51], .p521: [-36, -52]]
    for (curve, right) in pairs {
      var visit = try TestVisit(signerCurve: curve)
      for number in numbers {
        let credential = try visit.issue { $0.algorithm = COSEAlgorithm(number: number) }
        let strict = try visit.verdict(on: credential)
        #expect(strict.failures == (right.contains(number) ? [] : ["issuerSignatureInvalid"]), "\(curve) \(number)")
        // Plain COSE pairs any hash with any curve; a number that binds the curve does not.
        let loose = try visit.verdict(on: credential) { $0.strictAlgorithmPairing = false }
        #expect(loose.isVerified == (right.contains(number) || number >= -36 && number != -9), "\(curve) \(number)")
      }
    }
  }

  @Test(
    "an algorithm that is none is refused by name, however large its number",
    arguments: [
      "a0", "a1013824", "a1013a7fffffff", "a1013b7fffffffffffffff", "a1013b8000000000000000",
      "a1013bffffffffffffffff", "a1011bffffffffffffffff", "a101654553323536", "a10105", "a101f6",
    ])
  func unknownAlgorithms(protected: String) throws {
    #expect(try verdict(protected: bytes(hex: protected) ?? []).failures == ["issuerAlgUnsupported"])
  }

  @Test("a bit turned anywhere in the signature or in what is signed is found")
  func bits() throws {
    var visit = try TestVisit()
    let credential = try visit.issue()
    for place in [0, 31, 32, 63] {
      var changed = credential.issuerAuth
      changed[changed.count - 64 + place] ^= 0x80
      #expect(try visit.verdict(on: credential.with(issuerAuth: changed)).failures == ["issuerSignatureInvalid"])
    }
    let salted = try visit.issue { terms in
      terms.editIssuerAuth = { parts in
        guard case .bytes(var payload) = parts[2] else { return }
        // Within a digest: the object stays well-formed.
        guard let place = payload.firstRange(of: [0x58, 0x20])?.upperBound else { return }
        payload[place + 5] ^= 1
        parts[2] = .bytes(payload)
      }
    }
    #expect(try visit.verdict(on: salted).failures.contains("issuerSignatureInvalid"))
  }
}
