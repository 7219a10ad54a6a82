import Bytes
import CBOR
import COSE
import CivilTime
import Crypto
import Trust

/// Why a list is not taken. The raw value is the stable reason code.
package enum VICALFault: String, Error, CaseIterable, Sendable {
  case malformed = "vicalMalformed"
  case versionUnsupported = "vicalVersionUnsupported"
  case signatureInvalid = "vicalSignatureInvalid"
  /// No chain leads from its signer to a certificate that this site trusts to sign lists.
  case signerUntrusted = "vicalSignerUntrusted"
  /// The signer, or what is above it, is outside of its dates.
  case signerExpired = "vicalSignerExpired"
  case signerRevoked = "vicalSignerRevoked"
  /// The signer is not one of lists by its extended key usage.
  case signerProfile = "vicalSignerProfile"
  /// It was issued later than now.
  case notYetValid = "vicalNotYetValid"
  /// A list of the same provider that was issued later is in force.
  case older = "vicalOlder"
}

/// A list of issuer roots (VICAL) as received: a COSE_Sign1 with its payload. Nobody has vouched for it.
package struct UnverifiedVICAL: Sendable {
  /// Longest list, in bytes.
  package static let maximumSize = 32 << 20
  static let limits = CBORLimits(items: 2_000_000, size: maximumSize)
  /// How far the provider's clock may be ahead.
  private static let skewSeconds: Int64 = 300

  package let encoded: ByteView
  private let sign1: COSESign1
  private let payload: ByteView

  /// Throws `malformed` for anything but a COSE_Sign1, tagged or not, with a payload and an algorithm.
  package init(_ bytes: ByteView) throws(VICALFault) {
    guard let item = try? decodeCBOR(bytes, limits: UnverifiedVICAL.limits), let sign1 = try? COSESign1(item),
      let payload = sign1.structure.payload, sign1.algorithm != nil, !sign1.structure.hasUnknownCritical
    else { throw .malformed }
    encoded = bytes
    self.sign1 = sign1
    self.payload = payload
  }

  /// What a list says of itself, true or not.
  package struct Claims: Equatable, Sendable {
    package let provider: String
    package let date: UnixTime
  }

  /// Nil when it cannot be read.
  package var claims: Claims? {
    guard let map = try? decodeCBOR(payload, limits: UnverifiedVICAL.limits), map.kind == .map,
      let provider = map[key: "vicalProvider"]?.text, let date = map[key: "date"].flatMap(VICAL.instant)
    else { return nil }
    return Claims(provider: provider, date: date)
  }

  /// The list, when one of the trust points vouches for its signer and the signer signed it.
  ///
  /// - Parameters:
  ///   - trustPoints: authorities whose list signers are believed, or list signers themselves.
  ///   - instant: when the certificates have to be valid; nil for when the list was issued, which is right for one that
  ///     was verified and stored before.
  ///   - isRevoked: whether a certificate of the chain, issued by the second one, is known to be revoked.
  package func verified(
    under trustPoints: [Certificate], at instant: UnixTime?,
    isRevoked: (Certificate, Certificate) -> Bool = { _, _ in false }
  ) throws(VICALFault) -> VICAL {
    let chain = sign1.structure.x5chainOfEitherHeader
    guard !chain.isEmpty, chain.count <= CertificatePath.longest else { throw .signerUntrusted }
    var certificates: [Certificate] = []
    for der in chain {
      guard let certificate = try? Certificate(der) else { throw .malformed }
      certificates.append(certificate)
    }
    guard let path = try? CertificatePath(certificates) else { throw .signerUntrusted }
    guard path.signer.extendedKeyUsage.value?.contains(.vicalSigner) == true else { throw .signerProfile }
    let trusted = trustPoints.filter { path.fault(under: $0) == nil }
    guard !trusted.isEmpty else { throw .signerUntrusted }
    guard let key = try? path.signer.publicKey.get(), sign1.isValid(for: payload, key: key) else {
      throw .signatureInvalid
    }
    let list = try VICAL(self, payload: payload, signer: path.signer, trustPoints: trusted)
    if let instant, list.date > instant.adding(seconds: UnverifiedVICAL.skewSeconds) { throw .notYetValid }
    guard let trustPoint = trusted.first(where: { path.dateFault(under: $0, at: instant ?? list.date) == nil }) else {
      throw .signerExpired
    }
    for (place, certificate) in certificates.enumerated() where certificate != trustPoint {
      let issuer = place + 1 < certificates.count ? certificates[place + 1] : trustPoint
      if isRevoked(certificate, issuer) { throw .signerRevoked }
    }
    return list
  }
}

