import Bytes
import CBOR
import CivilTime
import Crypto
import Issuer
import Mdoc
import TestSupport
import Testing
import Trust

@testable import StatusLists

/// An issuer with a list of its own; one change makes one case.
struct TestStatus {
  static let uri = "https://issuer.example/status/1"
  let now = UnixTime(seconds: 1_790_000_000)
  let root: Certificate
  let authority: IssuerAuthority
  let signer: DocumentSigner
  var draft: StatusTokenDraft

  init(
    _ content: StatusTokenDraft.Content = .statuses(bits: 2, [0, 1, 2, 3]), purposes: [OID] = [.statusSigner],
    seed: UInt64 = 5, editSigner: (inout CertificateDraft) -> Void = { _ in }
  ) throws {
    var random = SplitMix64(state: seed)
    authority = try IssuerAuthority(notBefore: now.adding(seconds: -86_400), random: &random)
    root = try Certificate(authority.certificate)
    signer = try authority.makeSigner(
      notBefore: now.adding(seconds: -86_400), notAfter: now.adding(seconds: 86_400), purposes: purposes,
      random: &random, edit: editSigner)
    draft = StatusTokenDraft(subject: TestStatus.uri, content, now: now.adding(seconds: -60))
  }

  func token(key: PrivateKey? = nil) throws -> [UInt8] { try draft.encoded(signedBy: signer, key: key) }

  func source(_ token: [UInt8], receivedAt: UnixTime? = nil) -> StatusSource {
    StatusSource([
      TestStatus.uri: StatusSource.Copy(
        Result { () throws(StatusFault) in try StatusToken(cwt: token[...]) }, receivedAt: receivedAt ?? now)
    ])
  }

  func answer(
    _ place: StatusReference.Place = .index(0), token: [UInt8]? = nil, certificate: [UInt8]? = nil,
    from trustPoint: StatusTrustPoint? = nil, at now: UnixTime? = nil, receivedAt: UnixTime? = nil,
    isRevoked: (Certificate) -> Bool = { _ in false }
  ) throws -> StatusAnswer {
    try source(token ?? self.token(), receivedAt: receivedAt).answer(
      to: StatusReference(uri: TestStatus.uri, place: place, certificate: certificate.map { $0[...] }),
      from: trustPoint ?? .issuer(root), at: now ?? self.now, isRevoked: isRevoked)
  }
}

@Suite("Answers of status lists")
struct StatusSourceTests {
  @Test("entries of an authentic list are answers")
  func entries() throws {
    let status = try TestStatus()
    #expect(try status.answer(.index(0)) == .valid)
    #expect(try status.answer(.index(1)) == .revoked)
    #expect(try status.answer(.index(2)) == .suspended)
    #expect(try status.answer(.index(3)) == .unknownValue)
    #expect(try status.answer(.index(4)) == .indexOutOfRange)
    #expect(try status.answer(.index(.max)) == .indexOutOfRange)
  }

  @Test("an identifier that is listed is revoked, and another one is not")
  func identifiers() throws {
    let status = try TestStatus(.identifiers([[1, 2], [3]]))
    #expect(try status.answer(.identifier([1, 2])) == .revoked)
    #expect(try status.answer(.identifier([3])) == .revoked)
    #expect(try status.answer(.identifier([1])) == .valid)
    #expect(try status.answer(.identifier([])) == .valid)
  }

  @Test("the other kind of list gives no answer")
  func otherKind() throws {
    #expect(try TestStatus().answer(.identifier([1])) == .unavailable(.tokenMalformed))
    #expect(try TestStatus(.identifiers([])).answer(.index(0)) == .unavailable(.tokenMalformed))
  }

  @Test("a list of an address that nobody fetched is not there")
  func absent() throws {
    let status = try TestStatus()
    let answer = StatusSource().answer(
      to: StatusReference(uri: TestStatus.uri, place: .index(0)), from: .issuer(status.root), at: status.now)
    #expect(answer == .unavailable(.fetchFailed))
  }

  @Test("a list that another key signed is not believed")
  func otherKey() throws {
    let status = try TestStatus()
    let token = try status.token(key: try PrivateKey.generate(.p256))
    #expect(try status.answer(token: token) == .unavailable(.signatureInvalid))
  }

