import Bytes
import CBOR
import COSE
import CivilTime
import Crypto
import JSON
import Mdoc
import MdocVerification
import Trust

/// The checks of the credentials in one answer, before any of them is handed out.
///
/// What a reader would check is checked by the reader's own verification: the wallet presents the new document to itself. That
/// covers the issuer's signature, every digest, the dates, the signer's certificate, and that the device key signs.
struct IssuedCredentialCheck {
  let configuration: CredentialConfiguration
  /// Those that were proved and have no credential yet.
  private var keys: [PrivateKey]
  private let provedKeys: [PublicKey]

  init(configuration: CredentialConfiguration, keys: [PrivateKey]) {
    self.configuration = configuration
    self.keys = keys
    provedKeys = keys.map(\.publicKey)
  }

  /// A credential whose form, doc type and key are right.
  struct Candidate {
    let credential: Credential
    let signer: Certificate
    let validity: ValidityInfo
  }

  /// Reads one and finds the key it is bound to, wherever it stands in the request.
  mutating func read(_ value: JSONValue?) throws(IssuedCredentialFault) -> Candidate {
    let bytes = try IssuedCredentialCheck.bytes(of: value)
    let item: CBORItem
    do { item = try decodeCBOR(bytes) } catch { throw .notCBOR }
    let issuerSigned: IssuerSigned
    do { issuerSigned = try IssuerSigned(item) } catch {
      if let wrapping = IssuedCredentialCheck.wrapping(of: item) { throw .wrapped(wrapping) }
      throw .notIssuerSigned
    }
    let object: MobileSecurityObject
    do {
      object = try MobileSecurityObject(
        payload: issuerSigned.issuerAuth.structure.payload ?? [], dates: MobileSecurityObject.DateRules())
    } catch {
      throw .objectMalformed(error.path)
    }
    guard object.docType == configuration.docType else { throw .otherDocType }
    guard let deviceKey = try? PublicKey(coseKey: object.deviceKey), provedKeys.contains(deviceKey) else {
      throw .otherDeviceKey
    }
    guard let place = keys.firstIndex(where: { $0.publicKey == deviceKey }) else { throw .repeatedDeviceKey }
    let credential: Credential
    do {
      credential = try Credential(docType: object.docType, issuerSigned: bytes[...], deviceKey: keys[place])
    } catch {
      throw .notIssuerSigned
    }
    guard let leaf = issuerSigned.issuerAuth.structure.x5chain.first, let signer = try? Certificate(leaf) else {
      throw .notAuthentic([Reason.signerCertificateMissing.text])
    }
    try checkMandatory(credential)
    keys.remove(at: place)
    return Candidate(credential: credential, signer: signer, validity: object.validity)
  }

  /// Base64url without padding. The two mistakes that issuers make are told from the rest.
  private static func bytes(of value: JSONValue?) throws(IssuedCredentialFault) -> [UInt8] {
    guard let text = value?["credential"]?.string else { throw .notText }
    do { return try Base64.url.decode(text) } catch {}
    // Of either alphabet, with as much padding as it has or lacks.
    var standard = text.utf8.map { byte -> UInt8 in
      switch byte {
      case UInt8(ascii: "-"): UInt8(ascii: "+")
      case UInt8(ascii: "_"): UInt8(ascii: "/")
      default: byte
      }
    }
    while !standard.count.isMultiple(of: 4) { standard.append(UInt8(ascii: "=")) }
    if (try? Base64.standard.decode(String(decoding: standard, as: UTF8.self))) != nil { throw .padded }
    throw .notBase64URL
  }

  private static func wrapping(of item: CBORItem) -> IssuedCredentialFault.Wrapping? {
    if item.kind == .map, item[key: "documents"] != nil { return .deviceResponse }
    if item.kind == .map, item[key: "issuerSigned"] != nil { return .document }
    guard let inner = item.embeddedBytes ?? item.bytes, let content = try? decodeCBOR(inner), content.kind == .map
    else {
      return nil
    }
    return .byteString
  }

  private func checkMandatory(_ credential: Credential) throws(IssuedCredentialFault) {
    for claim in configuration.claims where claim.isMandatory {
      let items = credential.nameSpaces.first { $0.name == claim.nameSpace }?.items ?? []
      guard items.contains(where: { $0.identifier == claim.element }) else {
        throw .missingElement(nameSpace: claim.nameSpace, element: claim.element)
      }
    }
  }
}

extension IssuedCredentialCheck.Candidate {
  /// What the reader's verification finds wrong, under these roots.
  func failures(under anchors: [TrustAnchor], at now: UnixTime) throws(IssuedCredentialFault) -> [Reason] {
    // Nobody else will see this transcript: it only has to be the same on both sides.
    let transcript = CBORValue.array([.null, .null, "OpenID4VCI"]).encode()
    var presentation = DocumentPresentation(
      credential, selection: credential.everything, method: .signature, transcript: transcript, readerKey: nil)
    presentation.reportsMissing = false
    guard let document = try? presentation.document() else { throw .otherDeviceKey }
    var policy = VerificationPolicy()
    // Whether the issuer has taken it back is asked by those who are shown it.
    policy.signerRevocation = .ignore
    policy.documentStatus = .ignore
    policy.maximumResponseSize = IssuanceLimits.credentialAnswerSize + 65_536
    let requested = ItemsRequest(
      docType: credential.docType,
      nameSpaces: credential.nameSpaces.map { space in
        ItemsRequest.NameSpaceRequest(
          nameSpace: space.name,
          elements: space.items.map { ItemsRequest.ElementRequest(identifier: $0.identifier, intentToRetain: false) })
      })
    let verdict = Verifier(anchors: anchors, policy: policy).verify(
      DeviceResponseDraft(documents: [document]).encode()[...],
      in: Verifier.Circumstances(transcript: transcript[...], requested: [requested], readerKey: nil, now: now))
    return verdict.allFindings.filter { $0.severity == .failure }.map(\.reason)
  }
}
