import Bytes
import CivilTime
import Crypto
import Foundation
import Kernel
import Testing
import Trust

@testable import TrustStore

/// A real issuer root, published by its issuer, as people paste it.
private let realRoot = """
  MIICYzCCAgmgAwIBAgIKXhjLoCkLWBxREDAKBggqhkjOPQQDAjA4MQswCQYDVQQGEwJBVTEpMCcGA1UEAwwgbW9udGNsaWZmLWRt
  di5tYXR0cmxhYnMuY29tIElBQ0EwHhcNMjQwMTE4MjMxNDE4WhcNMzQwMTE1MjMxNDE4WjA4MQswCQYDVQQGEwJBVTEpMCcGA1UE
  AwwgbW9udGNsaWZmLWRtdi5tYXR0cmxhYnMuY29tIElBQ0EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASBnqobOh8baMW7mpSZ
  aQMawj6wgM5e5nPd6HXpdB8eUVPlCMKribQ7XiiLU96rib/yQLH2k1CUeZmEjxoEi42xo4H6MIH3MBIGA1UdEwEB/wQIMAYBAf8C
  AQAwDgYDVR0PAQH/BAQDAgEGMB0GA1UdDgQWBBRFZwEOI9yq232NG+OzNQzFKa/LxDAuBgNVHRIEJzAlhiNodHRwczovL21vbnRj
  bGlmZi1kbXYubWF0dHJsYWJzLmNvbTCBgQYDVR0fBHoweDB2oHSgcoZwaHR0cHM6Ly9tb250Y2xpZmYtZG12LnZpaS5hdTAxLm1h
  dHRyLmdsb2JhbC92Mi9jcmVkZW50aWFscy9tb2JpbGUvaWFjYXMvMjk0YmExYmMtOTFhMS00MjJmLThhMTctY2IwODU0NWY0ODYw
  L2NybDAKBggqhkjOPQQDAgNIADBFAiAlZYQP95lGzVJfCykhcpCzpQ2LWE/AbjTGkcGISNsu7gIhAJfP54a2hXz4YiQN4qJERlOR
  jyL1Ru9M0/dtQppohFm6
  """.replacingOccurrences(of: "\n", with: "")

private let realFingerprint = "5fd6433cf1471dc387d99ea802310fb06d6356950bbcf826444398b1b28e2869"

/// A store in a folder of its own, which is removed with it.
private final class Folder {
  let path = FileManager.default.temporaryDirectory.appendingPathComponent("trust-\(UUID().uuidString)").path
  var store: TrustStore { TrustStore(folder: path) }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ text: String, to name: String) throws {
    try Files.makeFolder(Files.folder(of: path + "/" + name))
    try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/" + name))
  }
}

private let now = UnixTime(seconds: 1_780_000_000)
private let day: Int64 = 86_400

private func root(_ name: String = "Root", serial: UInt8 = 1, key: PrivateKey? = nil) throws -> Certificate {
  let key = try key ?? PrivateKey.generate(.p256)
  let draft = CertificateDraft.issuerRoot(
    serialNumber: SerialNumber(magnitude: [serial]),
    name: [NameAttribute(.countryName, "UT"), NameAttribute(.commonName, name)],
    notBefore: now.adding(seconds: -day), notAfter: now.adding(seconds: 30 * day), publicKey: key.publicKey,
    contact: IssuerContact(email: "pki@example.com", crlAddress: "http://example.com/crl"))
  return try Certificate(try draft.encoded(signedBy: key))
}

private func signer() throws -> Certificate {
  let key = try PrivateKey.generate(.p256)
  let name = [NameAttribute(.countryName, "UT"), NameAttribute(.commonName, "Signer")]
  let draft = CertificateDraft.documentSigner(
    serialNumber: SerialNumber(magnitude: [7]), issuer: name, issuerKey: key.publicKey, subject: name,
    notBefore: now.adding(seconds: -day), notAfter: now.adding(seconds: day), publicKey: key.publicKey,
    contact: IssuerContact(email: "pki@example.com", crlAddress: "http://example.com/crl"))
  return try Certificate(try draft.encoded(signedBy: key))
}

private func pem(_ certificate: Certificate) -> String { PEM.encode("CERTIFICATE", certificate.encoded) }

@Suite("The trust store")
struct TrustStoreTests {
  private let folder = Folder()
  private var store: TrustStore { folder.store }

