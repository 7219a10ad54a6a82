import Bytes
import Crypto
import Synchronization

/// A document signer that a site trusts itself, whoever issued it.
package struct TrustedSigner: Hashable, Sendable {
  package let certificate: Certificate
  /// The doc types it may sign for; nil means all.
  package let docTypes: Set<String>?

  package init(_ certificate: Certificate, docTypes: Set<String>? = nil) {
    self.certificate = certificate
    self.docTypes = docTypes
  }
}

/// The doc types a certificate is trusted for as a signer.
enum SignerScope: Sendable {
  case all
  case docTypes(Set<String>)

  init(_ signer: TrustedSigner) { self = signer.docTypes.map { .docTypes($0) } ?? .all }

  func allows(_ docType: String) -> Bool {
    switch self {
    case .all: true
    case .docTypes(let docTypes): docTypes.contains(docType)
    }
  }

  func union(_ other: SignerScope) -> SignerScope {
    guard case .docTypes(let docTypes) = self, case .docTypes(let others) = other else { return .all }
    return .docTypes(docTypes.union(others))
  }
}

/// The certificates a site trusts, and what is known of the signers seen so far.
///
/// One object stands for one state of the configuration; when that changes, a new one is made, so that nothing cached
/// outlives its anchors.
package final class SignerTrust: Sendable {
  package let anchors: TrustAnchors
  /// Certificates trusted as signers themselves, beside the anchors.
  private let trustedSigners: [Certificate: SignerScope]
  package let nameComparison: NameComparison
  private let cache: SignerCache

  package init(
    anchors: TrustAnchors, trustedSigners: some Sequence<TrustedSigner> = [],
    nameComparison: NameComparison = .normalized,
    cacheCapacity: Int = 256
  ) {
    self.anchors = anchors
    self.trustedSigners = Dictionary(trustedSigners.map { ($0.certificate, SignerScope($0)) }) { $0.union($1) }
    self.nameComparison = nameComparison
    cache = SignerCache(capacity: cacheCapacity)
  }

  /// The assessment of a signer by its exact DER. One seen before is neither parsed nor checked again.
  package func assess(_ der: ByteView) throws(CertificateError) -> SignerAssessment {
    if let known = cache[der] { return known }
    let assessment = assess(try Certificate(der))
    // Only signers that a configured certificate vouches for are kept: strangers cannot push them out.
    if assessment.isVouchedFor { cache.insert(assessment) }
    return assessment
  }

  /// The assessment of a certificate, not cached.
  package func assess(_ certificate: Certificate) -> SignerAssessment {
    SignerAssessment(
      certificate, anchors: anchors, trustedFor: trustedSigners[certificate], comparison: nameComparison)
  }

  /// How many signers are kept.
  package var cachedCount: Int { cache.count }
}

/// A bounded memory of assessments by exact certificate bytes; the one unused for longest goes first.
final class SignerCache: Sendable {
  /// Exact certificate bytes. Only vouched-for certificates are kept, so that nobody can choose what collides: the end
  /// of the signature, which is as good as random, is hash enough, and the whole is compared.
  private struct Key: Hashable {
    let der: ByteView

    static func == (left: Key, right: Key) -> Bool { isEqual(left.der, right.der) }

    func hash(into hasher: inout Hasher) {
      hasher.combine(der.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
    }
  }

  private struct State {
    var entries: [Key: (assessment: SignerAssessment, lastUse: UInt64)] = [:]
    var uses: UInt64 = 0
  }

  private let capacity: Int
  private let state = Mutex(State())

  init(capacity: Int) { self.capacity = capacity }

  var count: Int { state.withLock { $0.entries.count } }

  subscript(der: ByteView) -> SignerAssessment? {
    state.withLock { state in
      guard let index = state.entries.index(forKey: Key(der: der)) else { return nil }
      state.uses += 1
      state.entries.values[index].lastUse = state.uses
      return state.entries.values[index].assessment
    }
  }

  func insert(_ assessment: SignerAssessment) {
    guard capacity > 0 else { return }
    state.withLock { state in
      if state.entries.count >= capacity, let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
        state.entries[oldest.key] = nil
      }
      state.uses += 1
      // Its own copy of the bytes: the view it was asked with would keep a whole response alive.
      state.entries[Key(der: assessment.certificate.encoded[...])] = (assessment, state.uses)
    }
  }
}
