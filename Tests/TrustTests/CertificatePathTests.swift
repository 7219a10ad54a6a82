import CivilTime
import Crypto
import Testing

@testable import Trust

/// A root, an authority between and a signer, each as a list's are; one change makes one case.
private struct Path {
  static let now = TestPKI.now
  private static let keys = Result { try (0..<3).map { _ in try PrivateKey.generate(.p256) } }

  /// The key of each, the signer's first; and who signs for whom.
  var keys: [PrivateKey]
  var signingKeys: [PrivateKey]
  var signer: CertificateDraft
  var middle: CertificateDraft
  var root: CertificateDraft

  init() throws {
    let keys = try Path.keys.get()
    self.keys = keys
    signingKeys = [keys[1], keys[2], keys[2]]
    func draft(_ number: Int, by issuer: Int, _ extensions: [ExtensionDraft]) -> CertificateDraft {
      let names = ["Signer", "Middle", "Root"].map {
        [NameAttribute(.countryName, "UT"), NameAttribute(.commonName, $0)]
      }
      return CertificateDraft(
        serialNumber: SerialNumber(magnitude: [UInt8(number) + 1]), issuer: names[issuer], subject: names[number],
        notBefore: Path.now.adding(seconds: -1000), notAfter: Path.now.adding(seconds: 1000),
        publicKey: keys[number].publicKey,
        extensions: extensions + [
          .subjectKeyIdentifier(keys[number].publicKey.keyIdentifier),
          .authorityKeyIdentifier(keys[issuer].publicKey.keyIdentifier),
        ])
    }
    signer = draft(0, by: 1, [.keyUsage(.digitalSignature)])
    middle = draft(1, by: 2, [.basicConstraints(isAuthority: true, pathLength: 0), .keyUsage(.keyCertSign)])
    root = draft(2, by: 2, [.basicConstraints(isAuthority: true), .keyUsage(.keyCertSign)])
  }

  func certificates() throws -> [Certificate] {
    try zip([signer, middle, root], signingKeys).map { try Certificate($0.encoded(signedBy: $1)) }
  }

  /// The fault of the two below the root, under it.
  static func fault(_ edit: (inout Path) -> Void) throws -> PathFault? {
    var path = try Path()
    edit(&path)
    let all = try path.certificates()
    return try CertificatePath(Array(all.prefix(2))).fault(under: all[2])
  }
}

@Suite("The path from a list's signer to a trust point")
struct CertificatePathTests {
  /// An identifier of the arc for examples.
  private static let stranger = OID("2.999.1") ?? .keyUsage

  @Test(
    "a signer, an authority between and a root; the root may be in the chain as well; a signer that is trusted itself")
  func good() throws {
    let all = try Path().certificates()
    #expect(try CertificatePath(Array(all.prefix(2))).fault(under: all[2]) == nil)
    #expect(try CertificatePath(all).fault(under: all[2]) == nil)
    #expect(try CertificatePath([all[0]]).fault(under: all[1]) == nil)
    #expect(try CertificatePath([all[0]]).fault(under: all[0]) == nil)
    // Nothing may follow it.
    #expect(try CertificatePath(all + [all[0]]).fault(under: all[2]) == .notIssued)
  }

  @Test("no certificate, or more than four, is no path")
  func length() throws {
    let all = try Path().certificates()
    #expect(throws: PathFault.empty) { try CertificatePath([]) }
    #expect(throws: PathFault.tooLong) { try CertificatePath(all + all) }
    #expect(throws: PathFault.tooLong) { try CertificatePath(all + all.prefix(2)) }
    #expect(try CertificatePath(all + all.prefix(1)).certificates.count == 4)
  }

  @Test("each names the next as its issuer, by name, by key identifier, and by signature")
  func issued() throws {
    #expect(try Path.fault { $0.signer.issuer = $0.root.subject } == .notIssued)
    #expect(try Path.fault { $0.middle.issuer = $0.signer.subject } == .notIssued)
    #expect(try Path.fault { $0.signer[.authorityKeyIdentifier] = .authorityKeyIdentifier([1, 2, 3]) } == .notIssued)
    #expect(try Path.fault { $0.signer[.authorityKeyIdentifier] = nil } == nil)
    #expect(try Path.fault { $0.signingKeys[0] = $0.keys[2] } == .notIssued)
    #expect(try Path.fault { $0.signingKeys[1] = $0.keys[1] } == .notIssued)
    // The right key under another name is another issuer.
    #expect(try Path.fault { $0.middle.subject = $0.root.subject } == .notIssued)
  }

