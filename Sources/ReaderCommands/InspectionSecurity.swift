import Bytes
import CBOR
import COSE
import CivilTime
import Crypto
import JSON
import Mdoc
import Trust
import TrustStore

/// Signatures, the mobile security object, and certificates.
extension Inspection {
  /// Algorithm and certificates of a COSE structure.
  mutating func headerFacts(_ structure: COSEStructure, at path: String, wantsChain: Bool) -> [JSONValue.Member] {
    var facts = [JSONValue.Member("algorithm", .string(algorithmText(structure.algorithm)))]
    if structure.hasUnknownCritical { warn("\(path): a critical header that this reader does not know") }
    let chain = structure.x5chain
    guard wantsChain || !chain.isEmpty else { return facts }
    if chain.isEmpty { warn("\(path): no certificate in x5chain") }
    var certificates: [JSONValue] = []
    for (place, der) in chain.enumerated() {
      do throws(CertificateError) {
        certificates.append(.object(summary(of: try Certificate(der))))
      } catch {
        warn("\(path): certificate \(place) of x5chain (\(der.count) bytes) cannot be read: \(error)")
      }
    }
    facts.append(.init("x5chain", .array(certificates)))
    return facts
  }

  private func algorithmText(_ number: Int64?) -> String {
    guard let number else { return "none" }
    let names: [Int64: String] = [
      -7: "ES256", -35: "ES384", -36: "ES512", -8: "EdDSA", -9: "ESP256", -51: "ESP384", -52: "ESP512", -265: "ESB256",
      -266: "ESB320", -267: "ESB384", -268: "ESB512", -19: "Ed25519", -53: "Ed448", 5: "HMAC 256/256",
    ]
    return "\(names[number] ?? "unknown") (\(number))"
  }

  /// The curve of a COSE_Key, or what is wrong with it.
  mutating func keyText(_ item: CBORItem, at path: String) -> String {
    do throws(COSEKeyError) {
      return try PublicKey(coseKey: item).curve.rawValue
    } catch {
      let text = keyExplanation(error)
      warn("\(path): \(text)")
      return "not usable"
    }
  }

  func keyExplanation(_ error: COSEKeyError) -> String {
    switch error {
    case .malformed: "no COSE_Key with a key type, a curve and coordinates"
    case .unsupportedCurve: "a key on a curve outside the standard"
    case .coordinateSize: "a coordinate that is too long or too short for the curve"
    case .compressedPoint: "a compressed point"
    case .notOnCurve: "a point that is not on the curve"
    }
  }

  mutating func inspectObject(_ payload: ByteView, at path: String) -> [JSONValue.Member] {
    let label = path.isEmpty ? "mobile security object" : path
    let object: MobileSecurityObject
    do throws(MobileSecurityObject.Malformed) {
      object = try MobileSecurityObject(payload: payload, dates: .init(acceptsUntagged: true))
    } catch {
      problem(objectProblem(payload, error, label))
      return []
    }
    if (try? MobileSecurityObject(payload: payload, dates: .init())) == nil {
      warn("\(label): dates without tag 0, which a reader refuses unless --accept-untagged-dates")
    }
    let root = try? decodeCBOR(payload).embedded()
    let update = root?[key: "validityInfo"]?[key: "expectedUpdate"]?.untagged(0).text.flatMap { DateTime($0) }
    let digests = root?[key: "valueDigests"]?.entries.map(Array.init) ?? []
    return [
      .init("version", name(object.version, when: isVersion)), .init("docType", name(object.docType)),
      .init("digestAlgorithm", name(object.digestAlgorithm, when: isDigestAlgorithm)),
      .init("signed", .string("\(object.validity.signed)")),
      .init("validFrom", .string("\(object.validity.validFrom)")),
      .init("validUntil", .string("\(object.validity.validUntil)")),
      .init("expectedUpdate", update.map { .string("\($0.instant)") } ?? .null),
      .init("deviceKey", .string(keyText(object.deviceKey, at: "\(label), deviceKey"))),
      .init(
        "valueDigests",
        .array(digests.map { ["nameSpace": name($0.key.text ?? ""), "digests": .integer($0.value.count ?? 0)] })),
      .init("status", .array(statusKinds(object.status).map(JSONValue.string))),
    ]
  }

  private func objectProblem(
    _ payload: ByteView, _ error: MobileSecurityObject.Malformed, _ label: String
  ) -> String {
    if error.path.isEmpty {
      do throws(CBORError) {
        _ = try decodeCBOR(payload).embedded()
      } catch {
        return "\(label): not tag 24 around one item: \(text(of: error))"
      }
      return "\(label): no map inside tag 24"
    }
    let member = error.path.split(separator: ".").reduce((try? decodeCBOR(payload).embedded()) as CBORItem?) {
      $0?.value(under: String($1))
    }
    let what = member.map { "of the wrong kind at byte \($0.offset) of the object" } ?? "missing"
    return "\(label): \(error.path) is \(what)"
  }

  private func statusKinds(_ status: CBORItem?) -> [String] {
    ["status_list", "identifier_list"].filter { status?.value(under: $0) != nil }
  }

  // MARK: Certificates

