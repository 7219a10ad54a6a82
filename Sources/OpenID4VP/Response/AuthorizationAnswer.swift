import Bytes
import Crypto
import JOSE
import JSON
import Web

/// One answer to one credential query: a DeviceResponse.
package struct Presentation: Equatable, Sendable {
  /// The id of the credential query.
  package let id: String
  /// The encoded DeviceResponse.
  package let deviceResponse: [UInt8]

  package init(id: String, deviceResponse: [UInt8]) {
    self.id = id
    self.deviceResponse = deviceResponse
  }
}

/// An answer as it is posted (OpenID4VP 1.0, section 8; ISO/IEC 18013-7 Annex B).
package struct AuthorizationAnswer: Sendable {
  /// The fields of the form.
  package let form: FormFields

  /// - Parameter deviation: one thing that is done wrong on purpose.
  /// - Throws: `encryption` when the verifier's key cannot be used after all.
  package init(
    _ request: AuthorizationRequest, _ presentations: [Presentation], mdocGeneratedNonce: String,
    deviation: AnswerDeviation? = nil
  ) throws(RequestFault) {
    var members: [JSONValue.Member] = []
    if deviation != .noToken {
      members.append(.init("vp_token", AuthorizationAnswer.token(request, presentations, deviation)))
    }
    if request.form == .annexB {
      members.append(.init("presentation_submission", AuthorizationAnswer.submission(request, deviation)))
    }
    let state = deviation == .otherState ? "another" : deviation == .noState ? nil : request.state
    if let state { members.append(.init("state", .string(state))) }
    guard let encryption = request.encryption, deviation != .otherMode else {
      guard deviation != .otherMode || request.encryption != nil else {
        form = ["response": "AAAA.AAAA.AAAA.AAAA.AAAA"]
        return
      }
      var form: FormFields = [:]
      for member in members { form.append(member.key, member.value.string ?? member.value.text) }
      self.form = form
      return
    }
    let envelope = try AuthorizationAnswer.sealed(
      JSONValue.object(members), encryption, request, mdocGeneratedNonce, deviation)
    // Annex B finds the transaction by its state; in the final form it is inside only.
    form = request.form == .annexB ? ["response": envelope, "state": state] : ["response": envelope]
  }

  private static func sealed(
    _ payload: JSONValue, _ encryption: ResponseEncryption, _ request: AuthorizationRequest,
    _ mdocGeneratedNonce: String, _ deviation: AnswerDeviation?
  ) throws(RequestFault) -> String {
    var key = encryption.key
    var content = encryption.content
    switch deviation {
    case .unadvertisedEncryption: content = .a256CBCHS512
    case .otherKeyID: key.id = "another"
    case .otherEncryptionKey: if let other = try? PrivateKey.generate(key.key.curve) { key.key = other.publicKey }
    default: break
    }
    // The parties' information binds the envelope to both nonces in Annex B; the final text leaves it out.
    let hasParties = request.form == .annexB && deviation != .noPartyInformation
    do throws(JOSEFault) {
      let envelope = try CompactJWE.encrypt(
        Array((deviation == .payloadNoObject ? [] : payload).text.utf8), to: key, encryption: content,
        partyU: hasParties ? Array(mdocGeneratedNonce.utf8) : nil, partyV: hasParties ? Array(request.nonce.utf8) : nil)
      return deviation == .garbledEnvelope ? String(envelope.drop { $0 != "." }) : envelope
    } catch {
      throw .encryption
    }
  }

  private static func token(
    _ request: AuthorizationRequest, _ presentations: [Presentation], _ deviation: AnswerDeviation?
  ) -> JSONValue {
    func text(_ presentation: Presentation) -> JSONValue {
      switch deviation {
      case .otherFormat: "eyJhbGciOiJFUzI1NiJ9.e30.AA~"
      case .paddedPresentation: .string(Base64.url.encode(presentation.deviceResponse) + "=")
      default: .string(Base64.url.encode(presentation.deviceResponse))
      }
    }
    guard request.form == .final, deviation != .tokenOfDraft else { return presentations.first.map(text) ?? .null }
    if deviation == .emptyToken { return [:] }
    var ids: [String] = []
    for presentation in presentations where !ids.contains(presentation.id) { ids.append(presentation.id) }
    return .object(
      ids.map { id in
        let own = presentations.filter { $0.id == id }
        let all = deviation == .presentationTwice ? own + own : own
        return JSONValue.Member(deviation == .unknownQueryID ? "another" : id, .array(all.map(text)))
      })
  }

  private static func submission(_ request: AuthorizationRequest, _ deviation: AnswerDeviation?) -> JSONValue {
    let descriptors = request.query.credentials.map { credential -> JSONValue in
      ["id": .string(credential.id), "format": "mso_mdoc", "path": "$"]
    }
    return [
      "id": .string(Base64.url.encode(randomBytes(12))),
      "definition_id": .string(deviation == .otherSubmission ? "another" : request.definitionID ?? ""),
      "descriptor_map": .array(descriptors),
    ]
  }
}