  @Test("what no certificate of a path may have")
  func common() throws {
    let edits: [(PathFault, (inout CertificateDraft) -> Void)] = [
      (.version, { $0.version = 2 }),
      (.signatureAlgorithm, { $0.innerAlgorithm = [0x30, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 3] }),
      (.forbiddenExtension, { $0.extensions.append($0.extensions[0]) }),
      (.forbiddenExtension, { $0.extensions.append(ExtensionDraft(.nameConstraints, value: [0x30, 0])) }),
      (
        .unknownCriticalExtension,
        { $0.extensions.append(ExtensionDraft(CertificatePathTests.stranger, isCritical: true, value: [5, 0])) }
      ),
    ]
    for (fault, edit) in edits {
      #expect(try Path.fault { edit(&$0.signer) } == fault, "signer")
      #expect(try Path.fault { edit(&$0.middle) } == fault, "middle")
    }
    // One that nobody calls critical does no harm.
    let harmless = ExtensionDraft(CertificatePathTests.stranger, value: [5, 0])
    #expect(try Path.fault { $0.signer.extensions.append(harmless) } == nil)
  }

  @Test("a signer is no authority, and may sign")
  func signer() throws {
    #expect(try Path.fault { $0.signer[.basicConstraints] = .basicConstraints(isAuthority: true) } == .notAuthority)
    #expect(try Path.fault { $0.signer[.basicConstraints] = .basicConstraints(isAuthority: false) } == nil)
    let malformed = ExtensionDraft(.basicConstraints, isCritical: true, value: [0x02, 0x01, 0x00])
    #expect(try Path.fault { $0.signer[.basicConstraints] = malformed } == .notAuthority)
    #expect(try Path.fault { $0.signer[.keyUsage] = .keyUsage(.crlSign) } == .keyUsage)
    #expect(try Path.fault { $0.signer[.keyUsage] = .keyUsage(.nonRepudiation) } == nil)
    #expect(try Path.fault { $0.signer[.keyUsage] = nil } == nil)
    // Also where it is trusted itself.
    var path = try Path()
    path.signer[.keyUsage] = .keyUsage(.crlSign)
    let certificate = try path.certificates()[0]
    #expect(try CertificatePath([certificate]).fault(under: certificate) == .keyUsage)
  }

  @Test("one between is an authority that may sign certificates, and so many below it")
  func middle() throws {
    #expect(try Path.fault { $0.middle[.keyUsage] = .keyUsage(.digitalSignature) } == .keyUsage)
    #expect(try Path.fault { $0.middle[.keyUsage] = nil } == .keyUsage)
    #expect(try Path.fault { $0.middle[.basicConstraints] = nil } == .notAuthority)
    #expect(try Path.fault { $0.middle[.basicConstraints] = .basicConstraints(isAuthority: false) } == .notAuthority)
  }

  @Test("a trust point is an authority too, as far as it says; its path length counts")
  func trustPoint() throws {
    #expect(try Path.fault { $0.root[.keyUsage] = .keyUsage(.crlSign) } == .keyUsage)
    #expect(try Path.fault { $0.root[.keyUsage] = nil } == nil)
    #expect(try Path.fault { $0.root[.basicConstraints] = nil } == .notAuthority)
    #expect(try Path.fault { $0.root[.basicConstraints] = .basicConstraints(isAuthority: false) } == .notAuthority)
    let noneBelow = ExtensionDraft.basicConstraints(isAuthority: true, pathLength: 0)
    #expect(try Path.fault { $0.root[.basicConstraints] = noneBelow } == .notAuthority)
    // The root at the end of the chain is not below itself.
    var path = try Path()
    path.root[.basicConstraints] = .basicConstraints(isAuthority: true, pathLength: 1)
    let all = try path.certificates()
    #expect(try CertificatePath(all).fault(under: all[2]) == nil)
    // Nor is it one between, of whom more is asked.
    path.root[.keyUsage] = nil
    let bare = try path.certificates()
    #expect(try CertificatePath(bare).fault(under: bare[2]) == nil)
  }

  @Test("two between, where the upper one may have none below it")
  func depth() throws {
    let path = try Path()
    let all = try path.certificates()
    let deeper = try PrivateKey.generate(.p256)
    var draft = path.signer
    draft.issuer = path.signer.subject
    draft[.authorityKeyIdentifier] = nil
    draft.publicKeyInfo = CertificateDraft.publicKeyInfo(of: deeper.publicKey)
    var lower = path.signer
    lower.extensions = [.basicConstraints(isAuthority: true), .keyUsage(.keyCertSign)]
    let signer = try Certificate(draft.encoded(signedBy: path.keys[0]))
    let authority = try Certificate(lower.encoded(signedBy: path.keys[1]))
    #expect(try CertificatePath([signer, authority, all[1]]).fault(under: all[2]) == .notAuthority)
  }

  @Test("every date of the path counts, the trust point's included")
  func dates() throws {
    for part in [\Path.signer, \.middle, \.root] {
      var path = try Path()
      path[keyPath: part].notAfter = Path.now.adding(seconds: 10)
      path[keyPath: part].notBefore = Path.now.adding(seconds: -10)
      let all = try path.certificates()
      let chain = try CertificatePath(Array(all.prefix(2)))
      #expect(chain.dateFault(under: all[2], at: Path.now) == nil)
      #expect(chain.dateFault(under: all[2], at: Path.now.adding(seconds: 11)) == .expired)
      #expect(chain.dateFault(under: all[2], at: Path.now.adding(seconds: -11)) == .notYetValid)
    }
  }
}
