import CBOR
import CivilTime
import Crypto
import Mdoc

/// An order for one test document: what is in it, how it is signed, and at most one flaw.
package struct TestIssue: Sendable {
  package var content: DocumentContent
  package var issuerCurve = Curve.p256
  package var deviceCurve = Curve.p256
  package var digest = HashAlgorithm.sha256
  package var decoys = 2
  /// The instant all dates are relative to: a document is signed and valid from the day before.
  package var now: UnixTime
  /// Days from `now` to the end of validity.
  package var validDays = 30
  /// Where the certificates of a new root point for mail and lists.
  package var contact = IssuerAuthority.contact
  /// Nil for a document as it should be.
  package var flaw: Flaw?

  package init(_ content: DocumentContent, now: UnixTime) {
    self.content = content
    self.now = now
  }

  /// A document of this kind for a person of this age, with everything else as usual.
  package init(_ kind: DocumentKind, age: Int, now: UnixTime) {
    self.init(DocumentContent(kind: kind, person: TestPerson(age: age, on: now.date())), now: now)
  }

  /// A document, and the root that a reader of it should trust.
  package struct Outcome: Sendable {
    package let credential: Credential
    /// Not the root behind the document when the flaw is `untrustedRoot`.
    package let trusted: IssuerAuthority
    /// Whose certificate is in x5chain.
    package let signer: DocumentSigner
  }

  /// A root for orders like this one.
  package func makeAuthority(random: inout some RandomNumberGenerator) throws(IssuerError) -> IssuerAuthority {
    try IssuerAuthority(
      curve: issuerCurve.kind == .weierstrass ? issuerCurve : .p256, country: content.country,
      state: content.jurisdiction, notBefore: now.adding(days: -365), contact: contact, random: &random)
  }

  /// Issues the document, under `authority` or a fresh root.
  package func issue(
    under authority: IssuerAuthority? = nil, random: inout some RandomNumberGenerator
  ) throws(IssuerError) -> Outcome {
    let trusted = if let authority { authority } else { try makeAuthority(random: &random) }
    let root =
      flaw == .untrustedRoot
      ? try IssuerAuthority(
        country: content.country, state: content.jurisdiction, commonName: "Stranger IACA",
        notBefore: now.adding(days: -365), random: &random)
      : trusted
    let signer = try root.makeSigner(
      curve: issuerCurve, notBefore: now.adding(days: -30),
      notAfter: now.adding(days: flaw == .signerExpired ? -1 : 300),
      signedBy: flaw == .forgedSigner ? try PrivateKey.make(root.key.curve, random: &random) : nil, random: &random,
      edit: editSigner)
    let deviceKey = try PrivateKey.make(deviceCurve, random: &random)
    let credential = try signer.issue(
      docType: content.kind.docType, try content.nameSpaces(on: now.date()), deviceKey: deviceKey,
      terms: try terms(random: &random), random: &random)
    return Outcome(credential: credential, trusted: trusted, signer: signer)
  }

  private func editSigner(_ draft: inout CertificateDraft) {
    switch flaw {
    case .signerUsage: draft[.extendedKeyUsage] = .extendedKeyUsage([.readerAuthentication])
    case .signerIsCA: draft[.basicConstraints] = .basicConstraints(isAuthority: true)
    case .signerKeyUsage: draft[.keyUsage] = .keyUsage([.keyCertSign])
    case .signerCritical:
      // An identifier of the arc for examples; NULL as its value.
      if let oid = OID("2.999.1") { draft[oid] = ExtensionDraft(oid, isCritical: true, value: [5, 0]) }
    case .signerCountry:
      draft.subject = draft.subject.map { $0.type == .countryName ? NameAttribute(.countryName, "XX") : $0 }
    default: break
    }
  }

  private func terms(random: inout some RandomNumberGenerator) throws(IssuerError) -> IssuanceTerms {
    var terms = IssuanceTerms(now: now, days: validDays)
    terms.digest = digest
    terms.decoys = decoys
    switch flaw {
    case .expired:
      terms.signed = now.adding(days: -20)
      terms.validFrom = terms.signed
      terms.validUntil = now.adding(days: -1)
    case .notYetValid: terms.validFrom = now.adding(days: 2)
    case .inconsistentValidity: terms.validFrom = now.adding(days: -3)
    case .signedBeforeSigner:
      terms.signed = now.adding(days: -60)
      terms.validFrom = terms.signed
    case .foreignIssuerSignature: terms.signingKey = try PrivateKey.make(issuerCurve, random: &random)
    case .digestAlgorithm: terms.editMSO = { $0["digestAlgorithm"] = "SHA-1" }
    case .msoMalformed: terms.editMSO = { $0["docType"] = nil }
    case .shortRandom: terms.randomSize = 8
    default: break
    }
    return terms
  }
}

extension UnixTime {
  func adding(days: Int) -> UnixTime { adding(seconds: Int64(days) * 86_400) }
}
