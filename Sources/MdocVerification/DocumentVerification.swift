import Bytes
import CBOR
import COSE
import CivilTime
import Crypto
import Mdoc
import StatusLists
import Trust

/// The checks of one document, parts B to E. Used once: `run`, then done.
struct DocumentVerification {
  let document: ReturnedDocument
  let place: Int
  let requests: [ItemsRequest]
  let circumstances: Verifier.Circumstances
  let policy: VerificationPolicy
  let trust: SignerTrust
  let revocation: RevocationLists
  let statuses: StatusSource
  /// The age limits asked for in each name space, in the order of the request.
  let requestedLimits: [(nameSpace: String, limit: AgeOver)]

  private(set) var findings: [Finding] = []
  /// What part D came to; nil when there is no signer certificate.
  private var chain: ChainVerdict?
  private var status: StatusAnswer?
  private var signer: Certificate?
  private var statusAddress: String?

  init(
    document: ReturnedDocument, place: Int, requests: [ItemsRequest], circumstances: Verifier.Circumstances,
    policy: VerificationPolicy, trust: SignerTrust, revocation: RevocationLists, statuses: StatusSource
  ) {
    self.document = document
    self.place = place
    self.requests = requests
    self.circumstances = circumstances
    self.policy = policy
    self.trust = trust
    self.revocation = revocation
    self.statuses = statuses
    var limits: [(nameSpace: String, limit: AgeOver)] = []
    for nameSpace in requests.flatMap(\.nameSpaces) {
      for element in nameSpace.elements {
        if let limit = AgeOver(element: element.identifier) { limits.append((nameSpace.nameSpace, limit)) }
      }
    }
    requestedLimits = limits
  }

  mutating func add(_ severity: Finding.Severity, _ reason: Reason) {
    findings.append(Finding(severity, reason, document: place))
  }

  private mutating func fail(_ reason: Reason) { add(.failure, reason) }

  var hasFailed: Bool { findings.contains { $0.severity == .failure } }

  mutating func run() -> DocumentVerdict {
    let verified = checkAll()
    return DocumentVerdict(
      docType: document.docType, findings: findings, verified: hasFailed ? nil : verified,
      signerRevocation: chain?.revocation, status: status, lists: lists)
  }

  /// Only the word of an issuer that somebody vouches for is passed on, and a chain that nobody vouches for has failed.
  private var lists: ListAddresses? {
    if hasFailed { return nil }
    guard let signer else { return nil }
    return ListAddresses(signer: signer, status: statusAddress)
  }

  private mutating func checkAll() -> VerifiedDocument? {
    guard let issuerSigned = try? IssuerSigned(document.issuerSigned) else {
      fail(.issuerAuthMalformed)
      _ = readDeviceSigned()
      return nil
    }
    let signer = checkIssuerAuth(issuerSigned.issuerAuth)
    guard let object = readObject(issuerSigned) else {
      _ = readDeviceSigned()
      return nil
    }
    checkItems(of: issuerSigned, against: object)
    checkObject(object, signer: signer, issuerSigned: issuerSigned)
    let deviceSigned = checkDevice(of: object, issuerSigned: issuerSigned)
    guard !hasFailed, let deviceSigned else { return nil }
    return matchRequest(issuerSigned: issuerSigned, deviceSigned: deviceSigned, signer: signer, object: object)
  }

  // MARK: B1 to B5, D: who signed

  /// B2, B3, B4 with part D, and B5. The signer certificate, when there is one that parses.
  private mutating func checkIssuerAuth(_ auth: COSESign1) -> Certificate? {
    let isAlgorithmUsable = auth.algorithm != nil && !auth.structure.hasUnknownCritical
    if !isAlgorithmUsable { fail(.issuerAlgUnsupported) }
    guard let leaf = auth.structure.x5chain.first else {
      fail(.signerCertificateMissing)
      return nil
    }
    guard let signer = try? trust.assess(leaf) else {
      fail(.signerCertificateMalformed)
      return nil
    }
    checkChain(of: signer)
    self.signer = signer.certificate
    if isAlgorithmUsable, let key = try? signer.certificate.publicKey.get(), let payload = auth.structure.payload {
      if !auth.isValid(for: payload, key: key, strictPairing: policy.strictAlgorithmPairing) {
        fail(.issuerSignatureInvalid)
      }
    }
    return signer.certificate
  }

  /// Part D.
  private mutating func checkChain(of signer: SignerAssessment) {
    let requirements = ChainRequirements(
      docType: document.docType, keyPurpose: policy.signerKeyUsages[document.docType],
      isStrict: policy.strictCertificateProfile, revocation: policy.signerRevocation(for: document.docType),
      edition: policy.certificateEdition)
    let now = circumstances.now
    let lists = revocation
    let verdict = signer.verdict(for: requirements, at: now) { lists.answer(for: $0, under: $1, at: now) }
    for finding in verdict.findings { add(finding.isHard ? .failure : .warning, .chain(finding.reason)) }
    if case .failure(let fault) = signer.certificate.publicKey { add(.information, .signerKey(fault)) }
    chain = verdict
  }

