import Bytes
import COpenSSL
import CivilTime
import Foundation
import TestSupport
import Testing

@testable import Crypto

/// What is read here held against what OpenSSL reads from the same bytes.
@Suite("Certificates as OpenSSL reads them")
struct CertificateReadingTests {
  /// Compares one certificate; `wanted` says that ours must read it, and not only agree where it does.
  private func compare(_ der: [UInt8], wanted: Bool, _ comment: Comment? = nil) {
    let ours = try? Certificate(der)
    var position: UnsafePointer<UInt8>?
    let theirs = der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
      position = buffer.baseAddress
      return d2i_X509(nil, &position, buffer.count)
    }
    defer {
      X509_free(theirs)
      ERR_clear_error()
    }
    #expect(!wanted || ours != nil, comment)
    guard let ours else { return }
    guard let theirs else {
      Issue.record("OpenSSL does not read it: \(comment?.rawValue ?? "") \(der.hex)")
      return
    }
    #expect(X509_get_version(theirs) + 1 == ours.version, comment)
    #expect(nameDER(X509_get_issuer_name(theirs)) == Array(ours.issuer.encoded), comment)
    #expect(nameDER(X509_get_subject_name(theirs)) == Array(ours.subject.encoded), comment)
    #expect(time(X509_get0_notBefore(theirs)) == ours.notBefore.seconds, comment)
    #expect(time(X509_get0_notAfter(theirs)) == ours.notAfter.seconds, comment)
    #expect(serial(theirs) == ours.serialNumber, comment)
    #expect(X509_get_ext_count(theirs) == ours.extensions.count, comment)
    for (index, one) in ours.extensions.enumerated() {
      let other = X509_get_ext(theirs, Int32(index))
      #expect((X509_EXTENSION_get_critical(other) != 0) == one.isCritical, comment)
      #expect(string(X509_EXTENSION_get_data(other)) == Array(one.value), comment)
      var name = [CChar](repeating: 0, count: 200)
      let count = Int(OBJ_obj2txt(&name, 200, X509_EXTENSION_get_object(other), 1))
      let text = String(decoding: name.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
      #expect(text == one.oid.description, comment)
    }
    let key = X509_get0_pubkey(theirs)
    if case .success(let ourKey) = ours.publicKey {
      #expect(EVP_PKEY_eq(ourKey.evp, key) == 1, comment)
    } else if case .failure(.invalidPoint) = ours.publicKey {
      #expect(key == nil, comment)
    }
  }

  private func nameDER(_ name: OpaquePointer?) -> [UInt8] {
    var start: UnsafePointer<UInt8>?
    var count = 0
    X509_NAME_get0_der(name, &start, &count)
    return Array(UnsafeBufferPointer(start: start, count: count))
  }

  private func string(_ string: UnsafePointer<ASN1_STRING>?) -> [UInt8] {
    Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))))
  }

  private func time(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
    var parts = tm()
    guard ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
    return Int64(timegm(&parts))
  }

  private func serial(_ x509: OpaquePointer) -> SerialNumber {
    let number = X509_get0_serialNumber(x509)
    return SerialNumber(magnitude: string(number), isNegative: ASN1_STRING_type(number) == V_ASN1_NEG_INTEGER)
  }

  @Test("drafts of every curve are read alike", arguments: Curve.allCases.filter { $0.kind != .montgomery })
  func drafts(curve: Curve) throws {
    let issuer = try TestIssuer()
    let key = try PrivateKey.generate(curve)
    var draft = issuer.root
    draft.publicKeyInfo = CertificateDraft.publicKeyInfo(of: key.publicKey)
    for serial in [SerialNumber(magnitude: [0x80], isNegative: true), SerialNumber(magnitude: []), draft.serialNumber] {
      draft.serialNumber = serial
      compare(try draft.encoded(signedBy: key), wanted: true)
    }
  }

  @Test("a certificate with any one byte changed is refused, or read as OpenSSL reads it")
  func changedBytes() throws {
    let issuer = try TestIssuer()
    let der = try issuer.signer.encoded(signedBy: issuer.rootKey)
    for index in der.indices {
      for change: UInt8 in [0x01, 0x20, 0x80, 0xFF] {
        var changed = der
        changed[index] ^= change
        compare(changed, wanted: false, "byte \(index) changed by \(change)")
      }
    }
  }

  @Test("every root and signer of the reference verdicts and of x509-limbo is read alike")
  func reference() throws {
    var count = 0
    for family in ["chain", "signer-profile", "curves"] {
      for name in try sharedCases(in: "vectors/verdicts/\(family)") {
        let json = try sharedJSON("vectors/verdicts/\(family)/\(name)") as? [String: Any]
        for anchor in json?["trustAnchors"] as? [[String: Any]] ?? [] {
          for block in try PEM.blocks(in: anchor["pem"] as? String ?? "") {
            compare(block.bytes, wanted: true, "\(name)")
            count += 1
          }
        }
      }
    }
    let limbo = try sharedJSON("vectors/x509-limbo/limbo-subset.json") as? [String: Any]
    for testCase in limbo?["testcases"] as? [[String: Any]] ?? [] {
      let texts = [testCase["peer_certificate"] as? String ?? ""] + (testCase["trusted_certs"] as? [String] ?? [])
      for block in try texts.flatMap({ try PEM.blocks(in: $0) }) {
        compare(block.bytes, wanted: true, "\(testCase["id"] ?? "")")
        count += 1
      }
    }
    #expect(sharedFolder == nil || count > 100)
  }
}
