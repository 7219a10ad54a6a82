import Bytes
import CBOR
import CivilTime
import Crypto
import Issuer
import JSON
import Mdoc

extension IssuerService {
  /// The body of an answer with a credential for each key.
  func makeCredentials(
    _ configurationID: String, keys: [PublicKey], at now: UnixTime
  ) throws(ServiceRefusal) -> JSONValue {
    guard let document = documents.first(where: { $0.configurationID == configurationID }) else {
      throw ServiceRefusal(.unknownCredentialConfiguration)
    }
    var texts: [String] = []
    do throws(IssuerError) {
      var bound = keys
      if deviations.contains(.repeatedDeviceKey) { bound = keys.map { _ in keys[0] } }
      if deviations.contains(.fewerCredentials) { bound.removeLast() }
      if deviations.contains(.moreCredentials) { bound.append(keys[0]) }
      for key in bound { texts.append(try text(of: document, for: key, at: now)) }
    } catch {
      throw ServiceRefusal(.serverError, "the document cannot be made", status: 500)
    }
    let id = unguessable()
    remember(notification: id)
    if deviations.contains(.draftCredential) { return ["credential": .string(texts.first ?? "")] }
    return [
      "credentials": .array(texts.map { ["credential": .string($0)] }), "notification_id": .string(id),
    ]
  }

  /// Bounded as everything here: with too many, all that nobody answered are forgotten, and if that is not enough, all.
  private func remember(notification id: String) {
    if notifications.count >= 10_000 { notifications = notifications.filter { $0.value != nil } }
    if notifications.count >= 10_000 { notifications = [:] }
    notifications[id] = .some(nil)
  }

  private func text(of document: OfferedDocument, for key: PublicKey, at now: UnixTime) throws(IssuerError) -> String {
    let bytes = try bytes(of: document, for: key, at: now)
    return deviations.contains(.paddedCredential) ? Base64.standard.encode(bytes) : Base64.url.encode(bytes)
  }

  private func bytes(of document: OfferedDocument, for key: PublicKey, at now: UnixTime) throws(IssuerError) -> [UInt8]
  {
    let docType = document.content.kind.docType
    var issued = try issue(document, docType: docType, for: key, at: now)
    if deviations.contains(.badDigest) { issued.spoilFirstItem() }
    if deviations.contains(.missingElement) { issued.nameSpaces[0].items.removeFirst() }
    let issuerSigned = CBORValue.encoded(issued.issuerSigned)
    if deviations.contains(.wrappedInDocument) {
      return CBORValue.map(["docType": .text(docType), "issuerSigned": issuerSigned]).encode()
    }
    if deviations.contains(.wrappedInResponse) {
      return DeviceResponseDraft(documents: [.map(["docType": .text(docType), "issuerSigned": issuerSigned])]).encode()
    }
    if deviations.contains(.wrappedInByteString) { return CBORValue.embedded(issuerSigned).encode() }
    return issued.issuerSigned
  }

  private func issue(
    _ document: OfferedDocument, docType: String, for key: PublicKey, at now: UnixTime
  ) throws(IssuerError) -> IssuedDocument {
    var terms = IssuanceTerms(now: now, days: settings.validDays)
    var key = key
    var signed = docType
    if deviations.contains(.otherDocType) { signed += ".other" }
    if deviations.contains(.otherDeviceKey) { key = try PrivateKey.make(.p256, random: &random).publicKey }
    if deviations.contains(.badIssuerSignature) { terms.signingKey = try PrivateKey.make(.p256, random: &random) }
    if deviations.contains(.expiredDocument) {
      terms = IssuanceTerms(signed: now.adding(seconds: -20 * 86_400), validUntil: now.adding(seconds: -86_400))
    }
    return try documentSigner(at: now).issue(
      docType: signed, document.content.nameSpaces(on: now.date()), deviceKey: key, terms: terms, random: &random)
  }

  /// The signer in use, or a new one when that one ends before a document of today would.
  private func documentSigner(at now: UnixTime) throws(IssuerError) -> DocumentSigner {
    if deviations.contains(.unknownRoot) {
      let stranger = try IssuerAuthority(
        commonName: "Stranger IACA", notBefore: now.adding(seconds: -365 * 86_400), random: &random)
      return try makeSigner(under: stranger, at: now)
    }
    if let signer, now.adding(seconds: Int64(settings.validDays) * 86_400) < signer.expiry { return signer.signer }
    let made = try makeSigner(under: authority, at: now)
    signer = (made, now.adding(seconds: 300 * 86_400))
    return made
  }

  private func makeSigner(under authority: IssuerAuthority, at now: UnixTime) throws(IssuerError) -> DocumentSigner {
    try authority.makeSigner(
      notBefore: now.adding(seconds: -30 * 86_400), notAfter: now.adding(seconds: 300 * 86_400), random: &random)
  }
}

extension IssuedDocument {
  /// Changes the salt of the first item after it was signed, so that its digest is wrong and nothing else.
  fileprivate mutating func spoilFirstItem() {
    let item = nameSpaces[0].items[0]
    // The member `random` and the head of its 32 bytes.
    let mark = [0x66] + Array("random".utf8) + [0x58, 0x20]
    var bytes = item.encoded
    guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: mark) }) else { return }
    bytes[start + mark.count] ^= 1
    nameSpaces[0].items[0] = Credential.Item(identifier: item.identifier, encoded: bytes)
  }
}
