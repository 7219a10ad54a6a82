import Bytes
import CBOR
import COSE
import Crypto
import Mdoc

/// What a wallet's credentials have to say to a query (OpenID4VP 1.0, section 6.4).
package struct QueryMatch: Sendable {
  /// One for each credential asked for, in the query's order.
  package let entries: [Entry]
  private let sets: [DCQLQuery.CredentialSet]

  /// What there is for one credential that was asked for.
  package struct Entry: Sendable {
    package let query: DCQLQuery.CredentialQuery
    /// The wallet's credentials that will do, in its own order.
    package let candidates: [Candidate]
    /// Why there is none; nil when there is one.
    package let lack: Lack?
  }

  /// A credential that will do.
  package struct Candidate: Equatable, Sendable {
    /// Its place among the wallet's.
    package let credential: Int
    /// What would be given of it.
    package let claims: [DCQLQuery.ClaimQuery]
  }

  /// Why no credential will do.
  package enum Lack: Equatable, Sendable {
    /// Of a format that no wallet of mdocs has.
    case format(String)
    case docType(String)
    /// There are documents of the type, from other issuers than are wanted.
    case authority
    /// There are documents of the type, without these elements or with other values in them.
    case claims([DCQLQuery.ClaimQuery])
  }

  init(_ query: DCQLQuery, _ credentials: [Credential]) {
    entries = query.credentials.map { Entry($0, credentials) }
    sets = query.sets
  }

  /// The ids of credentials to give; nil when what the verifier needs is not there.
  ///
  /// - Parameter includesOptional: whether sets that are not required are answered too, where they can be.
  package func chosen(includesOptional: Bool) -> [String]? {
    let available = Set(entries.filter { !$0.candidates.isEmpty }.map(\.query.id))
    guard !sets.isEmpty else {
      let ids = entries.map(\.query.id)
      return ids.allSatisfy(available.contains) ? ids : nil
    }
    var chosen = Set<String>()
    for set in sets {
      guard let option = set.options.first(where: { $0.allSatisfy(available.contains) }) else {
        if set.isRequired { return nil }
        continue
      }
      if set.isRequired || includesOptional { chosen.formUnion(option) }
    }
    return entries.map(\.query.id).filter(chosen.contains)
  }
}

extension QueryMatch.Entry {
  init(_ query: DCQLQuery.CredentialQuery, _ credentials: [Credential]) {
    self.query = query
    guard case .mdoc(let docType) = query.subject else {
      candidates = []
      if case .other(let format) = query.subject { lack = .format(format) } else { lack = .authority }
      return
    }
    let ofType = credentials.enumerated().filter { $0.element.docType == docType }
    let ofIssuer = ofType.filter { query.accepts(issuerOf: $0.element) }
    var found: [QueryMatch.Candidate] = []
    var missing: [DCQLQuery.ClaimQuery] = []
    for (place, credential) in ofIssuer {
      switch query.choose(from: credential) {
      case .success(let claims): found.append(QueryMatch.Candidate(credential: place, claims: claims))
      case .failure(let shortfall): if missing.isEmpty { missing = shortfall.claims }
      }
    }
    candidates = found
    lack =
      if !found.isEmpty {
        nil
      } else if ofType.isEmpty {
        .docType(docType)
      } else if ofIssuer.isEmpty {
        .authority
      } else {
        .claims(missing)
      }
  }
}

extension DCQLQuery {
  /// What these credentials have to say to the query.
  package func match(_ credentials: [Credential]) -> QueryMatch { QueryMatch(self, credentials) }
}

extension DCQLQuery.CredentialQuery {
  fileprivate struct Shortfall: Error { let claims: [DCQLQuery.ClaimQuery] }

  /// The claims to give: all of them, or the first combination that is there.
  fileprivate func choose(from credential: Credential) -> Result<[DCQLQuery.ClaimQuery], Shortfall> {
    choose { claim in credential.satisfies(claim) }
  }

