import Bytes
import CBOR
import COSE
import Crypto
import Mdoc
import MdocSession
import Testing
import Wallet

/// A holder and a reader without a link between them.
private final class Exchange {
  var reader: ReaderSession
  var holder: HolderConversation
  let readerKey: PrivateKey
  let transcript: SessionTranscript
  var asked: [ReaderRequest] = []
  var responses: [[UInt8]] = []
  var readerOutcome: SessionOutcome?
  var holderEnd: HolderConversation.End?
  var disturbances: [HolderConversation.Disturbance] = []
  var endedLink = false
  let now = ContinuousClock.now

  init(
    _ documents: [StoredCredential], quirks: Quirks = Quirks(), request: [UInt8], curve: Curve = .p256,
    afterResponse: ReaderSession.AfterResponse = .terminate
  ) throws {
    let key = try PrivateKey.generate(curve)
    let engagement = DeviceEngagementDraft(key: key.publicKey).encode()
    let readerKey = try PrivateKey.generate(curve)
    self.readerKey = readerKey
    var reader = try ReaderSession(
      engagement: try DeviceEngagement(engagement), ephemeralKey: readerKey, request: request,
      afterResponse: afterResponse, at: now)
    while reader.nextOutput() != nil {}
    transcript = reader.transcript
    self.reader = reader
    holder = HolderConversation(
      engagement: engagement, key: key, answer: HolderAnswer(documents: documents, quirks: quirks), at: now)
    while holder.nextOutput() != nil {}
  }