  // MARK: B6 to B10: what was signed

  private mutating func readObject(_ issuerSigned: IssuerSigned) -> MobileSecurityObject? {
    let dates = MobileSecurityObject.DateRules(
      acceptsFraction: policy.acceptsFractionalSeconds, acceptsUntagged: policy.acceptsUntaggedDates)
    guard let payload = issuerSigned.issuerAuth.structure.payload,
      let object = try? MobileSecurityObject(payload: payload, dates: dates)
    else {
      fail(.msoMalformed)
      return nil
    }
    guard object.version == "1.0" else {
      fail(.msoVersionUnsupported)
      return nil
    }
    return object
  }

  private mutating func checkItems(of issuerSigned: IssuerSigned, against object: MobileSecurityObject) {
    let algorithm = HashAlgorithm(msoName: object.digestAlgorithm)
    if algorithm == nil { fail(.digestAlgorithmUnsupported) }
    let digester = algorithm.map(Digester.init)
    guard let nameSpaces = issuerSigned.nameSpaces else {
      fail(.itemMalformed(nameSpace: "nameSpaces"))
      return
    }
    for nameSpace in nameSpaces {
      let name = nameSpace.nameSpace
      if nameSpace.hasMalformedItem { fail(.itemMalformed(nameSpace: name)) }
      let signed = object.valueDigests.firstIndex { $0.nameSpace == name }
      var repetitions = Repetitions(in: nameSpace.items)
      // By place: an item that is copied costs a reference for each of its parts.
      let items = nameSpace.items
      for place in items.indices {
        let element = items[place].elementIdentifier
        if repetitions.isRepeated(place) { fail(.duplicateElement(nameSpace: name, element: element)) }
        if items[place].randomSize < 16 {
          add(policy.failsShortRandom ? .failure : .warning, .randomTooShort(nameSpace: name, element: element))
        }
        guard let digester else { continue }
        if let expected = signed.flatMap({ object.valueDigests[$0].digest(items[place].digestID) }) {
          if !digester.isDigest(expected, of: items[place].encoded) {
            fail(.digestMismatch(nameSpace: name, element: element))
          }
        } else {
          fail(.digestMissing(nameSpace: name, element: element))
        }
      }
    }
  }

  // MARK: B11 to B15

  private mutating func checkObject(_ object: MobileSecurityObject, signer: Certificate?, issuerSigned: IssuerSigned) {
    if object.docType != document.docType { fail(.docTypeMismatch) }
    let validity = object.validity
    if let signer, validity.signed < signer.notBefore || validity.signed > signer.notAfter {
      fail(.signedOutsideSignerValidity)
    }
    let latest = circumstances.now.adding(seconds: policy.clockSkewSeconds)
    if latest < validity.validFrom || latest < validity.signed { fail(.notYetValid) }
    if validity.validUntil < circumstances.now { fail(.expired) }
    if validity.signed > validity.validFrom || validity.validFrom >= validity.validUntil {
      fail(.validityInfoInconsistent)
    }
    if let signer { checkIssuingCountry(signer, issuerSigned) }
    checkStatus(object, signer: signer)
  }

  /// B14, for an mDL only.
  private mutating func checkIssuingCountry(_ signer: Certificate, _ issuerSigned: IssuerSigned) {
    guard document.docType == MDLElements.docType,
      let items = issuerSigned.nameSpaces?.first(where: { $0.nameSpace == MDLElements.nameSpace })?.items
    else { return }
    func isOther(_ element: String, than name: String) -> Bool {
      items.contains { $0.elementIdentifier == element && !$0.elementValue.isText(name) }
    }
    let subject = signer.subject
    let countries = subject.countries
    if countries.count == 1, isOther(MDLElements.issuingCountry, than: countries[0]) {
      fail(.countryMismatch)
    }
    if let state = subject.states.first, isOther(MDLElements.issuingJurisdiction, than: state) {
      fail(.jurisdictionMismatch)
    }
  }

  /// B15, by the lists that the reader has.
  private mutating func checkStatus(_ object: MobileSecurityObject, signer: Certificate?) {
    guard let member = object.status else { return }
    let reference = StatusReference(member)
    statusAddress = reference?.uri
    let answer = reference.map { ask($0, signer: signer) } ?? .unavailable(.tokenMalformed)
    // Known also where nothing is asked for it: events say it either way.
    status = answer
    let demand = policy.documentStatus(for: document.docType)
    guard demand != .ignore else { return }
    switch answer {
    case .valid: break
    case .revoked: fail(.revoked)
    case .suspended: fail(.suspended)
    case .unknownValue: fail(.statusUnknownValue)
    case .indexOutOfRange: fail(.statusIndexOutOfRange)
    case .unavailable(let fault):
      add(demand == .require ? .failure : .warning, .statusUnavailable(detail: fault.rawValue))
    }
  }