  /// The claims of the best combination whose every member `isThere`, and those that are wanted only where they are.
  private func choose(
    where isThere: (DCQLQuery.ClaimQuery) -> Bool
  ) -> Result<[DCQLQuery.ClaimQuery], Shortfall> {
    guard !claimSets.isEmpty else {
      let missing = claims.filter { !$0.isOptional && !isThere($0) }
      return missing.isEmpty ? .success(claims.filter(isThere)) : .failure(Shortfall(claims: missing))
    }
    var first: [DCQLQuery.ClaimQuery]?
    for option in claimSets {
      let wanted = option.compactMap { id in claims.first { $0.id == id } }
      let missing = wanted.filter { !isThere($0) }
      if missing.isEmpty { return .success(wanted) }
      first = first ?? missing
    }
    return .failure(Shortfall(claims: first ?? []))
  }

  /// Whether an answer with these elements is what was asked for.
  package func isAnswered(by isThere: (DCQLQuery.ClaimQuery) -> Bool) -> Bool {
    if case .success = choose(where: isThere) { true } else { false }
  }

  /// Whether one of the wanted authorities is behind a document: the authority key identifier of any certificate in x5chain.
  fileprivate func accepts(issuerOf credential: Credential) -> Bool {
    guard !authorities.isEmpty else { return true }
    guard let auth = try? COSEStructure(decodeCBOR(credential.issuerAuth), kind: .sign1) else { return false }
    return auth.x5chain.contains { der in
      guard let certificate = try? Certificate(der), let identifier = certificate.authorityKeyIdentifier.value ?? nil
      else { return false }
      return authorities.contains { isEqual($0[...], identifier) }
    }
  }
}

extension Credential {
  fileprivate func satisfies(_ claim: DCQLQuery.ClaimQuery) -> Bool {
    guard let space = nameSpaces.first(where: { $0.name == claim.nameSpace }),
      let item = space.items.first(where: { $0.identifier == claim.element })
    else { return false }
    return claim.values.isEmpty || item.value.map { claim.accepts(ElementValue($0)) } ?? false
  }
}

extension DCQLQuery.ClaimQuery {
  /// Whether a value is one of those wanted, compared as JSON would have it (section 6.4.1, RFC 8949 section 6.1).
  package func accepts(_ value: ElementValue) -> Bool {
    guard !values.isEmpty else { return true }
    let own: DCQLQuery.ClaimValue? =
      switch value {
      case .bool(let flag): .bool(flag)
      case .string(let text): .text(text)
      case .int(let number): Int(exactly: number).map { .integer($0) }
      case .unsigned(let number): Int(exactly: number).map { .integer($0) }
      case .date(let date): .text(date.description)
      case .dateTime(let time): .text(time.instant.description)
      case .double, .data, .map, .array, .null, .unreadable: nil
      }
    return own.map(values.contains) ?? false
  }
}

extension DCQLQuery.CredentialQuery {
  /// The same question as a request near the door has it: what is verified is compared with it.
  ///
  /// - Parameter claims: those that are really asked for; nil for all.
  package func itemsRequest(_ claims: [DCQLQuery.ClaimQuery]? = nil) -> ItemsRequest {
    var spaces: [(name: String, elements: [ItemsRequest.ElementRequest])] = []
    for claim in claims ?? self.claims {
      let element = ItemsRequest.ElementRequest(identifier: claim.element, intentToRetain: claim.intentToRetain)
      if let place = spaces.firstIndex(where: { $0.name == claim.nameSpace }) {
        if !spaces[place].elements.contains(where: { $0.identifier == claim.element }) {
          spaces[place].elements.append(element)
        }
      } else {
        spaces.append((claim.nameSpace, [element]))
      }
    }
    return ItemsRequest(
      docType: docType ?? "",
      nameSpaces: spaces.map { ItemsRequest.NameSpaceRequest(nameSpace: $0.name, elements: $0.elements) })
  }
}