  func firstResponse() throws -> DeviceResponse { try DeviceResponse(try #require(responses.first)[...]) }

  /// Runs until both are quiet; every `ask` is answered with `consent`.
  func run(consent: Bool = true) {
    var toHolder: [HolderConversation.Input] = [.linkStarted]
    var toReader: [ReaderSession.Input] = [.linkStarted]
    while !toHolder.isEmpty || !toReader.isEmpty {
      if !toReader.isEmpty {
        reader.handle(toReader.removeFirst(), at: now)
        while let output = reader.nextOutput() {
          switch output {
          case .send(let message): toHolder.append(.message(message[...]))
          case .response(let response): responses.append(response)
          case .wake: break
          case .finished(let outcome): readerOutcome = outcome
          }
        }
      }
      guard !toHolder.isEmpty else { continue }
      holder.handle(toHolder.removeFirst(), at: now)
      while let output = holder.nextOutput() {
        switch output {
        case .send(let message, let disturbance):
          toReader.append(.message(message[...]))
          if let disturbance { disturbances.append(disturbance) }
        case .ask(let request):
          asked.append(request)
          toHolder.append(.consent(request.documents.map { _ in consent }))
        case .endLink: endedLink = true
        case .wake: break
        case .finished(let end): holderEnd = end
        }
      }
    }
  }
}

private func request(_ requests: ItemsRequest...) -> [UInt8] { DeviceRequestDraft(requests).encode() }

@Suite("A conversation with a reader")
struct HolderConversationTests {
  @Test(
    "answers with the chosen items and a proof of the key, and ends when the reader ends",
    arguments: [DeviceAuthenticationMethod.signature, .mac])
  func answered(method: DeviceAuthenticationMethod) throws {
    let exchange = try Exchange([try storedDocument(method: method)], request: request(mdlRequest))
    exchange.run()
    #expect(exchange.holderEnd == .endedByReader && exchange.readerOutcome == .completed)
    let document = try #require(try exchange.firstResponse().documents.first)
    let items = try #require(try IssuerSigned(document.issuerSigned).nameSpaces?.first?.items)
    #expect(items.map(\.elementIdentifier) == ["family_name", "given_name", "birth_date", "age_over_18"])
    let signed = try DeviceSigned(document.deviceSigned)
    let payload = DeviceAuthentication.payload(
      transcript: exchange.transcript.encoded[...], docType: document.docType, nameSpacesBytes: signed.nameSpacesBytes)
    let auth = try COSESign1(try #require(document.issuerSigned?[key: "issuerAuth"]))
    let mso = try MobileSecurityObject(payload: try #require(auth.structure.payload), dates: .init())
    let key = try PublicKey(coseKey: mso.deviceKey)
    switch signed.auth {
    case .signature(let signature):
      #expect(method == .signature && signature.isValid(for: payload[...], key: key))
    case .mac(let mac):
      let macKey = try DeviceAuthentication.macKey(
        own: exchange.readerKey, peer: key, transcript: exchange.transcript.encoded[...])
      let isValid = mac.isValid(for: payload[...], key: macKey)
      #expect(method == .mac && isValid)
    }
  }

  @Test("says that nothing is returned when the holder refuses, and the session ends as usual")
  func refused() throws {
    let exchange = try Exchange([try storedDocument()], request: request(mdlRequest))
    exchange.run(consent: false)
    let response = try exchange.firstResponse()
    #expect(response.status == 0 && response.documents.isEmpty)
    #expect(response.documentErrors.map(\.docType) == ["org.iso.18013.5.1.mDL"])
    #expect(exchange.holderEnd == .endedByReader)
  }

  @Test("says the same of a document that is not in the wallet")
  func missing() throws {
    let other = itemsRequest("org.example.other", "org.example", "x")
    let exchange = try Exchange([try storedDocument()], request: request(mdlRequest, other))
    exchange.run()
    #expect(exchange.asked.first?.documents.map(\.isHeld) == [true, false])
    let response = try exchange.firstResponse()
    #expect(response.documents.map(\.docType) == ["org.iso.18013.5.1.mDL"])
    #expect(response.documentErrors.map(\.docType) == ["org.example.other"])
  }

  @Test(
    "answers requests that cannot be read with the status of their fault, without asking",
    arguments: [
      ([0xa1], 11), (CBORValue.map(["version": "1.0"]).encode(), 12),
      (CBORValue.map(["version": "2.0", "docRequests": .array([])]).encode(), 12),
    ] as [([UInt8], UInt64)])
  func unreadable(request: [UInt8], status: UInt64) throws {
    let exchange = try Exchange([try storedDocument()], request: request)
    exchange.run()
    #expect(exchange.asked.isEmpty)
    #expect(try exchange.firstResponse().status == status)
  }

  @Test("answers status 10 when its key cannot do what it is set up for")
  func unable() throws {
    let exchange = try Exchange([try storedDocument(key: .p384, method: .mac)], request: request(mdlRequest))
    exchange.run()
    #expect(try exchange.firstResponse().status == 10)
  }

  @Test("shows the request without a value in it, and what would be given for an age")
  func shown() throws {
    let exchange = try Exchange(
      [try storedDocument()],
      request: request(itemsRequest("org.iso.18013.5.1.mDL", "org.iso.18013.5.1", "age_over_17")))
    exchange.run()
    #expect(
      exchange.asked.first?.lines == [
        "asked for: org.iso.18013.5.1.mDL", "  by: a reader that does not say who it is",
        "  org.iso.18013.5.1: age_over_17", "  would give from org.iso.18013.5.1: age_over_18",
      ])
  }

  @Test("knows how it ended after the answer")
  func ends() throws {
    for (input, end) in [
      (HolderConversation.Input.readerEndedLink, HolderConversation.End.endedByReader),
      (.linkLost, .linkLostAfterAnswer),
    ] {
      let exchange = try Exchange([try storedDocument()], request: request(mdlRequest), afterResponse: .stayOpen)
      exchange.run()
      exchange.holder.handle(input, at: exchange.now)
      guard case .finished(let found)? = exchange.holder.nextOutput() else { return #expect(Bool(false), "not over") }
      #expect(found == end)
    }
    let exchange = try Exchange([try storedDocument()], request: request(mdlRequest), afterResponse: .stayOpen)
    exchange.run()
    exchange.holder.handle(.tick, at: exchange.now + .seconds(400))
    var last: HolderConversation.End?
    while let output = exchange.holder.nextOutput() { if case .finished(let end) = output { last = end } }
    #expect(last == .timeoutAfterAnswer)
  }
}

@Suite("A quirk of the session")
struct SessionQuirkTests {
  private func outcome(_ quirk: Quirk) throws -> (SessionOutcome?, HolderConversation.End?, Int) {
    let exchange = try Exchange([try storedDocument()], quirks: Quirks(quirk), request: request(mdlRequest))
    exchange.run()
    return (exchange.readerOutcome, exchange.holderEnd, exchange.responses.count)
  }

  @Test(
    "makes a reader fail with its reason",
    arguments: [
      (.wrongCounter, .decryptionFailed), (.readerDirectionKey, .decryptionFailed),
      (.readerDirectionIV, .decryptionFailed),
      (.corruptTag, .decryptionFailed), (.plainData, .decryptionFailed), (.sessionNotCBOR, .sessionDataMalformed),
      (.sessionNoMembers, .sessionDataMalformed), (.sessionStatus10, .unexpectedStatus(10)),
      (.sessionStatus11, .unexpectedStatus(11)), (.sessionStatus20, .sessionTerminatedByPeer),
      (.sessionStatusUnknown, .unexpectedStatus(99)),
    ] as [(Quirk, SessionFailure)])
  func fails(quirk: Quirk, failure: SessionFailure) throws {
    let (outcome, _, responses) = try outcome(quirk)
    #expect(outcome == .failed(failure) && responses == 0)
  }

  @Test(
    "is told to the holder by the status the reader answers",
    arguments: [
      (.corruptTag, 10), (.sessionNotCBOR, 11),
    ] as [(Quirk, UInt64)])
  func told(quirk: Quirk, status: UInt64) throws {
    let (_, end, _) = try outcome(quirk)
    #expect(end == .failed(.unexpectedStatus(status)))
  }

  @Test(
    "is none to a reader when it is legal",
    arguments: [
      Quirk.sessionExtraMembers, .sessionDataAnd20, .repeatedCounter, .shortFragments,
    ])
  func legal(quirk: Quirk) throws {
    let (outcome, _, responses) = try outcome(quirk)
    #expect(outcome == .completed && responses == 1)
  }

  @Test("breaks the second answer of a session when the counter is used again")
  func repeated() throws {
    let exchange = try Exchange(
      [try storedDocument()], quirks: Quirks(.repeatedCounter), request: request(mdlRequest), afterResponse: .stayOpen)
    exchange.run()
    #expect(exchange.responses.count == 1)
    exchange.reader.handle(.request(request(mdlRequest)), at: exchange.now)
    var messages: [[UInt8]] = []
    while let output = exchange.reader.nextOutput() { if case .send(let message) = output { messages.append(message) } }
    for message in messages { exchange.holder.handle(.message(message[...]), at: exchange.now) }
    while exchange.holder.nextOutput() != nil {}
    exchange.holder.handle(.consent([true]), at: exchange.now)
    var answer: [UInt8] = []
    while let output = exchange.holder.nextOutput() { if case .send(let message, _) = output { answer = message } }
    exchange.reader.handle(.message(answer[...]), at: exchange.now)
    var outcome: SessionOutcome?
    while let output = exchange.reader.nextOutput() { if case .finished(let found) = output { outcome = found } }
    #expect(outcome == .failed(.decryptionFailed))
  }

  @Test("disturbs the link where it says so")
  func disturbances() throws {
    for (quirk, expected) in [
      (Quirk.earlyDisconnect, HolderConversation.Disturbance.dropAfter(percent: 50)),
      (.invalidFragment, .invalidFragment),
      (.shortFragments, .shortFragments),
    ] {
      let exchange = try Exchange([try storedDocument()], quirks: Quirks(quirk), request: request(mdlRequest))
      exchange.run()
      #expect(exchange.disturbances == [expected])
    }
  }

  @Test("sends no message where it says so")
  func silent() throws {
    let silent = try Exchange([try storedDocument()], quirks: Quirks(.silent), request: request(mdlRequest))
    silent.run()
    #expect(silent.readerOutcome == nil && silent.asked.count == 1)
    let ended = try Exchange([try storedDocument()], quirks: Quirks(.endState), request: request(mdlRequest))
    ended.run()
    #expect(ended.endedLink && ended.responses.isEmpty)
  }
}

@Suite("A quirk of the response")
struct ResponseQuirkTests {
  private func response(_ quirk: Quirk, parameter: Int? = nil, others: [StoredCredential] = []) throws -> [UInt8] {
    var quirks = Quirks()
    quirks.insert(quirk, parameter: parameter)
    let exchange = try Exchange([try storedDocument()] + others, quirks: quirks, request: request(mdlRequest))
    exchange.run()
    return try #require(exchange.responses.first)
  }

  private func document(_ quirk: Quirk) throws -> ReturnedDocument {
    try #require(DeviceResponse(response(quirk)[...]).documents.first)
  }

  private func facts(_ document: ReturnedDocument) throws -> (
    COSESign1, MobileSecurityObject, [IssuerSignedItem], String
  ) {
    let signed = try IssuerSigned(document.issuerSigned)
    let mso = try MobileSecurityObject(payload: try #require(signed.issuerAuth.structure.payload), dates: .init())
    let space = try #require(signed.nameSpaces?.first)
    return (signed.issuerAuth, mso, space.items, space.nameSpace)
  }

  @Test(
    "changes the status",
    arguments: [(.responseStatus10, 10), (.responseStatus11, 11), (.responseStatus12, 12)] as [(Quirk, UInt64)])
  func status(quirk: Quirk, status: UInt64) throws {
    let response = try DeviceResponse(try response(quirk)[...])
    #expect(response.status == status && response.documents.isEmpty)
  }

  @Test("changes the documents member")
  func documents() throws {
    #expect(try decodeCBOR(try response(.documentsMissing))[key: "documents"] == nil)
    #expect(try decodeCBOR(try response(.documentsNull))[key: "documents"]?.isNull == true)
    #expect(try decodeCBOR(try response(.documentsEmpty))[key: "documents"]?.count == 0)
    #expect(
      try DeviceResponse(try response(.documentErrors)[...]).documentErrors.map(\.docType) == [mdlRequest.docType])
    #expect(try DeviceResponse(try response(.version2)[...]).version == "2.0")
    #expect(try decodeCBOR(try response(.statusFirst)).entries?.first { _ in true }?.key.text == "status")
    #expect(try DeviceResponse(try response(.statusFirst)[...]).documents.count == 1)
    #expect(throws: DeviceResponse.Violation.self) { try DeviceResponse(try response(.trailingBytes)[...]) }
    #expect(throws: DeviceResponse.Violation.self) { try DeviceResponse(try response(.truncated)[...]) }
  }

  @Test("makes the answer as long as it says")
  func oversized() throws {
    let bytes = try response(.oversizedAnswer, parameter: 100_000)
    #expect((99_990...100_000).contains(bytes.count))
    #expect(try DeviceResponse(bytes[...]).documents.count == 1)
  }

  @Test("breaks the digest of the first element and no other")
  func digest() throws {
    let (_, mso, items, space) = try facts(try document(.digestMismatch))
    let good = items.map {
      mso.digest($0.digestID, in: space).map(Array.init) == Crypto.digest(.sha256, Array($0.encoded))
    }
    #expect(good == [false, true, true, true])
  }

  @Test("returns an element twice, under another name space, or unasked")
  func elements() throws {
    let twice = try facts(try document(.duplicateElement)).2.map(\.elementIdentifier)
    #expect(twice == ["family_name", "given_name", "birth_date", "age_over_18", "family_name"])
    #expect(try facts(try document(.wrongNameSpace)).3 == "org.example.other")
    #expect(try facts(try document(.unrequestedElements)).2.count > 15)
  }

  @Test("returns a document that was not asked for, or under another type")
  func docTypes() throws {
    let both = try DeviceResponse(try response(.unrequestedDocument, others: [try storedDocument(.age)])[...])
    #expect(both.documents.map(\.docType) == ["org.iso.18013.5.1.mDL", "eu.europa.ec.av.1"])
    #expect(try document(.docTypeMismatch).docType == "org.iso.18013.5.1.mDL.other")
  }

  @Test("breaks the issuer's signature, or leaves its certificate out")
  func issuer() throws {
    let (broken, _, _, _) = try facts(try document(.issuerSignature))
    let signer = try Certificate(try #require(broken.structure.x5chain.first))
    #expect(!broken.isValid(for: try #require(broken.structure.payload), key: try signer.publicKey.get()))
    #expect(try facts(try document(.noCertificate)).0.structure.x5chain.isEmpty)
  }

  @Test("leaves device authentication out, or doubles it")
  func deviceAuth() throws {
    #expect(throws: DeviceSigned.Violation.missing) { try DeviceSigned(try document(.noDeviceSigned).deviceSigned) }
    #expect(throws: DeviceSigned.Violation.missing) { try DeviceSigned(try document(.neitherDeviceAuth).deviceSigned) }
    #expect(throws: DeviceSigned.Violation.malformed) { try DeviceSigned(try document(.bothDeviceAuths).deviceSigned) }
  }

  @Test("breaks the device signature", arguments: [Quirk.otherDeviceKey, .otherTranscript, .flippedDeviceAuth])
  func deviceSignature(quirk: Quirk) throws {
    let exchange = try Exchange([try storedDocument()], quirks: Quirks(quirk), request: request(mdlRequest))
    exchange.run()
    let document = try #require(try exchange.firstResponse().documents.first)
    let signed = try DeviceSigned(document.deviceSigned)
    guard case .signature(let signature) = signed.auth else { return #expect(Bool(false), "no signature") }
    let payload = DeviceAuthentication.payload(
      transcript: exchange.transcript.encoded[...], docType: document.docType, nameSpacesBytes: signed.nameSpacesBytes)
    let key = try PublicKey(coseKey: try facts(document).1.deviceKey)
    #expect(!signature.isValid(for: payload[...], key: key))
  }

  @Test("attaches the payload, or signs an element of the device's own")
  func attached() throws {
    guard case .signature(let signature) = try DeviceSigned(try document(.attachedPayload).deviceSigned).auth else {
      return #expect(Bool(false), "no signature")
    }
    #expect(signature.structure.payload != nil)
    #expect(
      try DeviceSigned(try document(.deviceElement).deviceSigned).nameSpaces.map(\.nameSpace) == ["org.example.device"])
  }
}
