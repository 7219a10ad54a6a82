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

  /// - Throws: `encryption` when the verifier's key cannot be used after all.
  package init(
    _ request: AuthorizationRequest, _ presentations: [Presentation], mdocGeneratedNonce: String
  ) throws(RequestFault) {
    var members = AuthorizationAnswer.members(request, presentations)
    if let state = request.state { members.append(.init("state", .string(state))) }
    guard let encryption = request.encryption else {
      var form: FormFields = [:]
      for member in members { form.append(member.key, member.value.string ?? member.value.text) }
      self.form = form
      return
    }
    do throws(JOSEFault) {
      // The parties' information binds the envelope to both nonces in Annex B; the final text leaves it out.
      let isAnnexB = request.form == .annexB
      let envelope = try CompactJWE.encrypt(
        Array(JSONValue.object(members).text.utf8), to: encryption.key, encryption: encryption.content,
        partyU: isAnnexB ? Array(mdocGeneratedNonce.utf8) : nil, partyV: isAnnexB ? Array(request.nonce.utf8) : nil)
      var form: FormFields = ["response": envelope]
      // Annex B finds the transaction by it; in the final form it is inside only.
      if isAnnexB, let state = request.state { form.append("state", state) }
      self.form = form
    } catch {
      throw .encryption
    }
  }

  private static func members(
    _ request: AuthorizationRequest, _ presentations: [Presentation]
  ) -> [JSONValue.Member] {
    switch request.form {
    case .final:
      var ids: [String] = []
      for presentation in presentations where !ids.contains(presentation.id) { ids.append(presentation.id) }
      let token = ids.map { id in
        JSONValue.Member(
          id, .array(presentations.filter { $0.id == id }.map { .string(Base64.url.encode($0.deviceResponse)) }))
      }
      return [.init("vp_token", .object(token))]
    case .annexB:
      let token = presentations.first.map { Base64.url.encode($0.deviceResponse) } ?? ""
      let descriptors = request.query.credentials.map { credential -> JSONValue in
        ["id": .string(credential.id), "format": "mso_mdoc", "path": "$"]
      }
      return [
        .init("vp_token", .string(token)),
        .init(
          "presentation_submission",
          [
            "id": .string(Base64.url.encode(randomBytes(12))), "definition_id": .string(request.definitionID ?? ""),
            "descriptor_map": .array(descriptors),
          ]),
      ]
    }
  }
}
