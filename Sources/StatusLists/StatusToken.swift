import Bytes
import CBOR
import COSE
import CivilTime
import Crypto
import Mdoc
import Synchronization
import Trust

/// What the signer of a list claims, read from either form of the token.
package struct StatusClaims: Sendable {
  /// What the list is.
  package enum Content: Sendable {
    case statuses(StatusList)
    /// Identifiers of revoked documents.
    case identifiers(ByteStringSet)
  }

  /// The address of the list.
  package var subject: String
  package var issuedAt: UnixTime
  package var expiry: UnixTime?
  /// How long a copy may be used after it was fetched, in seconds.
  package var timeToLive: Int64?
  /// Nil when there is no list in the token, or one that cannot be read.
  package var content: Content?

  package init(subject: String, issuedAt: UnixTime, expiry: UnixTime?, timeToLive: Int64?, content: Content?) {
    self.subject = subject
    self.issuedAt = issuedAt
    self.expiry = expiry
    self.timeToLive = timeToLive
    self.content = content
  }
}

/// A signed status list or identifier list, read once and off the path of visitors: unpacked, its signature checked with
/// the certificate that it carries. Whether that certificate is anybody's is asked for each document.
package final class StatusToken: Sendable {
  /// Longest token, in bytes.
  package static let maximumSize = 16 << 20
  private static let limits = CBORLimits(items: 2_200_000, size: maximumSize)

  package let claims: StatusClaims
  /// The signer's chain; nil when the token carries none that can be read.
  package let path: CertificatePath?
  /// Whether the first certificate's key made the signature.
  package let isSignatureValid: Bool
  /// Whether chains lead to trust points, kept because it costs signature checks.
  private let known = Mutex<[(trustPoint: Certificate, fault: PathFault?)]>([])
  private static let mostKnown = 16

  private init(claims: StatusClaims, certificates: [ByteView], isValid: (PublicKey) -> Bool) throws(StatusFault) {
    self.claims = claims
    // Bounded before any is parsed.
    let chain = certificates.count <= CertificatePath.longest ? certificates : []
    var parsed: [Certificate] = []
    for der in chain {
      guard let certificate = try? Certificate(der) else { throw .tokenMalformed }
      parsed.append(certificate)
    }
    path = try? CertificatePath(parsed)
    isSignatureValid = (try? path?.signer.publicKey.get()).map(isValid) ?? false
  }

  /// Reads a token in CWT form: COSE_Sign1 in tag 18, `typ` saying which list it is.
  package convenience init(cwt bytes: ByteView) throws(StatusFault) {
    guard let item = try? decodeCBOR(bytes, limits: StatusToken.limits), item.tagNumber == 18,
      let sign1 = try? COSESign1(item), sign1.algorithm != nil, !sign1.structure.hasUnknownCritical,
      let payload = sign1.structure.payload, let map = try? decodeCBOR(payload, limits: StatusToken.limits),
      map.kind == .map
    else { throw .tokenMalformed }
    let type = sign1.structure.protected(label: 16)
    let content: StatusClaims.Content?
    if type?.isText("application/statuslist+cwt") == true {
      content = StatusToken.statuses(map[label: 65533])
    } else if type?.isText("application/identifierlist+cwt") == true {
      content = StatusToken.identifiers(map[label: 65530])
    } else {
      throw .tokenMalformed
    }
    guard let subject = map[label: 2]?.text, let issuedAt = map[label: 6].flatMap(StatusToken.seconds) else {
      throw .tokenMalformed
    }
    let expiry = map[label: 4].map(StatusToken.seconds)
    let timeToLive = map[label: 65534].map(StatusToken.seconds)
    // What is there has to be a number.
    guard expiry != .some(nil), timeToLive != .some(nil) else { throw .tokenMalformed }
    let claims = StatusClaims(
      subject: subject, issuedAt: UnixTime(seconds: issuedAt),
      expiry: expiry.flatMap { $0 }.map { UnixTime(seconds: $0) },
      timeToLive: timeToLive.flatMap { $0 }, content: content)
    try self.init(claims: claims, certificates: sign1.structure.x5chainOfEitherHeader) { key in
      sign1.isValid(for: payload, key: key)
    }
  }

  /// The pieces of a token in JWT form (compact JWS, RFC 7515), taken apart by whoever reads its JSON.
  package struct JWT: Sendable {
    /// `alg` of its header.
    package var algorithm: String
    /// `x5c`, decoded.
    package var certificates: [[UInt8]]
    /// Header and payload as received, with the dot between them.
    package var signingInput: [UInt8]
    package var signature: [UInt8]
    package var claims: StatusClaims

    package init(
      algorithm: String, certificates: [[UInt8]], signingInput: [UInt8], signature: [UInt8], claims: StatusClaims
    ) {
      self.algorithm = algorithm
      self.certificates = certificates
      self.signingInput = signingInput
      self.signature = signature
      self.claims = claims
    }
  }

  /// Takes a token in JWT form. Throws `tokenMalformed` for an algorithm that no list may be signed with.
  package convenience init(jwt: JWT) throws(StatusFault) {
    guard let algorithm = COSEAlgorithm(joseName: jwt.algorithm) else { throw .tokenMalformed }
    try self.init(claims: jwt.claims, certificates: jwt.certificates.map { $0[...] }) { key in
      algorithm.fits(key.curve, strictPairing: true)
        && key.isValid(signature: jwt.signature[...], for: jwt.signingInput[...], hash: algorithm.hash)
    }
  }

  /// Whole seconds of a NumericDate, which may be a fraction.
  private static func seconds(_ item: CBORItem) -> Int64? {
    let value = item.int ?? item.double.flatMap { Int64(exactly: $0.rounded(.down)) }
    guard let value, value >= 0, value < 1 << 48 else { return nil }
    return value
  }

  private static func statuses(_ item: CBORItem?) -> StatusClaims.Content? {
    guard let item, let bits = item[key: "bits"]?.int, let compressed = item[key: "lst"]?.bytes else { return nil }
    return StatusList(bits: bits, compressed: compressed).map { .statuses($0) }
  }

  /// The list of revoked identifiers: the keys of a map.
  package static func identifiers(_ item: CBORItem?) -> StatusClaims.Content? {
    guard let map = item?[key: "identifiers"], let entries = map.entries else { return nil }
    var builder = ByteStringSet.Builder(expecting: map.count ?? 0, bytes: map.encoded.count)
    for (key, _) in entries {
      guard let identifier = key.bytes, builder.insert(identifier) else { return nil }
    }
    return .identifiers(builder.build())
  }

  /// Whether the signer is one of status lists and leads to this certificate, dates apart.
  package func isSigned(under trustPoint: Certificate) -> Bool { pathFault(under: trustPoint) == nil }

  /// Whether the chain leads to a trust point, dates apart.
  func pathFault(under trustPoint: Certificate) -> PathFault? {
    guard let path else { return .empty }
    if let known = known.withLock({ $0.first { $0.trustPoint == trustPoint } }) { return known.fault }
    var fault = path.fault(under: trustPoint)
    let usage = path.signer.extendedKeyUsage
    if fault == nil, usage.isPresent, usage.value?.contains(.statusSigner) != true { fault = .keyUsage }
    let found = fault
    known.withLock { known in
      if known.count >= StatusToken.mostKnown { known.removeFirst() }
      known.append((trustPoint, found))
    }
    return fault
  }
}

extension COSEAlgorithm {
  /// The algorithm of a JOSE `alg` (RFC 7518, RFC 8037, RFC 9864), which binds the curve; nil for `none`, for MACs and
  /// for whatever this reader does not verify.
  init?(joseName: String) {
    let numbers: [String: Int64] = [
      "ES256": -9, "ES384": -51, "ES512": -52, "EdDSA": -8, "Ed25519": -19, "Ed448": -53, "ESB256": -265,
      "ESB320": -266, "ESB384": -267, "ESB512": -268,
    ]
    guard let number = numbers[joseName] else { return nil }
    self.init(number: number)
  }
}
