import Bluetooth
import Bytes
import CBOR
import CivilTime
import Crypto
import Foundation
import Issuer
import Kernel
import Mdoc
import TestSupport
import TrustStore

@testable import MdocSession
@testable import Wallet

/// A wallet whose document is full of what nobody else would write, and that knows the secrets of its sessions.
struct MarkedWallet {
  /// What every value begins with, and the portrait is made of. Short enough for a string that has no memory of its own.
  static let mark = "Zq7-mark"
  static let birthDate = "1911-05-17"

  let authority: IssuerAuthority
  private let credentials: [Bool: StoredCredential]

  static let elements = [
    "family_name", "given_name", "document_number", "resident_address", "resident_city", "issuing_authority",
    "birth_date", "portrait", "driving_privileges", "age_over_18", "age_in_years",
  ]

  init() throws {
    var random = RandomSource()
    let now = UnixTime.wallClock()
    authority = try TestIssue(.mdl, age: 30, now: now).makeAuthority(random: &random)
    let signer = try authority.makeSigner(
      notBefore: now.adding(seconds: -30 * 86_400), notAfter: now.adding(seconds: 300 * 86_400), random: &random)
    var credentials: [Bool: StoredCredential] = [:]
    for isOfAge in [true, false] {
      let text = ["family_name", "document_number", "resident_address", "resident_city", "issuing_authority"].map {
        Element($0, .text("\(MarkedWallet.mark)-\($0)-\(UInt64.random(in: 0 ... .max))"))
      }
      let others = [
        Element("given_name", .text(MarkedWallet.mark)),
        Element("birth_date", .tag(1004, .text(MarkedWallet.birthDate))),
        Element("portrait", .bytes([[UInt8]](repeating: Array(MarkedWallet.mark.utf8), count: 4000).flatMap { $0 })),
        Element(
          "driving_privileges",
          .array([.map(["vehicle_category_code": .text(MarkedWallet.mark + " C"), "codes": .array([])])])),
        Element("age_over_18", .bool(isOfAge)), Element("age_in_years", isOfAge ? 114 : 14),
      ]
      let credential = try signer.issue(
        docType: DocumentKind.mdl.docType, [NameSpaceContent(DocumentKind.mdl.ageNameSpace, text + others)],
        deviceKey: try PrivateKey.generate(.p256), terms: IssuanceTerms(now: now), random: &random)
      credentials[isOfAge] = StoredCredential(credential: credential, method: .signature)
    }
    self.credentials = credentials
  }

  /// What of any visitor must never be found.
  static let personal: [String: [UInt8]] = [
    "a value": Array(mark.utf8), "the birth date": Array(birthDate.utf8),
  ]

  /// One visit.
  final class Visit {
    let code: String
    private let loop: EventLoop
    private let key: PrivateKey
    private let engagement: [UInt8]
    private let radio: HolderRadio
    private var conversation: HolderConversation
    private var timer: EventLoop.Timer?
    private(set) var end: HolderConversation.End?
    /// Once the reader has sent its key.
    private(set) var secrets: [String: [UInt8]] = [:]
    /// Called when the request is here, in place of an answer.
    var onRequest: (() -> Void)?

    init(_ wallet: MarkedWallet, isOfAge: Bool, quirk: Quirk?, air: String) throws {
      loop = try EventLoop()
      key = try PrivateKey.generate(.p256)
      guard let uuid = UUID128(randomBytes(16)), let stored = wallet.credentials[isOfAge] else {
        throw CocoaError(.featureUnsupported)
      }
      let bluetooth = BluetoothRetrieval(peripheralServer: .init(uuid: uuid), centralClient: nil)
      engagement = DeviceEngagementDraft(key: key.publicKey, bluetooth: bluetooth).encode()
      code = EngagementURI(engagement: engagement).text
      var quirks = Quirks()
      if let quirk { quirks = Quirks(quirk) }
      radio = HolderRadio(
        loop: loop, air: air, bluetooth: bluetooth, ident: try DeviceEngagement(engagement).bleIdent, mtu: 185,
        quirks: quirks, patience: .seconds(3))
      conversation = HolderConversation(
        engagement: engagement, key: key, answer: HolderAnswer(documents: [stored], quirks: quirks),
        limits: SessionLimits(link: .seconds(5), message: .seconds(20)), at: .now)
    }

    /// Goes on the air.
    func open() throws {
      timer = loop.timer("holder") { [weak self] in self?.feed(.tick) }
      try radio.start { [weak self] event in self?.take(event) }
      drain()
    }

    /// Serves the reader to the end, or to the request where that is waited for.
    func run(seconds: Double = 30) throws {
      let deadline = ContinuousClock.now + .seconds(seconds)
      while end == nil, ContinuousClock.now < deadline {
        if try loop.run(until: deadline) { continue }
      }
    }

    private func take(_ event: HolderRadio.Event) {
      switch event {
      case .remark: break
      case .started: feed(.linkStarted)
      case .message(let message):
        learn(message)
        feed(.message(message))
      case .endedByReader: feed(.readerEndedLink)
      case .lost: feed(.linkLost)
      case .closed: loop.stop()
      }
    }

    /// What both sides have agreed on, as far as this side knows.
    private func learn(_ message: ByteView) {
      guard secrets.isEmpty, let first = try? SessionEstablishment(message), let readerKey = try? first.eReaderKey(),
        let secret = try? key.sharedSecret(with: readerKey)
      else { return }
      let transcript = SessionTranscript(
        engagement: engagement[...], eReaderKeyBytes: Array(first.eReaderKeyBytes), handover: .qrCode)
      secrets["the shared secret"] = secret.withBytes { Array($0) }
      for side in [SessionEncryption.Side.reader, .holder] {
        let key = SessionEncryption.key(of: side, secret: secret, salt: transcript.salt)
        secrets[side == .reader ? "SKReader" : "SKDevice"] = key.withBytes { Array($0) }
      }
    }

    private func feed(_ input: HolderConversation.Input) {
      guard end == nil else { return }
      conversation.handle(input, at: .now)
      drain()
    }

    private func drain() {
      var isAsked = false
      while let output = conversation.nextOutput() {
        switch output {
        case .send(let message, let disturbance): radio.send(message, disturbance)
        case .endLink: radio.sendEnd()
        case .wake(let instant): timer?.set(at: instant)
        case .ask: isAsked = true
        case .finished(let end):
          self.end = end
          timer?.cancel()
          radio.close()
        }
      }
      guard isAsked else { return }
      if let onRequest { return onRequest() }
      feed(.consent([true]))
    }
  }
}