  @Test("each changed byte of a token costs its answer")
  func damaged() throws {
    let status = try TestStatus()
    let token = try status.token()
    for place in stride(from: 0, to: token.count, by: 7) {
      var damaged = token
      damaged[place] ^= 1
      guard case .unavailable = try status.answer(token: damaged) else {
        Issue.record("byte \(place) of \(token.count) does not matter")
        continue
      }
    }
  }

  @Test("a list of another issuer says nothing about a document, however well it is signed")
  func otherIssuer() throws {
    let other = try TestStatus(seed: 6)
    #expect(try other.answer() == .valid)
    #expect(try other.answer(from: .issuer(try TestStatus().root)) == .unavailable(.signerUntrusted))
    #expect(try other.answer(from: StatusTrustPoint.none) == .unavailable(.signerUntrusted))
  }

  @Test("a certificate that the document names stands in for the root")
  func ownCertificate() throws {
    let other = try TestStatus(seed: 6)
    let root = try TestStatus().root
    #expect(try other.answer(certificate: other.root.encoded, from: .issuer(root)) == .valid)
    #expect(try other.answer(certificate: other.root.encoded, from: StatusTrustPoint.none) == .valid)
    #expect(try other.answer(certificate: root.encoded) == .unavailable(.signerUntrusted))
    #expect(try other.answer(certificate: [1, 2, 3]) == .unavailable(.signerUntrusted))
  }

  @Test("a signer that is trusted itself answers with its own lists alone")
  func trustedSigner() throws {
    let status = try TestStatus(purposes: [])
    let signer = try Certificate(status.signer.certificate)
    #expect(try status.answer(from: .signer(signer)) == .valid)
    let other = try TestStatus(purposes: [], seed: 6)
    #expect(try other.answer(from: .signer(signer)) == .unavailable(.signerUntrusted))
  }

  @Test("a signer whose extended key usage names another purpose is not believed")
  func purposes() throws {
    #expect(try TestStatus(purposes: []).answer() == .valid)
    #expect(try TestStatus(purposes: [.documentSigner]).answer() == .unavailable(.signerUntrusted))
    #expect(try TestStatus(purposes: [.documentSigner, .statusSigner]).answer() == .valid)
  }

