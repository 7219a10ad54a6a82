import Bluetooth
import Crypto
import Mdoc
import MdocSession
import Panel
import Testing

@testable import ReaderCore

let epoch = ContinuousClock.now

let requests = [
  ItemsRequest(
    docType: "org.iso.18013.5.1.mDL",
    nameSpaces: [
      .init(nameSpace: "org.iso.18013.5.1", elements: [.init(identifier: "family_name", intentToRetain: false)])
    ])
]

/// The machine with virtual time, and a wallet's engine at the other end where one is needed.
final class Bench {
  var reader: Reader
  var now = epoch
  var shown: [Signal] = []
  var reports: [TransactionReport] = []
  var refused: [String] = []
  var plans: [RadioPlan] = []
  var sent: [[UInt8]] = []
  var kept: [Reader.LinkID] = []
  var finished: [Reader.LinkID] = []
  var evaluations: [Evaluation] = []
  var closes = 0
  var deadline: ContinuousClock.Instant?

  init(timeouts: ReaderTimeouts = ReaderTimeouts(), signer: ReaderSigner? = nil) {
    reader = Reader(settings: Reader.Settings(requests: requests, timeouts: timeouts, signer: signer)) {
      curve throws(CryptoError) in
      try PrivateKey.generate(curve)
    }
  }

  var isReady: Bool { reader.isReady }

  func feed(_ input: Reader.Input) {
    reader.handle(input, at: now)
    while let output = reader.nextOutput() {
      switch output {
      case .openRadio(let plan): plans.append(plan)
      case .keep(let link): kept.append(link)
      case .send(_, let message): sent.append(message)
      case .finish(let link): finished.append(link)
      case .closeRadio: closes += 1
      case .evaluate(let evaluation): evaluations.append(evaluation)
      case .show(let signal): shown.append(signal)
      case .report(let report): reports.append(report)
      case .codeRefused(let reason): refused.append(reason)
      case .ready: break
      case .wake(let instant): deadline = instant
      }
    }
  }

  /// Lets time pass until the machine's deadline, and ticks.
  func waitForDeadline() {
    if let deadline { now = max(now, deadline) }
    feed(.tick)
  }

  func start() { feed(.started) }
}

struct TestWallet: ~Copyable {
  let code: [UInt8]
  var session: HolderSession

  init(curve: Curve = .p256, edit: (inout DeviceEngagementDraft) -> Void = { _ in }) throws {
    let key = try PrivateKey.generate(curve)
    let uuid = try #require(UUID128([UInt8](repeating: 7, count: 16)))
    var draft = DeviceEngagementDraft(
      key: key.publicKey, bluetooth: BluetoothRetrieval(peripheralServer: .init(uuid: uuid), centralClient: uuid))
    edit(&draft)
    let engagement = try DeviceEngagement(draft.encode())
    code = Array(EngagementURI(engagement: Array(engagement.encoded)).text.utf8)
    session = HolderSession(engagement: Array(engagement.encoded), key: key, at: epoch)
    while session.nextOutput() != nil {}
    session.handle(.linkStarted, at: epoch)
    while session.nextOutput() != nil {}
  }

  /// The encrypted answer to the reader's first message.
  mutating func answer(_ establishment: [UInt8], with response: [UInt8]) throws -> [UInt8] {
    session.handle(.message(establishment[...]), at: epoch)
    while session.nextOutput() != nil {}
    session.handle(.respond(response, endsSession: false), at: epoch)
    var answer: [UInt8]?
    while let output = session.nextOutput() {
      if case .send(let message) = output { answer = message }
    }
    return try #require(answer)
  }
}

let facts = LinkFacts(mode: .peripheralServer, mtu: 515, roundTrips: 5)

func assessment(granted: Bool) -> Assessment {
  Assessment(
    isGranted: granted, reasons: granted ? [] : ["ageTooLow(18)"], remarks: [], docType: "d", issuingCountry: "UT",
    verifying: .milliseconds(1), deciding: .zero)
}
