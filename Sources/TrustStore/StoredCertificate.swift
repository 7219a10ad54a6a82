import Bytes
import CivilTime
import Crypto
import Trust

/// Which of the two lists a certificate of the store is in.
package enum TrustList: String, CaseIterable, Sendable {
  /// Roots of issuers: whatever they signed may be a document signer.
  case issuers
  /// Document signers that are trusted themselves.
  case signers
  /// Whoever signs lists of issuers (VICAL): a provider's root, or the signer of its list itself. For no document.
  case listSigners = "list-signers"
}

extension TrustList {
  /// What its certificates are, for people.
  package var title: String {
    switch self {
    case .issuers: "Issuer root"
    case .signers: "Document signer"
    case .listSigners: "Signer of issuer lists"
    }
  }

  /// Whether a certificate may be in it. A list's signer may be an authority or not.
  func takes(_ certificate: Certificate) -> Bool {
    switch self {
    case .issuers: certificate.isAuthority
    case .signers: !certificate.isAuthority
    case .listSigners: certificate.isAuthority || certificate.extendedKeyUsage.value?.contains(.vicalSigner) == true
    }
  }
}

/// A certificate of the store.
package struct StoredCertificate: Sendable {
  package let certificate: Certificate
  package let list: TrustList
  /// The doc types a root or signer may sign for; nil means all. Of several files only what all of them allow.
  package private(set) var docTypes: Set<String>?
  /// SHA-256 of the DER, 64 lower-case hexadecimal digits: its name in the store.
  package let fingerprint: String
  /// The file's name within the store: `NAME.pem` or `signers/NAME.pem`.
  package let file: String
  /// Further files of the list with this very certificate.
  package private(set) var otherFiles: [String] = []

  init(_ certificate: Certificate, list: TrustList, docTypes: Set<String>?, file: String? = nil) {
    self.certificate = certificate
    self.list = list
    self.docTypes = docTypes
    let fingerprint = certificate.fingerprint.hex
    self.fingerprint = fingerprint
    self.file = file ?? TrustStore.file(fingerprint, in: list)
  }

  /// With another file of the same certificate: a copy must not widen what the first allows.
  func narrowed(by other: StoredCertificate) -> StoredCertificate {
    var result = self
    result.otherFiles.append(other.file)
    if let more = other.docTypes { result.docTypes = docTypes.map { $0.intersection(more) } ?? more }
    return result
  }

  /// What is wrong with it against its profile, one line each; nothing of that keeps it out.
  package var remarks: [String] {
    var remarks: [String]
    switch list {
    case .issuers: remarks = certificate.anchorProfileFaults.map(\.explanation)
    case .signers: remarks = certificate.signerProfileFaults.map(\.explanation)
    case .listSigners: remarks = []
    }
    if case .failure(let fault) = certificate.publicKey { remarks.append(fault.explanation) }
    return remarks
  }

  /// Where an instant lies in its time.
  package enum Validity: Equatable, Sendable {
    case notYet(from: UnixTime)
    /// Whole days until it ends: 0 on its last day.
    case valid(days: Int)
    /// Whole days since it ended.
    case expired(days: Int)
  }

  /// Both of its dates count as valid.
  package func validity(at now: UnixTime) -> Validity {
    if now < certificate.notBefore { return .notYet(from: certificate.notBefore) }
    if now > certificate.notAfter { return .expired(days: days(from: certificate.notAfter, to: now)) }
    return .valid(days: days(from: now, to: certificate.notAfter))
  }

  private func days(from start: UnixTime, to end: UnixTime) -> Int { Int((end.seconds - start.seconds) / 86_400) }
}

extension StoredCertificate {
  private static let docTypesLine = "# doc types: "

  /// The file as a technician reads it. Only the line of doc types and the PEM block are read back.
  var fileText: String {
    var text = "# \(list.title) trusted by this mdoc reader\n"
    text += "# subject: \(certificate.subject)\n"
    if certificate.issuer != certificate.subject { text += "# issuer: \(certificate.issuer)\n" }
    text += "# valid: \(certificate.notBefore) to \(certificate.notAfter)\n"
    text += "# sha-256: \(fingerprint)\n"
    text += StoredCertificate.docTypesLine + (docTypes?.sorted().joined(separator: ", ") ?? "all") + "\n"
    return text + PEM.encode("CERTIFICATE", certificate.encoded)
  }

  /// Reads a file back; one without the line of doc types, such as one copied in by hand, serves all of them.
  static func read(_ bytes: [UInt8], file: String, list: TrustList) throws(StoreProblem.Reason) -> StoredCertificate {
    let certificates: [Certificate]
    do { certificates = try CertificateInput.certificates(in: bytes) } catch { throw .input(error) }
    guard certificates.count == 1, let certificate = certificates.first else {
      throw .severalCertificates(certificates.count)
    }
    var docTypes: Set<String>?
    // Read generously: a line that is overlooked would let the root sign for everything.
    let header = bytes.prefix(CertificateInput.beginOfPEM(in: bytes) ?? 0)
    for line in header.split(separator: 0x0A) {
      let words = String(decoding: line.drop { $0 != UInt8(ascii: "#") }, as: UTF8.self).lowercased()
        .drop { $0 == "#" || $0.isWhitespace }
      guard words.hasPrefix("doc types") || words.hasPrefix("doctypes"), line.contains(UInt8(ascii: ":")) else {
        continue
      }
      let names = String(decoding: line.drop { $0 != UInt8(ascii: ":") }.dropFirst(), as: UTF8.self)
        .split(separator: ",", omittingEmptySubsequences: false)
        .map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
      guard names != ["all"] else { continue }
      guard names.allSatisfy(isDocType) else { throw .docTypes }
      docTypes = (docTypes ?? []).union(names)
    }
    let stored = StoredCertificate(certificate, list: list, docTypes: docTypes, file: file)
    let name = file.split(separator: "/").last?.dropLast(4) ?? ""
    if TrustStore.isFingerprint(name), name != stored.fingerprint { throw .nameMismatch }
    guard list.takes(certificate) else { throw .wrongList }
    return stored
  }

  /// Whether a text can stand in the line of doc types.
  static func isDocType(_ text: String) -> Bool {
    !text.isEmpty && text != "all" && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ",") }
  }
}
