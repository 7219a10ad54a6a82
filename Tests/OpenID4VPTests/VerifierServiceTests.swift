import Bytes
import Crypto
import Issuer
import JOSE
import JSON
import Mdoc
import MdocVerification
import TestSupport
import Testing
import Web

@testable import OpenID4VP

@Suite("A verifier's service: answers that are none")
struct VerifierServiceTests {
  private func order(_ change: (inout VerifierOrder) -> Void = { _ in }) -> VerifierOrder {
    var order = VerifierOrder(OnlineTable.ageQuery)
    change(&order)
    return order
  }

  private func post(_ table: OnlineTable, _ id: String, _ form: FormFields) -> WebAnswer {
    let request = WebRequest.post(WebAddress(table.service.origin + "/response/" + id)!, form: form)
    return table.service.handle(WebCall(request)!, at: OnlineTable.now)
  }

  /// What the verifier makes of a form, by code; and that it says so to the wallet too.
  private func fault(
    _ change: (inout VerifierOrder) -> Void = { _ in }, _ form: (OnlineTable, AuthorizationRequest) throws -> FormFields
  ) throws -> String? {
    let table = try OnlineTable()
    let invitation = try table.service.begin(order(change), now: OnlineTable.now)
    let request = try table.wallet().request(invitation.address)
    let answer = post(table, invitation.id, try form(table, request))
    #expect(answer.status == 400)
    #expect(answer[header: "Cache-Control"] == "no-store")
    let said = JSONValue(reading: answer.body)?["error_description"]?.string
    if case .invalid(let fault)? = table.service.outcome(of: invitation.id) { #expect(fault.code == said) }
    return said
  }

  private func good(_ table: OnlineTable, _ request: AuthorizationRequest) throws -> [Presentation] {
    try table.presentations(for: request, [table.mdl], "n")
  }

  private let clear: (inout VerifierOrder) -> Void = { $0.responseMode = .directPost }

  @Test("forms in the clear: what is missing, changed or of another kind is named")
  func clearForms() throws {
    func token(_ table: OnlineTable, _ request: AuthorizationRequest) throws -> String {
      let form = try AuthorizationAnswer(request, try good(table, request), mdocGeneratedNonce: "n").form
      return try #require(form["vp_token"])
    }
    #expect(try fault(clear) { _, request in ["state": request.state] } == "vpTokenMissing")
    #expect(try fault(clear) { table, request in ["vp_token": try token(table, request)] } == "stateMismatch")
    #expect(
      try fault(clear) { table, request in ["vp_token": try token(table, request), "state": "other"] }
        == "stateMismatch")
    #expect(try fault(clear) { _, request in ["response": "a.b.c.d.e"] } == "responseModeMismatch")
    let shapes: [(String, String)] = [
      ("[]", "vpTokenMalformed"), ("{}", "vpTokenMalformed"), ("\"abc\"", "vpTokenMalformed"),
      (#"{"mdl":"abc"}"#, "vpTokenMalformed"), (#"{"mdl":[]}"#, "vpTokenMalformed"),
      (#"{"other":["oA"]}"#, "vpTokenQueryUnknown"), (#"{"mdl":["oA","oA"]}"#, "vpTokenTooMany"),
      (#"{"mdl":[{"a":1}]}"#, "vpTokenFormat"), (#"{"mdl":["eyJhbGciOiJFUzI1NiJ9.e30.x~"]}"#, "vpTokenFormat"),
      (#"{"mdl":["oA=="]}"#, "vpTokenFormat"), (#"{"mdl":["AQ"]}"#, "vpTokenFormat"),
    ]
    for (shape, code) in shapes {
      #expect(try fault(clear) { _, request in ["vp_token": shape, "state": request.state] } == code, "\(shape)")
    }
  }

  @Test("envelopes: what they say of themselves is looked at before they are opened")
  func envelopes() throws {
    func sealed(
      _ request: AuthorizationRequest, _ payload: JSONValue, encryption: ContentEncryption? = nil, kid: String?? = nil,
      partyU: [UInt8]? = nil, partyV: [UInt8]? = nil
    ) throws -> FormFields {
      var key = try #require(request.encryption).key
      if let kid { key.id = kid }
      return [
        "response": try CompactJWE.encrypt(
          Array(payload.text.utf8), to: key, encryption: encryption ?? request.encryption!.content, partyU: partyU,
          partyV: partyV)
      ]
    }
    let only128: (inout VerifierOrder) -> Void = { $0.encryptions = [.a128GCM] }
    let annexB: (inout VerifierOrder) -> Void = {
      $0.form = .annexB
      $0.encryptions = [.a256GCM]
    }
    #expect(try fault { _, _ in ["response": "abc"] } == "jweInvalid")
    #expect(try fault { _, _ in ["vp_token": "{}"] } == "responseModeMismatch")
    #expect(try fault { _, _ in [:] } == "vpTokenMissing")
    #expect(try fault(only128) { try sealed($1, [:], encryption: .a256GCM) } == "jweUnexpected(enc)")
    #expect(try fault { try sealed($1, [:], kid: .some("other")) } == "jweUnexpected(kid)")
    #expect(try fault { try sealed($1, [:], kid: .some(nil)) } == "jweUnexpected(kid)")
    #expect(try fault { try sealed($1, []) } == "payloadMalformed")
    #expect(try fault { try sealed($1, ["state": "other"]) } == "stateMismatch")
    #expect(try fault { try sealed($1, ["vp_token": [:]]) } == "stateMismatch")
    #expect(try fault { try sealed($1, ["state": .string($1.state!)]) } == "vpTokenMissing")
    #expect(try fault(annexB) { try sealed($1, [:]) } == "jweUnexpected(apu)")
    #expect(try fault(annexB) { try sealed($1, [:], partyU: [65], partyV: [65]) } == "jweUnexpected(apv)")
    #expect(
      try fault(annexB) {
        try sealed(
          $1, ["state": .string($1.state!), "vp_token": "oA"], partyU: [65], partyV: Array($1.nonce.utf8))
      } == "submissionMismatch")
    // Sealed to somebody else's key under the right name.
    let other = try PrivateKey.generate(.p256)
    #expect(
      try fault { _, request in
        let key = JSONWebKey(other.publicKey, id: request.encryption?.key.id, algorithm: "ECDH-ES")
        return ["response": try CompactJWE.encrypt([123, 125], to: key, encryption: .a128GCM)]
      } == "jweDecryptionFailed")
  }

  @Test("an answer made for one transaction is none to another, whoever sends it")
  func replay() throws {
    let table = try OnlineTable()
    let first = try table.service.begin(order(clear), now: OnlineTable.now)
    let second = try table.service.begin(order(clear), now: OnlineTable.now)
    let request = try table.wallet().request(first.address)
    let other = try table.wallet().request(second.address)
    let token = try AuthorizationAnswer(request, try good(table, request), mdocGeneratedNonce: "n").form["vp_token"]
    #expect(post(table, second.id, ["vp_token": token, "state": request.state]).status == 400)
    #expect(post(table, second.id, ["vp_token": token, "state": other.state]).status == 200)
    guard case .answered(let answer)? = table.service.outcome(of: second.id) else {
      return #expect(Bool(false), "no answer")
    }
    #expect(!answer.isVerified)
    #expect(answer.parts[0].verdict.allFindings.map(\.reason.code).contains("deviceSignatureInvalid"))
    // The first was never answered; once it is, it is over.
    #expect(post(table, first.id, ["vp_token": token, "state": request.state]).status == 200)
    let again = post(table, first.id, ["vp_token": token, "state": request.state])
    #expect(JSONValue(reading: again.body)?["error_description"] == "transactionUsed")
  }

  @Test("an answer without the device's part, or with less than was asked for, is not verified")
  func incomplete() throws {
    let table = try OnlineTable()
    func outcome(_ edit: @escaping (inout [Presentation], AuthorizationRequest) throws -> Void) throws -> VerifiedAnswer
    {
      let invitation = try table.service.begin(order(), now: OnlineTable.now)
      try table.present(invitation, edit: edit)
      guard case .answered(let answer)? = table.service.outcome(of: invitation.id) else {
        throw RequestFault.notSatisfied
      }
      return answer
    }
    func document(_ elements: [String], hasDevicePart: Bool, _ request: AuthorizationRequest) throws -> [UInt8] {
      let asked = ItemsRequest(
        docType: MDLElements.docType,
        nameSpaces: [
          .init(
            nameSpace: MDLElements.nameSpace, elements: elements.map { .init(identifier: $0, intentToRetain: false) })
        ])
      let presentation = DocumentPresentation(
        table.mdl, selection: table.mdl.selection(for: asked), method: .signature,
        transcript: request.transcript(mdocGeneratedNonce: "n").encoded, readerKey: nil)
      var draft = DeviceResponseDraft()
      draft.documents = [hasDevicePart ? try presentation.document() : presentation.document(deviceAuth: nil)]
      return draft.encode()
    }
    let whole = ["age_over_18", "family_name"]
    #expect(
      try outcome {
        $0 = [Presentation(id: "mdl", deviceResponse: try document(whole, hasDevicePart: true, $1))]
      }.isVerified)
    let bare = try outcome {
      $0 = [Presentation(id: "mdl", deviceResponse: try document(whole, hasDevicePart: false, $1))]
    }
    #expect(!bare.isVerified)
    #expect(bare.parts[0].verdict.allFindings.map(\.reason.code).contains("deviceAuthMissing"))
    let part = try outcome {
      $0 = [Presentation(id: "mdl", deviceResponse: try document(["age_over_18"], hasDevicePart: true, $1))]
    }
    #expect(part.parts[0].verdict.isVerified)
    #expect(!part.isSatisfied)
    #expect(!part.isVerified)
  }

  @Test("combinations of credentials: the answer has to be one of them")
  func combinations() throws {
    let table = try OnlineTable()
    var wanted = order()
    wanted.query = DCQLQuery(
      credentials: [
        .init(
          id: "mdl", subject: .mdoc(docType: MDLElements.docType),
          claims: [.init(nameSpace: MDLElements.nameSpace, element: "age_over_18", values: [.bool(true)])]),
        .init(id: "photo", subject: .mdoc(docType: DocumentKind.photoid.docType), claims: []),
      ],
      sets: [.init(options: [["mdl", "photo"], ["mdl"]])])
    let both = try table.service.begin(wanted, now: OnlineTable.now)
    try table.present(both)
    guard case .answered(let answer)? = table.service.outcome(of: both.id) else {
      return #expect(Bool(false), "no answer")
    }
    #expect(answer.parts.map(\.id) == ["mdl", "photo"])
    #expect(answer.isVerified)
    let half = try table.service.begin(wanted, now: OnlineTable.now)
    try table.present(half) { presentations, _ in presentations.removeFirst() }
    guard case .answered(let photoOnly)? = table.service.outcome(of: half.id) else {
      return #expect(Bool(false), "no answer")
    }
    #expect(!photoOnly.isSatisfied)
  }

  /// Orders in which a deviation can be played, by what it applies to.
  private func orders() -> [VerifierOrder] {
    [order(), order(clear), order { $0.form = .annexB }]
  }

  @Test("what a wallet does wrong online is found, each with its own code", arguments: AnswerDeviation.allCases)
  func deviations(_ deviation: AnswerDeviation) throws {
    var played = 0
    for order in orders() {
      let table = try OnlineTable()
      let invitation = try table.service.begin(order, now: OnlineTable.now)
      let request = try table.wallet().request(invitation.address)
      guard deviation.applies(to: request) else { continue }
      played += 1
      let presentations = try table.presentations(for: request, [table.mdl], "n", deviation: deviation)
      let fault = thrown(RequestFault.self) {
        _ = try table.wallet().answer(
          request, with: presentations, mdocGeneratedNonce: "n", deviation: deviation)
      }
      if case .answered(let answer)? = table.service.outcome(of: invitation.id), deviation != .answersTwice {
        #expect(!answer.isVerified)
        #expect(answer.parts[0].verdict.allFindings.map(\.reason.code).contains(deviation.expectation))
      } else {
        #expect(
          fault == .refused(.response, status: 400, error: "invalid_request: " + deviation.expectation),
          "\(order.form) \(order.responseMode)")
      }
    }
    #expect(played > 0)
  }