  mutating func inspectCertificates(_ bytes: [UInt8]) {
    subject = "certificate"
    let certificates: [Certificate]
    do throws(CertificateInput.Violation) {
      certificates = try CertificateInput.certificates(in: bytes)
    } catch {
      problem("\(error)")
      return
    }
    if certificates.count == 1, let only = certificates.first {
      facts += details(of: only)
    } else {
      subject = "\(certificates.count) certificates"
      add("certificates", .array(certificates.map { .object(details(of: $0)) }))
    }
  }

  private func summary(of certificate: Certificate) -> [JSONValue.Member] {
    let key =
      switch certificate.publicKey {
      case .success(let key): key.curve.rawValue
      case .failure(let fault): "not usable: \(fault.rawValue)"
      }
    return [
      .init("subject", .string("\(certificate.subject)")), .init("issuer", .string("\(certificate.issuer)")),
      .init("serialNumber", .string("\(certificate.serialNumber)")),
      .init("notBefore", .string("\(certificate.notBefore)")), .init("notAfter", .string("\(certificate.notAfter)")),
      .init("key", .string(key)),
    ]
  }

  private func details(of certificate: Certificate) -> [JSONValue.Member] {
    let extensions = certificate.extensions.map { found -> JSONValue in
      [
        "oid": .string("\(found.oid)"), "name": .string(extensionNames[found.oid] ?? "unknown"),
        "critical": .bool(found.isCritical),
        "value": .string(reading(of: found.oid, in: certificate) ?? "\(found.value.count) bytes"),
      ]
    }
    let asRoot = certificate.anchorProfileFaults.map { "\($0.rawValue): \($0.explanation)" }
    let asSigner = (certificate.signerProfileFaults + certificate.extendedKeyUsageFaults(wanted: .documentSigner))
      .map { "\($0.rawValue): \($0.explanation)" }
    return summary(of: certificate) + [
      .init("version", .integer(certificate.version)),
      .init(
        "signatureAlgorithm",
        .string(algorithmNames[certificate.signatureAlgorithm] ?? "\(certificate.signatureAlgorithm)")),
      .init("selfSigned", .bool(isSelfSigned(certificate))),
      .init("fingerprint", .string(certificate.fingerprint.hex)), .init("extensions", .array(extensions)),
      .init("faultsAsIssuerRoot", .array(asRoot.map(JSONValue.string))),
      .init("faultsAsDocumentSigner", .array(asSigner.map(JSONValue.string))),
    ]
  }

  private func isSelfSigned(_ certificate: Certificate) -> Bool {
    guard certificate.subject == certificate.issuer, let key = try? certificate.publicKey.get() else { return false }
    return certificate.isSigned(by: key)
  }

  /// What a known extension says; nil for one that cannot be read or that is not known.
  private func reading(of oid: OID, in certificate: Certificate) -> String? {
    switch oid {
    case .keyUsage:
      certificate.keyUsage.value.map { usage in
        keyUsageNames.enumerated().filter { usage.rawValue & 1 << UInt32($0.offset) != 0 }.map(\.element)
          .joined(separator: " ")
      }
    case .extendedKeyUsage:
      certificate.extendedKeyUsage.value.map { $0.map { purposeNames[$0] ?? "\($0)" }.joined(separator: " ") }
    case .basicConstraints:
      certificate.basicConstraints.value.map { constraints in
        (constraints.isAuthority ? "authority" : "no authority")
          + (constraints.pathLength.map { " with path length \($0)" } ?? "")
      }
    case .subjectKeyIdentifier: certificate.subjectKeyIdentifier.value.map(\.hex)
    case .authorityKeyIdentifier: certificate.authorityKeyIdentifier.value.map { $0?.hex ?? "no key identifier" }
    case .issuerAltName:
      certificate.issuerAltName.value.map { ($0.emails + $0.uris + $0.dnsNames).joined(separator: " ") }
    case .crlDistributionPoints: certificate.crlDistributionPoints.value.map { $0.uris.joined(separator: " ") }
    default: nil
    }
  }
}

private let keyUsageNames = [
  "digitalSignature", "nonRepudiation", "keyEncipherment", "dataEncipherment", "keyAgreement", "keyCertSign", "cRLSign",
  "encipherOnly", "decipherOnly",
]
private let purposeNames: [OID: String] = [
  .documentSigner: "mdlDS (1.0.18013.5.1.2)", .readerAuthentication: "mdlReaderAuth (1.0.18013.5.1.6)",
]
private let algorithmNames: [OID: String] = [
  .ecdsaWithSHA256: "ECDSA with SHA-256", .ecdsaWithSHA384: "ECDSA with SHA-384",
  .ecdsaWithSHA512: "ECDSA with SHA-512",
  .ed25519: "Ed25519", .ed448: "Ed448",
]
private let extensionNames: [OID: String] = [
  .subjectKeyIdentifier: "subject key identifier", .keyUsage: "key usage", .subjectAltName: "subject alternative name",
  .issuerAltName: "issuer alternative name", .basicConstraints: "basic constraints",
  .nameConstraints: "name constraints",
  .crlDistributionPoints: "CRL distribution points", .policyMappings: "policy mappings",
  .authorityKeyIdentifier: "authority key identifier", .policyConstraints: "policy constraints",
  .extendedKeyUsage: "extended key usage", .freshestCRL: "freshest CRL", .inhibitAnyPolicy: "inhibit any policy",
]
