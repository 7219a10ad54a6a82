import Bytes
import CivilTime
import Crypto
import Synchronization

/// An issuer root (IACA) that the site has decided to trust.
package final class TrustAnchor: Sendable {
  package let certificate: Certificate
  /// The doc types it may sign for; nil means all.
  package let docTypes: Set<String>?
  /// Where it came from, for people: a file name, the name of a trust list.
  package let source: String
  private let faults = Mutex<[AnchorProfileFault]?>(nil)

  package init(_ certificate: Certificate, docTypes: Set<String>? = nil, source: String) {
    self.certificate = certificate
    self.docTypes = docTypes
    self.source = source
  }

  /// Check D6, made when it is first asked for: of ten thousand anchors a reader meets a few.
  package var profileFaults: [AnchorProfileFault] {
    faults.withLock { faults in
      if let faults { return faults }
      let found = certificate.anchorProfileFaults
      faults = found
      return found
    }
  }

  func isAllowed(for docType: String) -> Bool { docTypes?.contains(docType) ?? true }
}

/// How issuer and subject names are compared (D1).
package enum NameComparison: Sendable {
  /// String types, case and runs of spaces do not count (RFC 5280 section 7.1, simplified).
  case normalized
  case bytes
}

/// The anchors of a site, found by name: ten thousand cost a look-up what one does.
package struct TrustAnchors: Sendable {
  package let all: [TrustAnchor]
  /// Anchors whose subjects are the same when normalized.
  private var groups: [[TrustAnchor]] = []
  private var groupOfNormalized: [[UInt8]: Int] = [:]
  private var groupOfBytes: [ByteView: Int] = [:]

  package init(_ anchors: [TrustAnchor]) {
    all = anchors
    for anchor in anchors {
      let subject = anchor.certificate.subject
      let group: Int
      if let known = groupOfBytes[subject.encoded] {
        group = known
      } else {
        let normalized = subject.normalized
        if let known = groupOfNormalized[normalized] {
          group = known
        } else {
          group = groups.count
          groups.append([])
          groupOfNormalized[normalized] = group
        }
        groupOfBytes[subject.encoded] = group
      }
      groups[group].append(anchor)
    }
  }

  /// The anchors with this subject, in the order they were given.
  package func named(_ name: DistinguishedName, comparison: NameComparison = .normalized) -> [TrustAnchor] {
    switch comparison {
    case .bytes:
      guard let group = groupOfBytes[name.encoded] else { return [] }
      return groups[group].filter { $0.certificate.subject == name }
    case .normalized:
      // The exact name is in the index nearly always, and spares the normalization.
      guard let group = groupOfBytes[name.encoded] ?? groupOfNormalized[name.normalized] else { return [] }
      return groups[group]
    }
  }

  /// Whether this certificate, byte for byte, is one of them.
  package func contains(_ certificate: Certificate) -> Bool {
    named(certificate.subject, comparison: .bytes).contains { $0.certificate == certificate }
  }
}