  @Test("a transaction ends after ten minutes, and strangers find nothing")
  func lifetime() throws {
    let table = try OnlineTable()
    let invitation = try table.service.begin(order(), now: OnlineTable.now)
    let address = try #require(WebAddress(table.service.origin + "/request/" + invitation.id))
    let call = try #require(WebCall(.get(address, accept: "*/*")))
    let end = OnlineTable.now.adding(seconds: VerifierService.lifetimeSeconds)
    #expect(table.service.handle(call, at: end.adding(seconds: -1)).status == 200)
    #expect(table.service.handle(call, at: end).status == 404)
    for path in ["/", "/request", "/request/unknown", "/response/unknown", "/a/b/c", "/other/" + invitation.id] {
      #expect(table.service.handle(WebCall(.get, path: path), at: OnlineTable.now).status == 404, "\(path)")
    }
    #expect(post(table, invitation.id, [:]).status == 400)
  }

  @Test("a verifier without a certificate signs nothing")
  func unsigned() throws {
    let service = VerifierService(
      origin: "https://verifier.example", credential: nil, verifier: Verifier(anchors: [], policy: VerificationPolicy())
    )
    #expect(thrown(CredentialFault.self) { _ = try service.begin(order(), now: OnlineTable.now) } == .noCertificate)
    _ = try service.begin(order { $0.client = .redirectURI }, now: OnlineTable.now)
  }
}