  private func ask(_ reference: StatusReference, signer: Certificate?) -> StatusAnswer {
    let now = circumstances.now
    var trustPoint = StatusTrustPoint.none
    if let anchor = chain?.anchor {
      trustPoint = .issuer(anchor.certificate)
    } else if let signer, chain?.isTrustedSigner == true {
      trustPoint = .signer(signer)
    }
    return statuses.answer(to: reference, from: trustPoint, at: now, skewSeconds: policy.clockSkewSeconds) {
      [chain, revocation] certificate in
      chain?.anchor.map { revocation.answer(for: certificate, under: $0, at: now) } == .revoked
    }
  }

  // MARK: C: the device

  private mutating func readDeviceSigned() -> DeviceSigned? {
    do {
      return try DeviceSigned(document.deviceSigned)
    } catch {
      fail(error == .missing ? .deviceAuthMissing : .deviceAuthMalformed)
      return nil
    }
  }

  private mutating func checkDevice(of object: MobileSecurityObject, issuerSigned: IssuerSigned) -> DeviceSigned? {
    guard let deviceSigned = readDeviceSigned() else { return nil }
    if let key = try? PublicKey(coseKey: object.deviceKey, acceptsCompressed: policy.acceptsCompressedPoints) {
      let payload = DeviceAuthentication.payload(
        transcript: circumstances.transcript, docType: document.docType, nameSpacesBytes: deviceSigned.nameSpacesBytes)
      switch deviceSigned.auth {
      case .signature(let signature):
        if !isValid(signature, for: payload, key: key) { fail(.deviceSignatureInvalid) }
      case .mac(let mac):
        if !isValid(mac, for: payload, key: key) { fail(.deviceMacInvalid) }
      }
    } else {
      fail(.deviceKeyInvalid)
    }
    checkDeviceElements(deviceSigned, object: object, issuerSigned: issuerSigned)
    return deviceSigned
  }

  private func isValid(_ signature: COSESign1, for payload: [UInt8], key: PublicKey) -> Bool {
    !signature.structure.hasUnknownCritical && isPayloadAcceptable(signature.structure, expected: payload)
      && signature.isValid(for: payload[...], key: key, strictPairing: policy.strictAlgorithmPairing)
  }

  private func isValid(_ mac: COSEMac0, for payload: [UInt8], key: PublicKey) -> Bool {
    guard !mac.structure.hasUnknownCritical, isPayloadAcceptable(mac.structure, expected: payload),
      let readerKey = circumstances.readerKey,
      let macKey = try? DeviceAuthentication.macKey(own: readerKey, peer: key, transcript: circumstances.transcript)
    else { return false }
    return mac.isValid(for: payload[...], key: macKey)
  }

  /// The payload has to be detached; by policy one that repeats the expected bytes is borne.
  private func isPayloadAcceptable(_ structure: COSEStructure, expected: [UInt8]) -> Bool {
    guard let attached = structure.payload else { return true }
    return policy.acceptsAttachedDevicePayload && attached.elementsEqual(expected)
  }

  /// C5 and C6.
  private mutating func checkDeviceElements(
    _ deviceSigned: DeviceSigned, object: MobileSecurityObject, issuerSigned: IssuerSigned
  ) {
    for nameSpace in deviceSigned.nameSpaces {
      let name = nameSpace.nameSpace
      let issued = Set(
        issuerSigned.nameSpaces?.first { $0.nameSpace == name }?.items.map(\.elementIdentifier) ?? [])
      for element in nameSpace.elements {
        if issued.contains(element.identifier) {
          fail(.ambiguousElement(nameSpace: name, element: element.identifier))
        }
        if !object.keyAuthorizations.covers(element.identifier, in: name) {
          add(
            policy.failsUnauthorizedDeviceElement ? .failure : .dropped,
            .deviceElementUnauthorized(nameSpace: name, element: element.identifier))
        }
      }
    }
  }
}

/// Which items repeat the identifier or the digest id of an item before them.
///
/// A few are compared one with another, which is faster than hashing them; a hostile many are hashed.
private struct Repetitions {
  private let items: [IssuerSignedItem]
  private var identifiers: Set<String> = []
  private var digestIDs: Set<UInt64> = []
  private static var mostCompared: Int { 16 }

  init(in items: [IssuerSignedItem]) { self.items = items }

  /// To be asked for each place once, in order.
  mutating func isRepeated(_ place: Int) -> Bool {
    if items.count > Repetitions.mostCompared {
      let isNewIdentifier = identifiers.insert(items[place].elementIdentifier).inserted
      let isNewDigestID = digestIDs.insert(items[place].digestID).inserted
      return !isNewIdentifier || !isNewDigestID
    }
    for earlier in 0..<place {
      if items[earlier].digestID == items[place].digestID { return true }
      if items[earlier].elementIdentifier == items[place].elementIdentifier { return true }
    }
    return false
  }
}
