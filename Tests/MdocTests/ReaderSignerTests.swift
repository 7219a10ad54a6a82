import Bytes
import CBOR
import COSE
import CivilTime
import Crypto
import Foundation
import TestSupport
import Testing

@testable import Mdoc

private let requests = [
  ItemsRequest(
    docType: "org.iso.18013.5.1.mDL",
    nameSpaces: [
      .init(nameSpace: "org.iso.18013.5.1", elements: [.init(identifier: "portrait", intentToRetain: false)])
    ]),
  ItemsRequest(
    docType: "org.iso.23220.photoid.1",
    nameSpaces: [.init(nameSpace: "org.iso.23220.1", elements: [.init(identifier: "portrait", intentToRetain: true)])]),
]

/// A reader root and a reader under it.
private struct ReaderPKI {
  let root: [UInt8]
  let key: PrivateKey
  let certificate: [UInt8]

  init(curve: Curve = .p256, purposes: [OID] = [.readerAuthentication]) throws {
    let now = UnixTime(seconds: Int64(Date().timeIntervalSince1970))
    let rootKey = try PrivateKey.generate(.p384)
    let name = [NameAttribute(.commonName, "Reader CA")]
    let contact = IssuerContact(email: "readers@example.com", crlAddress: "http://example.com/crl")
    root = try CertificateDraft.issuerRoot(
      serialNumber: SerialNumber(magnitude: [1]), name: name, notBefore: now.adding(seconds: -86_400),
      notAfter: now.adding(seconds: 86_400), publicKey: rootKey.publicKey, contact: contact
    ).encoded(signedBy: rootKey)
    key = try PrivateKey.generate(curve)
    certificate = try CertificateDraft.documentSigner(
      serialNumber: SerialNumber(magnitude: [2]), issuer: name, issuerKey: rootKey.publicKey,
      subject: [NameAttribute(.commonName, "Door 1")], notBefore: now.adding(seconds: -3600),
      notAfter: now.adding(seconds: 3600), publicKey: key.publicKey, contact: contact, purposes: purposes
    ).encoded(signedBy: rootKey)
  }
}

@Suite("A reader that says who it is")
struct ReaderSignerTests {
  private let transcript = SessionTranscript(
    engagement: AnnexD.deviceEngagement, eReaderKeyBytes: AnnexD.eDeviceKeyBytes, handover: .qrCode)

  private func signed(_ pki: ReaderPKI, _ whole: ReaderSigner.WholeRequest, offered: Bool) throws -> DeviceRequest {
    var draft = DeviceRequestDraft(requests)
    try ReaderSigner(key: pki.key, certificates: [pki.certificate], wholeRequest: whole)
      .sign(&draft, transcript: transcript, takesReaderAuthAll: offered)
    return try DeviceRequest(draft.encode())
  }

  @Test("each document is signed over itself", arguments: [Curve.p256, .p384, .p521, .brainpoolP256r1, .ed25519])
  func documents(curve: Curve) throws {
    let pki = try ReaderPKI(curve: curve)
    let request = try signed(pki, .whenOffered, offered: false)
    #expect(request.version == "1.0" && request.readerAuthAll.isEmpty && request.documents.count == 2)
    for (place, document) in request.documents.enumerated() {
      let signature = try #require(document.readerAuth)
      #expect(signature.structure.x5chain.map(Array.init) == [pki.certificate])
      for (other, candidate) in request.documents.enumerated() {
        let payload = ReaderAuthentication.payload(
          transcript: transcript, itemsRequestBytes: candidate.itemsRequestBytes)
        #expect(
          ReaderAuthentication.isValid(signature, over: payload, key: pki.key.publicKey) == (place == other))
      }
    }
  }

  @Test(
    "the whole is signed when the wallet takes that, always or never, as configured",
    arguments: [
      (.never, true, false), (.whenOffered, false, false), (.whenOffered, true, true), (.always, false, true),
    ] as [(ReaderSigner.WholeRequest, Bool, Bool)])
  func whole(mode: ReaderSigner.WholeRequest, offered: Bool, isSigned: Bool) throws {
    let pki = try ReaderPKI()
    let request = try signed(pki, mode, offered: offered)
    #expect(request.version == (isSigned ? "1.1" : "1.0"))
    #expect(request.readerAuthAll.count == (isSigned ? 1 : 0))
    #expect(request.documents.allSatisfy { $0.readerAuth != nil })
    guard let signature = request.readerAuthAll.first else { return }
    let payload = ReaderAuthentication.payloadForAll(
      transcript: transcript, itemsRequestBytes: request.documents.map(\.itemsRequestBytes),
      deviceRequestInfoBytes: nil)
    #expect(ReaderAuthentication.isValid(signature, over: payload, key: pki.key.publicKey))
  }

  @Test("a key that does not sign makes no request")
  func wrongKey() throws {
    let signer = ReaderSigner(key: try PrivateKey.generate(.x25519), certificates: [])
    var draft = DeviceRequestDraft(requests)
    #expect(throws: COSEError.unsupportedAlgorithm) {
      try signer.sign(&draft, transcript: transcript, takesReaderAuthAll: false)
    }
  }

  @Test("the independent Python holder knows the reader by its root, and nobody else")
  func pythonHolder() throws {
    guard let peer = shared("peer") else { return }
    guard let python = ProcessInfo.processInfo.environment["MDOC_PYTHON"], !python.isEmpty else {
      print("skipped: no Python with cryptography 42 or later (Scripts/test looks for it and sets MDOC_PYTHON)")
      return
    }
    let good = try ReaderPKI()
    let other = try ReaderPKI()
    let misused = try ReaderPKI(purposes: [.documentSigner])
    func states(_ pki: ReaderPKI, root: [UInt8], transcript asked: SessionTranscript? = nil) throws -> [String] {
      var draft = DeviceRequestDraft(requests)
      try ReaderSigner(key: pki.key, certificates: [pki.certificate], wholeRequest: .always)
        .sign(&draft, transcript: transcript, takesReaderAuthAll: false)
      let lines = [draft.encode(), (asked ?? transcript).encoded, root].map(\.hex).joined(separator: "\n")
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Peer/verify_request.py")
      process.arguments = [python, script.path, peer.path]
      let (input, output) = (Pipe(), Pipe())
      process.standardInput = input
      process.standardOutput = output
      try process.run()
      input.fileHandleForWriting.write(Data(lines.utf8))
      try input.fileHandleForWriting.close()
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      return text.split(separator: "\n").map { $0.replacingOccurrences(of: "\t", with: " ") }
    }
    let named = "CN=Door 1"
    #expect(try states(good, root: good.root) == ["trusted  \(named)", "trusted  \(named)"])
    #expect(
      try states(good, root: other.root)
        == ["untrusted readerUntrusted \(named)", "untrusted readerUntrusted \(named)"])
    #expect(
      try states(misused, root: misused.root) == [
        "untrusted readerProfile \(named)", "untrusted readerProfile \(named)",
      ])
    let foreign = SessionTranscript(
      engagement: [1], eReaderKeyBytes: AnnexD.eDeviceKeyBytes, handover: .qrCode)
    #expect(
      try states(good, root: good.root, transcript: foreign)
        == ["invalid readerSignatureInvalid \(named)", "invalid readerSignatureInvalid \(named)"])
  }
}
