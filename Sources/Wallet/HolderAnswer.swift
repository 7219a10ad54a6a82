import CBOR
import COSE
import Crypto
import Mdoc

/// Makes the DeviceResponse to a request, quirks included. Pure: consent has been given or refused before.
package struct HolderAnswer: Sendable {
  package let documents: [StoredCredential]
  package let quirks: Quirks

  package init(documents: [StoredCredential], quirks: Quirks = Quirks()) {
    self.documents = documents
    self.quirks = quirks
  }

  /// What of the session goes into an answer.
  package struct Context: Sendable {
    /// The encoded SessionTranscript, without tag 24.
    package let transcript: [UInt8]
    /// The reader's ephemeral key.
    package let readerKey: PublicKey?

    package init(transcript: [UInt8], readerKey: PublicKey?) {
      self.transcript = transcript
      self.readerKey = readerKey
    }
  }

  /// The document a request is about; nil when the wallet has none of the doc type.
  package func document(for request: ItemsRequest) -> StoredCredential? {
    documents.first { $0.credential.docType == request.docType }
  }

  /// The encoded DeviceResponse to requests that could be read.
  ///
  /// - Parameter isGranted: for each request, whether the holder agreed; a refusal is reported like a document that
  ///   is not there, which is all a reader has to know.
  package func response(
    to requests: [ItemsRequest], isGranted: [Bool], in context: Context
  ) throws(PresentationError) -> [UInt8] {
    for (quirk, status) in [(Quirk.responseStatus10, 10), (.responseStatus11, 11), (.responseStatus12, 12)]
      as [(Quirk, UInt64)]
    where quirks.contains(quirk) { return HolderAnswer.refusal(status: status) }
    if quirks.contains(.documentsMissing) { return DeviceResponseDraft().encode() }
    if quirks.contains(.documentsNull) { return emptyResponse(documents: .null) }
    if quirks.contains(.documentsEmpty) { return emptyResponse(documents: .array([])) }

    var draft = DeviceResponseDraft()
    for (request, granted) in zip(requests, isGranted) {
      guard granted, !quirks.contains(.documentErrors), let stored = document(for: request) else {
        draft.notReturned.append(request.docType)
        continue
      }
      let credential = stored.credential
      let selection = quirks.contains(.unrequestedElements) ? credential.everything : credential.selection(for: request)
      draft.documents.append(try present(stored, selection, in: context))
    }
    if quirks.contains(.unrequestedDocument) {
      let asked = Set(requests.map(\.docType))
      for stored in documents where !asked.contains(stored.credential.docType) {
        draft.documents.append(try present(stored, stored.credential.everything, in: context))
      }
    }
    if quirks.contains(.version2) { draft.version = "2.0" }
    var bytes = draft.encode()
    if quirks.contains(.statusFirst) { bytes = statusFirst(draft) }
    if let size = quirks.parameter(of: .oversizedAnswer) { bytes = padded(draft, to: size) }
    if quirks.contains(.trailingBytes) { bytes.append(0) }
    if quirks.contains(.truncated) { bytes.removeLast() }
    return bytes
  }

  /// The answer to a request that could not be read: status 11 (not CBOR) or 12 (not a valid request).
  package static func refusal(status: UInt64) -> [UInt8] { DeviceResponseDraft(status: status).encode() }

  // MARK: Responses that are wrong as a whole

  private func emptyResponse(documents: CBORValue) -> [UInt8] {
    CBORValue.map(["version": "1.0", "documents": documents, "status": 0]).encode()
  }

  /// The members in another order than usual: legal, and some readers trip over it.
  private func statusFirst(_ draft: DeviceResponseDraft) -> [UInt8] {
    guard case .map(let members) = draft.value else { return draft.encode() }
    var writer = CBORWriter()
    writer.map(count: members.count)
    let order = ["status", "documentErrors", "documents", "version"]
    for key in order {
      guard let member = members.first(where: { $0.key == .text(key) }) else { continue }
      member.key.write(to: &writer)
      member.value.write(to: &writer)
    }
    return writer.bytes
  }

  /// A valid response with a member that means nothing, `size` bytes long or as long as it is without.
  private func padded(_ draft: DeviceResponseDraft, to size: Int) -> [UInt8] {
    guard case .map(let members) = draft.value else { return draft.encode() }
    let room = max(0, size - draft.encode().count - "padding".utf8.count - 6)
    let padding = CBORValue.Pair("padding", .bytes([UInt8](repeating: 0, count: room)))
    return CBORValue.map(members + [padding]).encode()
  }

  // MARK: One document

  private func present(
    _ stored: StoredCredential, _ selection: Credential.Selection, in context: Context
  ) throws(PresentationError) -> CBORValue {
    var presentation = DocumentPresentation(
      edited(stored.credential), selection: edited(selection), method: stored.method, transcript: context.transcript,
      readerKey: context.readerKey)
    if quirks.contains(.docTypeMismatch) { presentation.docType += ".other" }
    if quirks.contains(.otherDeviceKey) {
      guard let key = try? PrivateKey.generate(stored.credential.deviceKey.curve) else { throw .cannotSign }
      presentation.deviceKey = key
    }
    if quirks.contains(.otherTranscript) { presentation.transcript = foreignTranscript(context.transcript) }
    if quirks.contains(.deviceElement) {
      presentation.deviceNameSpaces = .map(["org.example.device": .map(["note": "not authorized"])])
    }
    if quirks.contains(.noDeviceSigned) { return presentation.document(deviceAuth: nil) }
    if quirks.contains(.neitherDeviceAuth) { return presentation.document(deviceAuth: .map([])) }
    let methods = quirks.contains(.bothDeviceAuths) ? DeviceAuthenticationMethod.allCases : [stored.method]
    var proofs: [CBORValue.Pair] = []
    for method in methods {
      let proof = try presentation.deviceAuth(method)
      proofs.append(CBORValue.Pair(proof.key, edited(proof.value, payload: presentation.payload)))
    }
    return presentation.document(deviceAuth: .map(proofs))
  }

  /// The proof with an attached payload or a flipped bit, where that is asked for.
  private func edited(_ proof: CBORValue, payload: [UInt8]) -> CBORValue {
    guard case .array(var parts) = proof, parts.count == 4 else { return proof }
    if quirks.contains(.attachedPayload) { parts[2] = .bytes(payload) }
    if quirks.contains(.flippedDeviceAuth) { parts[3] = parts[3].withFirstBitFlipped }
    return .array(parts)
  }

  private func edited(_ credential: Credential) -> Credential {
    guard quirks.contains(.issuerSignature) || quirks.contains(.noCertificate),
      let auth = try? COSEStructure(decodeCBOR(credential.issuerAuth), kind: .sign1)
    else { return credential }
    var signature = CBORValue.bytes(Array(auth.proof))
    if quirks.contains(.issuerSignature) { signature = signature.withFirstBitFlipped }
    let edited = CBORValue.array([
      .bytes(Array(auth.protected)),
      quirks.contains(.noCertificate) ? .map([]) : .encoded(Array(auth.unprotected.encoded)),
      auth.payload.map { .bytes(Array($0)) } ?? .null, signature,
    ])
    return Credential(
      docType: credential.docType, nameSpaces: credential.nameSpaces, issuerAuth: edited.encode(),
      deviceKey: credential.deviceKey)
  }

  private func edited(_ selection: Credential.Selection) -> Credential.Selection {
    guard var space = selection.nameSpaces.first, let first = space.items.first else { return selection }
    var result = selection
    if quirks.contains(.digestMismatch) { space.items[0] = withOtherSalt(first) }
    if quirks.contains(.duplicateElement) { space.items.append(first) }
    if quirks.contains(.wrongNameSpace) { space.name = "org.example.other" }
    result.nameSpaces[0] = space
    return result
  }

  /// The item with one bit of its random changed: still well-formed, and no longer what the issuer hashed.
  private func withOtherSalt(_ item: Credential.Item) -> Credential.Item {
    guard let decoded = try? decodeCBOR(item.encoded), let content = try? decoded.embedded(),
      let random = content[key: "random"]?.bytes, !random.isEmpty
    else { return item }
    var encoded = item.encoded
    encoded[random.startIndex] ^= 1
    return Credential.Item(identifier: item.identifier, encoded: encoded)
  }

  /// The transcript of another session: the engagement in it is one byte longer.
  private func foreignTranscript(_ transcript: [UInt8]) -> [UInt8] {
    guard let parts = try? decodeCBOR(transcript).elements.map(Array.init), parts.count == 3 else { return transcript }
    let engagement = parts[0].embeddedBytes.map(Array.init) ?? []
    return CBORValue.array([
      .tag(24, .bytes(engagement + [0])), .encoded(Array(parts[1].encoded)), .encoded(Array(parts[2].encoded)),
    ]).encode()
  }
}

extension CBORValue {
  /// A byte string with the lowest bit of its first byte changed; other values as they are.
  var withFirstBitFlipped: CBORValue {
    guard case .bytes(var content) = self, !content.isEmpty else { return self }
    content[0] ^= 1
    return .bytes(content)
  }
}