  @Test("a signer that is an authority, may not sign, has expired or was revoked is not believed")
  func signers() throws {
    let now = try TestStatus().now
    let edits: [(inout CertificateDraft) -> Void] = [
      { $0[.basicConstraints] = .basicConstraints(isAuthority: true, pathLength: nil) },
      { $0[.keyUsage] = .keyUsage(.keyAgreement) },
      { $0.notAfter = now.adding(seconds: -1) },
      { $0.notBefore = now.adding(seconds: 1) },
      { $0.extensions.append(ExtensionDraft(.freshestCRL, isCritical: true, value: [5, 0])) },
      { $0.version = 1 },
    ]
    for (place, edit) in edits.enumerated() {
      #expect(
        try TestStatus(editSigner: edit).answer() == .unavailable(.signerUntrusted), "edit \(place)")
    }
    #expect(try TestStatus().answer(isRevoked: { _ in true }) == .unavailable(.signerUntrusted))
  }

  @Test("a token without a chain, or with one that is too long, has no signer")
  func chains() throws {
    var status = try TestStatus()
    status.draft.chain = []
    #expect(try status.answer() == .unavailable(.signerUntrusted))
    status.draft.chain = [[UInt8]](repeating: status.signer.certificate, count: 5)
    #expect(try status.answer() == .unavailable(.signerUntrusted))
    status.draft.chain = [status.signer.certificate, status.authority.certificate]
    #expect(try status.answer() == .valid)
    status.draft.chain = [status.signer.certificate, try TestStatus(seed: 6).authority.certificate]
    #expect(try status.answer() == .unavailable(.signerUntrusted))
    status.draft.chain = [[1, 2, 3]]
    #expect(try status.answer() == .unavailable(.tokenMalformed))
  }

  @Test("a list of another address is not believed")
  func subject() throws {
    var status = try TestStatus()
    status.draft.subject = TestStatus.uri + "/"
    #expect(try status.answer() == .unavailable(.subjectMismatch))
  }

  @Test("a list from the future is malformed; the allowance for clocks counts")
  func issuedAt() throws {
    var status = try TestStatus()
    status.draft.issuedAt = status.now.adding(seconds: 10)
    #expect(try status.answer() == .unavailable(.tokenMalformed))
    let reference = StatusReference(uri: TestStatus.uri, place: .index(0))
    #expect(
      try status.source(status.token()).answer(
        to: reference, from: .issuer(status.root), at: status.now, skewSeconds: 10) == .valid)
  }

  @Test("an expired list and a copy older than its ttl give no answer, but a revoked document stays revoked")
  func outdated() throws {
    var status = try TestStatus()
    status.draft.expiry = status.now
    #expect(try status.answer() == .unavailable(.expired))
    #expect(try status.answer(.index(2)) == .unavailable(.expired))
    #expect(try status.answer(.index(1)) == .revoked)
    let before = status.now.adding(seconds: -1)
    #expect(try status.answer(at: before, receivedAt: before) == .valid)
    status.draft.expiry = nil
    #expect(try status.answer(receivedAt: status.now.adding(seconds: -3600)) == .valid)
    #expect(try status.answer(receivedAt: status.now.adding(seconds: -3601)) == .unavailable(.stale))
    #expect(try status.answer(.index(1), receivedAt: status.now.adding(seconds: -3601)) == .revoked)
  }

  @Test("no list is current for ever: without exp and ttl for a week, and with either for a month at most")
  func bounded() throws {
    let week: Int64 = 7 * 86_400
    let month: Int64 = 31 * 86_400
    for (expires, timeToLive, life) in [
      (false, nil, week), (true, nil, month), (false, 60, 60), (false, month, month), (false, month + 1, month),
      (true, 1 << 47, month),
    ] as [(Bool, Int64?, Int64)] {
      var status = try TestStatus()
      status.draft.expiry = expires ? status.now.adding(seconds: 1 << 40) : nil
      status.draft.timeToLive = timeToLive
      let title = Comment(rawValue: "exp \(expires), ttl \(String(describing: timeToLive))")
      #expect(try status.answer(receivedAt: status.now.adding(seconds: -life)) == .valid, title)
      let old = status.now.adding(seconds: -life - 1)
      #expect(try status.answer(receivedAt: old) == .unavailable(.stale), title)
      #expect(try status.answer(.index(2), receivedAt: old) == .unavailable(.stale), title)
      #expect(try status.answer(.index(1), receivedAt: old) == .revoked, title)
    }
  }

  @Test("a copy that was fetched later than now is stale; the allowance for clocks counts")
  func fetchedLater() throws {
    let status = try TestStatus()
    let later = status.now.adding(seconds: 10)
    #expect(try status.answer(receivedAt: later) == .unavailable(.stale))
    #expect(try status.answer(.index(1), receivedAt: later) == .revoked)
    let reference = StatusReference(uri: TestStatus.uri, place: .index(0))
    for (skew, answer) in [(10, .valid), (9, .unavailable(.stale))] as [(Int64, StatusAnswer)] {
      #expect(
        try status.source(status.token(), receivedAt: later).answer(
          to: reference, from: .issuer(status.root), at: status.now, skewSeconds: skew) == answer)
    }
  }

  @Test(
    "claims that are missing or of wrong kinds make a token malformed", arguments: [2, 6, 4, 65534, 65533] as [Int64])
  func claims(label: Int64) throws {
    for wrong in [nil, .bool(true), .int(-1), .int(1 << 48), .array([]), .double(.infinity)] as [CBORValue?] {
      // These two may be absent.
      if wrong == nil, label == 4 || label == 65534 { continue }
      var status = try TestStatus()
      status.draft.edit = { pairs in
        pairs.removeAll { $0.key == .int(label) }
        if let wrong { pairs.append(CBORValue.Pair(.int(label), wrong)) }
      }
      #expect(try status.answer() == .unavailable(.tokenMalformed), "\(label): \(String(describing: wrong))")
    }
  }

  @Test("a header without an algorithm, or with something critical that nobody knows, makes no token")
  func headers() throws {
    let status = try TestStatus()
    let elements = try #require(try decodeCBOR(status.token()).tagged?.elements)
    var parts = elements.map { CBORValue.encoded(Array($0.encoded)) }
    let type = CBORValue.text("application/statuslist+cwt")
    for (header, answer) in [
      ([1: -7, 16: type], .valid), ([16: type], .unavailable(.tokenMalformed)),
      ([1: -7, 2: .array([-70_000]), 16: type, -70_000: 1], .unavailable(.tokenMalformed)),
    ] as [(KeyValuePairs<Int64, CBORValue>, StatusAnswer)] {
      parts[0] = .bytes(CBORValue.map(header.map { CBORValue.Pair(.int($0.key), $0.value) }).encode())
      let input = CBORValue.array(["Signature1", parts[0], .bytes([]), parts[2]]).encode()
      parts[3] = .bytes(try status.signer.key.signature(for: input, hash: .sha256))
      #expect(try status.answer(token: CBORValue.tag(18, .array(parts)).encode()) == answer, "\(header)")
    }
  }

  @Test("another typ, no tag and what is no token are malformed")
  func shapes() throws {
    var status = try TestStatus()
    let token = try status.token()
    #expect(try status.answer(token: Array(token.dropFirst())) == .unavailable(.tokenMalformed))
    #expect(try status.answer(token: token + [0]) == .unavailable(.tokenMalformed))
    for count in token.indices {
      #expect(try status.answer(token: Array(token[..<count])) == .unavailable(.tokenMalformed), "cut to \(count)")
    }
    for type in ["application/statuslist+jwt", "statuslist+cwt", "application/identifierlist+cwt", ""] {
      status.draft.type = type
      #expect(try status.answer() == .unavailable(.tokenMalformed), "\(type)")
    }
  }
}