/// A verified list of issuer roots: only `UnverifiedVICAL` makes one.
package struct VICAL: Sendable {
  /// An entry that cannot be used; the rest of the list stands.
  package struct Skipped: Equatable, Sendable {
    /// Counts from 1.
    package let number: Int
    package let fault: VICALEntryFault
    /// What the entry says about itself, for people: country, state and authority.
    package let name: String
  }

  package let encoded: ByteView
  package let signer: Certificate
  /// Every certificate of the site that vouches for the signer, its dates apart; never empty.
  package let trustPoints: [Certificate]
  package let version: String
  package let provider: String
  package let date: UnixTime
  /// A label: real lists do not keep it growing.
  package let issueID: UInt64?
  package let nextUpdate: UnixTime?
  package let entries: [VICALEntry]
  package let skipped: [Skipped]

  fileprivate init(_ unverified: UnverifiedVICAL, payload: ByteView, signer: Certificate, trustPoints: [Certificate])
    throws(VICALFault)
  {
    guard let map = try? decodeCBOR(payload, limits: UnverifiedVICAL.limits), map.kind == .map,
      let version = map[key: "version"]?.text, let provider = map[key: "vicalProvider"]?.text,
      let date = map[key: "date"].flatMap(VICAL.instant), let infos = map[key: "certificateInfos"]?.elements
    else { throw .malformed }
    guard version.hasPrefix("1."), version.utf8.count > 2,
      version.utf8.dropFirst(2).allSatisfy({ (0x30...0x39).contains($0) })
    else { throw .versionUnsupported }
    if let next = map[key: "nextUpdate"], !next.isNull {
      guard let instant = VICAL.instant(next) else { throw .malformed }
      nextUpdate = instant
    } else {
      nextUpdate = nil
    }
    if let id = map[key: "vicalIssueID"], !id.isNull {
      guard let number = id.uint else { throw .malformed }
      issueID = number
    } else {
      issueID = nil
    }
    var entries: [VICALEntry] = []
    var skipped: [Skipped] = []
    for (place, info) in infos.enumerated() {
      do throws(VICALEntryFault) {
        entries.append(try VICALEntry(info))
      } catch {
        skipped.append(Skipped(number: place + 1, fault: error, name: VICALEntry.name(of: info)))
      }
    }
    encoded = unverified.encoded
    self.signer = signer
    self.trustPoints = trustPoints
    self.version = version
    self.provider = provider
    self.date = date
    self.entries = entries
    self.skipped = skipped
  }

  fileprivate static func instant(_ item: CBORItem) -> UnixTime? {
    guard item.tagNumber == 0, let text = item.tagged?.textBytes else { return nil }
    return DateTime(characters: text)?.instant
  }

  /// Whether the provider has announced a newer list that should be here by now.
  package func isStale(at now: UnixTime) -> Bool { nextUpdate.map { $0 < now } ?? false }

  /// Whole days since it was issued; negative for a list from the future.
  package func age(at now: UnixTime) -> Int { Int((now.seconds - date.seconds) / 86_400) }

  /// Whether both are lists of one provider: of one name, with a trust point in common. The name alone is nobody's, since
  /// whoever may sign a list can write it.
  package func isKin(of other: VICAL) -> Bool {
    provider.utf8.elementsEqual(other.provider.utf8)
      && trustPoints.contains { one in other.trustPoints.contains { $0.isSameAuthority(as: one) } }
  }

  /// Something odd about a list that takes the place of another.
  package enum SuccessionRemark: Equatable, Sendable {
    /// Its number is lower than that of the list before. Real lists do that, so that only dates count.
    case lowerIssueID(UInt64, before: UInt64)
    /// It has the date of the list before, and other contents.
    case sameDate
  }

  /// Whether it may take the place of a list of the same provider (`isKin`); throws `older` when not.
  package func succeed(_ other: VICAL) throws(VICALFault) -> [SuccessionRemark] {
    guard isKin(of: other) else { return [] }
    guard date >= other.date else { throw .older }
    var remarks: [SuccessionRemark] = []
    if let issueID, let before = other.issueID, issueID < before {
      remarks.append(.lowerIssueID(issueID, before: before))
    }
    if date == other.date, !isEqual(encoded, other.encoded) { remarks.append(.sameDate) }
    return remarks
  }

  /// The roots for the verification, each for its doc types only.
  package func anchors(source: String) -> [TrustAnchor] {
    entries.map {
      TrustAnchor($0.certificate, docTypes: $0.docTypes, source: source)
    }
  }
}

extension Certificate {
  /// Whether both are of one subject and one key: a certificate and that which renews it.
  fileprivate func isSameAuthority(as other: Certificate) -> Bool {
    if self == other { return true }
    guard let key = try? publicKey.get(), let otherKey = try? other.publicKey.get() else { return false }
    return key == otherKey && subject.normalized == other.subject.normalized
  }
}