  @Test("a real root is added as it is pasted, listed with subject and dates, and removed")
  func realRootRoundTrip() throws {
    let pasted = "  \(realRoot.prefix(70))\r\n \(realRoot.dropFirst(70))\n\n"
    let additions = try store.add(Array(pasted.utf8), at: now)
    #expect(additions.map(\.outcome) == [.added])
    let stored = try #require(store.load().certificates.first)
    #expect(stored.fingerprint == realFingerprint)
    #expect(stored.certificate.subject.description == "C=AU, CN=montcliff-dmv.mattrlabs.com IACA")
    #expect(stored.certificate.notBefore.description == "2024-01-18T23:14:18Z")
    #expect(stored.certificate.notAfter.description == "2034-01-15T23:14:18Z")
    #expect(stored.docTypes == nil)
    #expect(stored.remarks == [])
    #expect(try stored.certificate.isSigned(by: stored.certificate.publicKey.get()))
    #expect(stored.file == realFingerprint + ".pem")
    let text = try String(contentsOfFile: folder.path + "/" + stored.file, encoding: .utf8)
    #expect(
      text.hasPrefix(
        """
        # Issuer root trusted by this mdoc reader
        # subject: C=AU, CN=montcliff-dmv.mattrlabs.com IACA
        # valid: 2024-01-18T23:14:18Z to 2034-01-15T23:14:18Z
        # sha-256: \(realFingerprint)
        # doc types: all
        -----BEGIN CERTIFICATE-----

        """))
    #expect(try store.add(Array(text.utf8), at: now).map(\.outcome) == [.alreadyThere])
    let removal = try store.remove(String(realFingerprint.prefix(8)), at: now)
    #expect(removal.removed.map(\.fingerprint) == [realFingerprint] && removal.listedIn == [])
    #expect(store.load().state == .empty)
  }

  @Test("a missing, an empty and an unreadable folder are told apart")
  func states() throws {
    #expect(store.load().state == .missing)
    try Files.makeFolder(folder.path)
    #expect(store.load().state == .empty)
    #expect(store.load().problems == [])
    try folder.write("x", to: "file")
    let state = TrustStore(folder: folder.path + "/file").load().state
    #expect(state == .unreadable(SystemError("opendir", code: ENOTDIR, subject: folder.path + "/file")))
  }

  @Test("PEM with text around, several certificates, DER and base64 are read")
  func forms() throws {
    let first = try root("First")
    let second = try root("Second")
    let text =
      "Subject: somebody\r\n" + pem(first).replacingOccurrences(of: "\n", with: "\r\n") + "\r\nand\r\n" + pem(second)
    #expect(try CertificateInput.certificates(in: Array(text.utf8)) == [first, second])
    #expect(try CertificateInput.certificates(in: first.encoded) == [first])
    let base64 = Base64.standard.encode(first.encoded)
    #expect(try CertificateInput.certificates(in: Array(base64.utf8)) == [first])
    let unpadded = base64.filter { $0 != "=" }.map { "\($0)" }.joined(separator: "\t\n")
    #expect(try CertificateInput.certificates(in: [0xEF, 0xBB, 0xBF] + Array(unpadded.utf8)) == [first])
    #expect(try store.add(Array(text.utf8), at: now).map(\.outcome) == [.added, .added])
    #expect(
      try store.add(Array((text + text).utf8), at: now).map(\.outcome) == Array(repeating: .alreadyThere, count: 4))
    #expect(store.load().certificates.count == 2)
  }

  @Test("input that is no certificate is refused with its reason")
  func refusedInput() throws {
    func violation(_ input: [UInt8]) -> CertificateInput.Violation? {
      do throws(CertificateInput.Violation) {
        _ = try CertificateInput.certificates(in: input)
        return nil
      } catch {
        return error
      }
    }
    let good = try root()
    #expect(violation([]) == .noCertificate(labels: []))
    #expect(violation(Array("hello".utf8)) == .noCertificate(labels: []))
    #expect(violation(Array(PEM.encode("PRIVATE KEY", [1, 2]).utf8)) == .noCertificate(labels: ["PRIVATE KEY"]))
    #expect(violation(Array(pem(good).dropLast(30).utf8)) == .pem(.unterminated(line: 1)))
    #expect(violation(Array(pem(good).replacingOccurrences(of: "MII", with: "M*I").utf8)) == .pem(.notBase64(line: 1)))
    #expect(violation(good.encoded.dropLast()) == .certificate(index: 1, .malformed))
    let second = PEM.encode("CERTIFICATE", good.encoded + [0])
    #expect(violation(Array((pem(good) + second).utf8)) == .certificate(index: 2, .malformed))
    #expect(violation([UInt8](repeating: 0x30, count: 1_048_577)) == .tooLarge)
  }

  @Test("of an input with one bad certificate nothing is added")
  func allOrNothing() throws {
    let authority = try root()
    let leaf = try signer()
    #expect(throws: TrustStoreError.noAuthority(leaf.subject)) {
      try store.add(Array((pem(authority) + pem(leaf)).utf8), at: now)
    }
    #expect(store.load().state == .missing)
  }

  @Test("what is no authority becomes a trusted signer only where that is asked for, and an authority never")
  func signers() throws {
    let leaf = try signer()
    let authority = try root()
    #expect(throws: TrustStoreError.noAuthority(leaf.subject)) { try store.add(leaf.encoded, at: now) }
    #expect(throws: TrustStoreError.authority(authority.subject)) {
      try store.add(authority.encoded, to: .signers, at: now)
    }
    let stored = try store.add(leaf.encoded, to: .signers, at: now)[0].stored
    #expect(stored.file == "signers/\(stored.fingerprint).pem")
    _ = try store.add(authority.encoded, at: now)
    let contents = store.load()
    #expect(contents.trustedSigners == [TrustedSigner(leaf)])
    #expect(contents.anchors.map(\.certificate) == [authority])
    _ = try store.add(leaf.encoded, to: .signers, docTypes: ["x"], at: now)
    #expect(store.load().trustedSigners == [TrustedSigner(leaf, docTypes: ["x"])])
    #expect(try store.remove(stored.fingerprint, at: now).removed.map(\.list) == [.signers])
    #expect(store.load().trustedSigners == [])
  }

  @Test("doc types are kept in the file, can be changed, and are checked")
  func docTypes() throws {
    let certificate = try root()
    let types: Set = ["org.iso.18013.5.1.mDL", "eu.europa.ec.eudi.pid.1"]
    let first = try store.add(certificate.encoded, docTypes: types, at: now)[0]
    #expect(first.stored.docTypes == types)
    #expect(store.load().certificates.first?.docTypes == types)
    #expect(store.load().anchors.first?.docTypes == types)
    #expect(try store.add(certificate.encoded, docTypes: types, at: now)[0].outcome == .alreadyThere)
    #expect(try store.add(certificate.encoded, at: now)[0].outcome == .docTypesChanged)
    #expect(store.load().certificates.first?.docTypes == nil)
    for bad in ["", "all", "a b", "a,b", "a\n"] {
      #expect(throws: TrustStoreError.docType(bad)) { try store.add(certificate.encoded, docTypes: [bad], at: now) }
    }
    #expect(throws: TrustStoreError.docType("")) { try store.add(certificate.encoded, docTypes: [], at: now) }
  }

  @Test(
    "a line of doc types counts however it is written",
    arguments: [
      "# doc types: x, y\n", "\n\n#Doc types : x,y\r\n", "\u{FEFF}# doc types: x ,y\n",
      "text\n  ## DocTypes:\tx\n# doc types: y\n",
    ])
  func docTypesByHand(header: String) throws {
    try folder.write(header + pem(try root()), to: "x.pem")
    #expect(store.load().certificates.first?.docTypes == ["x", "y"])
  }

  @Test("a prefix must name exactly one certificate")
  func prefixes() throws {
    var all: [String] = []
    // Seventeen fingerprints cannot all begin differently.
    for serial in 1...17 {
      all.append(try store.add(try root(serial: UInt8(serial)).encoded, at: now)[0].stored.fingerprint)
    }
    let shared = try #require(all.first { one in all.filter { $0.hasPrefix(one.prefix(1)) }.count > 1 })
    let digit = String(shared.prefix(1))
    let matching = all.filter { $0.hasPrefix(digit) }.sorted()
    #expect(throws: TrustStoreError.ambiguous(digit, matching)) { try store.remove(digit, at: now) }
    #expect(throws: TrustStoreError.noFingerprint("")) { try store.find("") }
    #expect(throws: TrustStoreError.noFingerprint("../x")) { try store.find("../x") }
    let absent = String(repeating: "0", count: 64)
    #expect(throws: TrustStoreError.notFound(absent)) { try store.find(absent) }
    let colons = stride(from: 0, to: 64, by: 2).map { shared.uppercased().dropFirst($0).prefix(2) }.joined(
      separator: ":")
    #expect(try store.find(colons).map(\.fingerprint) == [shared])
    #expect(store.load().certificates.count == 17)
  }

  @Test("reissued certificates of one key stand side by side")
  func reissued() throws {
    let key = try PrivateKey.generate(.p256)
    _ = try store.add(try root(serial: 1, key: key).encoded, at: now)
    _ = try store.add(try root(serial: 2, key: key).encoded, at: now)
    #expect(store.load().certificates.count == 2)
  }

  @Test("every file that cannot be used is named with its reason, and the rest is loaded")
  func problems() throws {
    let good = try root("Good")
    let leaf = try signer()
    _ = try store.add(good.encoded, at: now)
    try folder.write("garbage", to: "a.pem")
    try folder.write(pem(try root("One")) + pem(try root("Two")), to: "b.pem")
    try folder.write(pem(leaf), to: "c.pem")
    try folder.write("# doc types: a,,b\n" + pem(try root("Three")), to: "d.pem")
    try folder.write(pem(try root("Four")), to: String(repeating: "0", count: 64) + ".pem")
    try folder.write(String(repeating: " ", count: 300_000), to: "e.pem")
    try Files.makeFolder(folder.path + "/f.pem")
    try folder.write(pem(good), to: "signers/g.pem")
    try FileManager.default.createSymbolicLink(atPath: folder.path + "/h.pem", withDestinationPath: "nowhere")
    try folder.write("not looked at", to: "README")
    try folder.write(pem(try root("By hand")), to: "by-hand.crt")
    let contents = store.load()
    #expect(contents.state == .loaded)
    #expect(Set(contents.certificates.flatMap(\.certificate.subject.commonNames)) == ["Good", "By hand"])
    let reasons = Dictionary(uniqueKeysWithValues: contents.problems.map { ($0.file, $0.reason) })
    #expect(
      reasons == [
        "a.pem": .input(.noCertificate(labels: [])), "b.pem": .severalCertificates(2), "c.pem": .wrongList,
        "d.pem": .docTypes, String(repeating: "0", count: 64) + ".pem": .nameMismatch, "e.pem": .tooLarge,
        "f.pem": .noFile, "signers/g.pem": .wrongList,
        "h.pem": .system(SystemError("stat", code: ENOENT, subject: folder.path + "/h.pem")),
      ])
    for problem in contents.problems {
      #expect(problem.description.hasPrefix(problem.file + ": "))
      #expect(!problem.hint.isEmpty)
    }
  }

  @Test("a file copied in by hand keeps its name when its doc types change, and can be removed")
  func byHand() throws {
    let certificate = try root()
    try folder.write(pem(certificate), to: "state.pem")
    #expect(try store.add(certificate.encoded, docTypes: ["x"], at: now)[0].stored.file == "state.pem")
    #expect(store.load().certificates.first?.docTypes == ["x"])
    #expect(try Files.list(folder.path) == ["state.pem"])
    #expect(try store.remove(certificate.fingerprint.hex, at: now).removed.map(\.file) == ["state.pem"])
    #expect(try Files.list(folder.path) == [])
  }

  @Test("a second file of a certificate is named, and does not widen what the first allows")
  func copies() throws {
    let certificate = try root()
    _ = try store.add(certificate.encoded, docTypes: ["x", "y"], at: now)
    let file = certificate.fingerprint.hex + ".pem"
    try folder.write(pem(certificate), to: "zcopy.pem")
    try folder.write("# doc types: y, z\n" + pem(certificate), to: "zzcopy.pem")
    let contents = store.load()
    #expect(contents.certificates.map(\.docTypes) == [["y"]])
    #expect(contents.anchors.map(\.docTypes) == [["y"]])
    #expect(contents.certificates.map(\.otherFiles) == [["zcopy.pem", "zzcopy.pem"]])
    #expect(
      contents.problems == [
        StoreProblem(file: "zcopy.pem", reason: .duplicate(of: file)),
        StoreProblem(file: "zzcopy.pem", reason: .duplicate(of: file)),
      ])
    #expect(contents.problems.map(\.isMinor) == [true, true])
    // A copy that comes first, and two that have nothing in common.
    try folder.write(pem(certificate), to: "000.pem")
    #expect(store.load().certificates.map(\.docTypes) == [["y"]])
    try folder.write("# doc types: z\n" + pem(certificate), to: "000.pem")
    #expect(store.load().anchors.map(\.docTypes) == [[]])
    // Adding it again leaves one file, as it was asked for.
    #expect(try store.add(certificate.encoded, docTypes: ["x"], at: now)[0].outcome == .docTypesChanged)
    #expect(store.load().certificates.map(\.docTypes) == [["x"]] && store.load().problems == [])
    #expect(try Files.list(folder.path) == ["000.pem"])
    try folder.write("# doc types: x\n" + pem(certificate), to: "zcopy.pem")
    #expect(try store.add(certificate.encoded, docTypes: ["x"], at: now)[0].outcome == .alreadyThere)
    #expect(try Files.list(folder.path) == ["000.pem"])
  }

  @Test("removing takes every file of the certificate, in every list")
  func removingCopies() throws {
    let certificate = try root()
    _ = try store.add(certificate.encoded, at: now)
    _ = try store.add(certificate.encoded, to: .listSigners, at: now)
    _ = try store.add(try root("Other").encoded, at: now)
    try folder.write(pem(certificate), to: "copy.crt")
    // In two lists it is trusted twice, and no copy.
    let contents = store.load()
    #expect(
      contents.problems.map(\.reason) == [.duplicate(of: certificate.fingerprint.hex + ".pem")]
        || contents.problems.map(\.reason) == [.duplicate(of: "copy.crt")])
    #expect(contents.listSigners == [certificate] && contents.anchors.contains { $0.certificate == certificate })
    #expect(try store.find(certificate.fingerprint.hex).map(\.list) == [.issuers, .listSigners])
    let removal = try store.remove(certificate.fingerprint.hex, at: now)
    #expect(removal.removed.map(\.list) == [.issuers, .listSigners] && removal.listedIn == [])
    #expect(store.load().certificates.flatMap(\.certificate.subject.commonNames) == ["Other"])
    #expect(throws: TrustStoreError.notFound(certificate.fingerprint.hex)) {
      try store.remove(certificate.fingerprint.hex, at: now)
    }
  }

  @Test("what a crash left behind is not read, and goes away with the next change when it is old")
  func leftovers() throws {
    let certificate = try root()
    let name = ".\(String(repeating: "a", count: 64)).pem.0123abcd"
    try folder.write(pem(certificate), to: name)
    try folder.write(pem(certificate), to: ".hidden.pem")
    #expect(store.load().state == .empty)
    let written = UnixTime(seconds: try Files.facts(folder.path + "/" + name).modified / 1_000_000_000)
    _ = try store.add(certificate.encoded, at: written.adding(seconds: 600))
    #expect(Files.exists(folder.path + "/" + name))
    _ = try store.add(certificate.encoded, at: written.adding(seconds: 601))
    #expect(!Files.exists(folder.path + "/" + name))
    #expect(Files.exists(folder.path + "/.hidden.pem"))
  }

  @Test("validity is told in whole days")
  func validity() throws {
    let certificate = try root()
    let stored = StoredCertificate(certificate, list: .issuers, docTypes: nil)
    #expect(stored.validity(at: now) == .valid(days: 30))
    #expect(stored.validity(at: certificate.notAfter) == .valid(days: 0))
    #expect(stored.validity(at: certificate.notAfter.adding(seconds: 1)) == .expired(days: 0))
    #expect(stored.validity(at: certificate.notAfter.adding(seconds: 2 * day)) == .expired(days: 2))
    #expect(stored.validity(at: certificate.notBefore.adding(seconds: -1)) == .notYet(from: certificate.notBefore))
  }

  @Test("a name cannot write lines of its own into the file")
  func hostileName() throws {
    let certificate = try root("x\n# doc types: evil\u{1B}[31m\u{202E}")
    let stored = try store.add(certificate.encoded, docTypes: ["good"], at: now)[0].stored
    let text = try String(contentsOfFile: folder.path + "/" + stored.file, encoding: .utf8)
    #expect(text.contains("# subject: C=UT, CN=x\\0a# doc types: evil\\1b[31m\\e2\\80\\ae\n"))
    #expect(store.load().certificates.first?.docTypes == ["good"])
  }

  @Test("every error says what to do")
  func hints() {
    let name = try? root().subject
    let errors: [TrustStoreError] = [
      .input(.tooLarge), .docType("a b"), .noFingerprint("x"), .notFound("ab"), .ambiguous("a", ["ab", "ac"]),
      .system(SystemError("open", code: EACCES, subject: "x")),
    ]
    for error in errors + (name.map { [.noAuthority($0), .authority($0)] } ?? []) {
      #expect(!error.description.isEmpty)
      #expect(!error.hint.isEmpty)
    }
  }
}