@Suite("The status member of an mdoc")
struct StatusReferenceTests {
  private func reference(_ value: CBORValue) throws -> StatusReference? {
    StatusReference(try decodeCBOR(value.encode()))
  }

  @Test("a status list and an identifier list are read; of both the status list counts")
  func kinds() throws {
    let list = CBORValue.map(["idx": 7, "uri": "u", "certificate": .bytes([1])])
    let identifiers = CBORValue.map(["id": .bytes([9]), "uri": "v"])
    let first = StatusReference(uri: "u", place: .index(7), certificate: [1])
    #expect(try reference(.map(["status_list": list])) == first)
    #expect(
      try reference(.map(["identifier_list": identifiers])) == StatusReference(uri: "v", place: .identifier([9])))
    #expect(try reference(.map(["identifier_list": identifiers, "status_list": list])) == first)
  }

  @Test("what cannot be used is none")
  func unusable() throws {
    let values: [CBORValue] = [
      .map([]), 7, .array([]), .map(["status_list": .map(["idx": 7])]), .map(["status_list": .map(["uri": "u"])]),
      .map(["status_list": .map(["idx": -7, "uri": "u"])]), .map(["status_list": .map(["idx": "7", "uri": "u"])]),
      .map(["status_list": .map(["idx": 7, "uri": "u", "certificate": "c"])]), .map(["status_list": .null]),
      .map(["identifier_list": .map(["id": "text", "uri": "u"])]),
    ]
    for value in values { #expect(try reference(value) == nil, "\(value)") }
  }

  @Test("the members of real documents are read")
  func vectors() throws {
    guard let json = try sharedJSON("vectors/status-list/mso-status-members.json") as? [[String: Any]] else { return }
    var tally = VectorTally("status members")
    for vector in json {
      let encoded = try #require(bytes(hex: vector["statusCborHex"] as? String ?? ""))
      let found = try #require(StatusReference(try decodeCBOR(encoded)))
      tally.count(
        found.uri,
        [
          "uri": found.uri == vector["uri"] as? String,
          "place": found.place == .index(UInt64(vector["idx"] as? Int ?? -1)),
          "certificate": (found.certificate != nil) == (vector["hasCertificate"] as? Bool),
        ])
    }
    #expect(tally.failures == [] && tally.run > 0)
    print(tally)
  }
}
