import CivilTime
import Crypto
import Mdoc
import Testing

@testable import Wallet

private let now = UnixTime(seconds: 1_780_000_000)
private let day: Int64 = 86_400
private let contact = IssuerContact(email: "readers@example.com", crlAddress: "http://example.com/crl")

/// One authority for readers.
private struct Authority {
  let name: [NameAttribute]
  let key: PrivateKey
  let certificate: [UInt8]

  init(
    _ name: String, under parent: Authority? = nil, isAuthority: Bool = true,
    notAfter: UnixTime = now.adding(seconds: 900 * day)
  ) throws {
    self.name = [NameAttribute(.commonName, name)]
    key = try PrivateKey.generate(.p256)
    var draft = CertificateDraft.issuerRoot(
      serialNumber: SerialNumber(magnitude: [1]), name: self.name, notBefore: now.adding(seconds: -day),
      notAfter: notAfter, publicKey: key.publicKey, contact: contact)
    if let parent { draft.issuer = parent.name }
    if !isAuthority { draft[.basicConstraints] = nil }
    certificate = try draft.encoded(signedBy: parent?.key ?? key)
  }

  func reader(_ key: PrivateKey, edit: (inout CertificateDraft) -> Void = { _ in }) throws -> [UInt8] {
    var draft = CertificateDraft.readerAuthentication(
      serialNumber: SerialNumber(magnitude: [2]), issuer: name, issuerKey: self.key.publicKey,
      subject: [NameAttribute(.commonName, "Door 1")], notBefore: now.adding(seconds: -day),
      notAfter: now.adding(seconds: 100 * day), publicKey: key.publicKey, contact: contact)
    edit(&draft)
    return try draft.encoded(signedBy: self.key)
  }
}

@Suite("Who asks, as the wallet sees it")
struct ReaderIdentityTests {
  private let transcript = SessionTranscript(
    engagement: [1], eReaderKeyBytes: [0xd8, 0x18, 0x41, 0xa0], handover: .qrCode)
  private let requests = [
    ItemsRequest(
      docType: "d", nameSpaces: [.init(nameSpace: "n", elements: [.init(identifier: "e", intentToRetain: false)])])
  ]

  private func identity(
    _ chain: [[UInt8]], key: PrivateKey, roots: [[UInt8]], at time: UnixTime = now,
    over signed: SessionTranscript? = nil
  ) throws -> ReaderIdentity? {
    var draft = DeviceRequestDraft(requests)
    try ReaderSigner(key: key, certificates: chain, wholeRequest: .always)
      .sign(&draft, transcript: signed ?? transcript, takesReaderAuthAll: true)
    let request = try DeviceRequest(draft.encode())
    let known = ReaderRoots(try roots.map { try Certificate($0) }, now: time)
    let identity = known.identity(of: try #require(request.documents.first), transcript: transcript)
    #expect(known.identity(of: request, transcript: transcript) == identity)
    return identity
  }

  @Test("a reader under a known root is verified, directly or through what it sends along")
  func trusted() throws {
    let (root, other) = (try Authority("Root"), try Authority("Other"))
    let middle = try Authority("Middle", under: root)
    let key = try PrivateKey.generate(.p256)
    let direct = try root.reader(key)
    #expect(
      try identity([direct], key: key, roots: [other.certificate, root.certificate]) == .trusted(subject: "CN=Door 1"))
    let below = try middle.reader(key)
    #expect(
      try identity([below, middle.certificate], key: key, roots: [root.certificate]) == .trusted(subject: "CN=Door 1"))
    #expect(
      try identity([below], key: key, roots: [root.certificate])
        == .untrusted(subject: "CN=Door 1", .readerUntrusted))
  }

  @Test("every other reader has its own reason")
  func distrusted() throws {
    let (root, other) = (try Authority("Root"), try Authority("Other"))
    let key = try PrivateKey.generate(.p256)
    let reader = try root.reader(key)
    let subject = "CN=Door 1"
    #expect(try identity([reader], key: key, roots: []) == .signed(subject: subject))
    #expect(
      try identity([reader], key: key, roots: [other.certificate]) == .untrusted(subject: subject, .readerUntrusted))
    let after = now.adding(seconds: 101 * day)
    #expect(
      try identity([reader], key: key, roots: [root.certificate], at: after)
        == .untrusted(subject: subject, .readerExpired))
    let before = now.adding(seconds: -2 * day)
    #expect(
      try identity([reader], key: key, roots: [root.certificate], at: before)
        == .untrusted(subject: subject, .readerNotYetValid))
    let misused = try root.reader(key) { $0[.extendedKeyUsage] = .extendedKeyUsage([.documentSigner]) }
    #expect(
      try identity([misused], key: key, roots: [root.certificate]) == .untrusted(subject: subject, .readerProfile))
    let old = try Authority("Root", notAfter: now.adding(seconds: -1))
    #expect(
      try identity([old.reader(key)], key: key, roots: [old.certificate])
        == .untrusted(subject: subject, .readerExpired))
    let pretender = try Authority("Middle", under: root, isAuthority: false)
    #expect(
      try identity([pretender.reader(key), pretender.certificate], key: key, roots: [root.certificate])
        == .untrusted(subject: subject, .readerUntrusted))
  }

  @Test("a signature by another key, over another session or without a certificate does not hold")
  func invalid() throws {
    let root = try Authority("Root")
    let key = try PrivateKey.generate(.p256)
    let reader = try root.reader(key)
    #expect(try identity([reader], key: try PrivateKey.generate(.p256), roots: [root.certificate]) == .invalid)
    let other = SessionTranscript(engagement: [2], eReaderKeyBytes: [0xd8, 0x18, 0x41, 0xa0], handover: .qrCode)
    #expect(try identity([reader], key: key, roots: [root.certificate], over: other) == .invalid)
    #expect(try identity([], key: key, roots: [root.certificate]) == .invalid)
    #expect(try identity([[0x30, 0]], key: key, roots: [root.certificate]) == .invalid)
  }

  @Test("nobody signed, nobody is named")
  func anonymous() throws {
    let request = try DeviceRequest(DeviceRequestDraft(requests).encode())
    let roots = ReaderRoots()
    #expect(roots.identity(of: request, transcript: transcript) == nil)
    #expect(roots.identity(of: try #require(request.documents.first), transcript: transcript) == nil)
  }
}
