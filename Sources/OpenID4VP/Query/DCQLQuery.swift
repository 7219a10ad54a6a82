import Bytes

/// What a verifier asks for, in the Digital Credentials Query Language (OpenID4VP 1.0, section 6).
package struct DCQLQuery: Equatable, Sendable {
  /// In the verifier's order.
  package let credentials: [CredentialQuery]
  /// Which combinations will do; without any, every credential is wanted.
  package let sets: [CredentialSet]

  package init(credentials: [CredentialQuery], sets: [CredentialSet] = []) {
    self.credentials = credentials
    self.sets = sets
  }

  /// One credential that is asked for.
  package struct CredentialQuery: Equatable, Sendable {
    package let id: String
    package let subject: Subject
    /// Without any, nothing that can be withheld is asked for.
    package let claims: [ClaimQuery]
    /// Ids of claims, the best combination first; without any, all claims are wanted.
    package let claimSets: [[String]]
    /// Key identifiers of issuers (`aki`), one of which must be behind the credential; empty for any issuer.
    package let authorities: [[UInt8]]
    /// Whether several credentials may be given.
    package let allowsMultiple: Bool

    package init(
      id: String, subject: Subject, claims: [ClaimQuery], claimSets: [[String]] = [], authorities: [[UInt8]] = [],
      allowsMultiple: Bool = false
    ) {
      self.id = id
      self.subject = subject
      self.claims = claims
      self.claimSets = claimSets
      self.authorities = authorities
      self.allowsMultiple = allowsMultiple
    }
  }

  /// What kind of credential.
  package enum Subject: Equatable, Sendable {
    /// `mso_mdoc` of this doc type.
    case mdoc(docType: String)
    /// A format that nobody here has.
    case other(format: String)
    /// `mso_mdoc` from issuers that are trusted in this way, which nobody here knows: no credential is known to match it.
    case unknownAuthorities(docType: String, type: String)
  }

  /// One element of a document.
  package struct ClaimQuery: Equatable, Sendable {
    package let id: String?
    package let nameSpace: String
    package let element: String
    package let intentToRetain: Bool
    /// The element must have one of these values; empty for any value.
    package let values: [ClaimValue]
    /// Wanted where it is there; DCQL has no such thing, Annex B has.
    package let isOptional: Bool

    package init(
      id: String? = nil, nameSpace: String, element: String, intentToRetain: Bool = false, values: [ClaimValue] = [],
      isOptional: Bool = false
    ) {
      self.id = id
      self.nameSpace = nameSpace
      self.element = element
      self.intentToRetain = intentToRetain
      self.values = values
      self.isOptional = isOptional
    }

    /// `org.iso.18013.5.1.mDL`-like name spaces and element, for people.
    package var name: String { nameSpace + " " + element }
  }

  /// A value that an element is compared with.
  package enum ClaimValue: Equatable, Sendable {
    case text(String)
    case integer(Int)
    case bool(Bool)
  }

  /// Combinations of credential ids, the best first.
  package struct CredentialSet: Equatable, Sendable {
    package let options: [[String]]
    package let isRequired: Bool

    package init(options: [[String]], isRequired: Bool = true) {
      self.options = options
      self.isRequired = isRequired
    }
  }

  /// The query with this id; nil when there is none.
  package subscript(id: String) -> CredentialQuery? { credentials.first { $0.id == id } }
}

/// Why a query cannot be understood: where, and what.
package struct QueryFault: Error, Equatable, Sendable {
  package enum Problem: Equatable, Sendable {
    case missing
    case wrongKind
    case empty
    case tooMany
    case duplicate
    /// An id that nothing has.
    case unknown
    /// Characters that an id must not have.
    case characters
    /// A member of an earlier draft; what the final text has in its place.
    case outdated(instead: String)
  }

  /// Such as `credentials[0].claims[2].path`.
  package let path: String
  package let problem: Problem

  package init(_ path: String, _ problem: Problem) {
    self.path = path
    self.problem = problem
  }
}

extension QueryFault: CustomStringConvertible {
  package var description: String {
    switch problem {
    case .missing: "\(path) is missing"
    case .wrongKind: "\(path) is of a wrong kind"
    case .empty: "\(path) is empty"
    case .tooMany: "\(path) has more members than anybody needs"
    case .duplicate: "\(path) is there twice"
    case .unknown: "\(path) names what is not there"
    case .characters: "\(path) has characters other than letters, digits, - and _"
    case .outdated(let instead): "\(path) is of an earlier draft; now it is \(instead)"
    }
  }
}
