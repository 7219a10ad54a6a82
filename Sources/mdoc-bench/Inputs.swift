import Bytes
import CBOR
import COSE
import CivilTime
import Crypto
import Issuer
import Mdoc
import Trust

/// One mDL answer, and what a reader knows when it arrives.
struct Answer {
  let response: [UInt8]
  let transcript: [UInt8]
}

/// The answers of one run: each from a signer of its own, all under one root.
struct Inputs {
  /// More signers than one, so that "new to the cache" is measured on more than one certificate.
  static let count = 16

  let answers: [Answer]
  let request: ItemsRequest
  let root: [UInt8]
  let now: UnixTime
  /// The same for the floor program; `Scripts/floor/verify.c` says what is in it.
  let floorFile: [UInt8]

  init(now: UnixTime) throws {
    var random = RandomSource()
    let elements = ["family_name", "given_name", "birth_date", "portrait", "age_over_18"]
    request = ItemsRequest(
      docType: DocumentKind.mdl.docType,
      nameSpaces: [
        .init(
          nameSpace: DocumentKind.mdl.ageNameSpace,
          elements: elements.map { .init(identifier: $0, intentToRetain: false) })
      ])
    let issue = TestIssue(.mdl, age: 34, now: now)
    let authority = try issue.makeAuthority(random: &random)
    var file = FloorFile()
    file.append(authority.certificate)
    file.append(count: Inputs.count)
    var answers: [Answer] = []
    for _ in 0..<Inputs.count {
      let outcome = try issue.issue(under: authority, random: &random)
      let engagement = CBORValue.map(labels: [0: "1.0"]).encode()
      let readerKey = try PrivateKey.make(.p256, random: &random)
      let transcript = SessionTranscript(
        engagement: engagement, eReaderKeyBytes: CBORValue.embedded(readerKey.publicKey.coseKey).encode(),
        handover: .qrCode
      ).encoded
      let selection = outcome.credential.selection(for: request)
      let presentation = DocumentPresentation(
        outcome.credential, selection: selection, method: .signature, transcript: transcript, readerKey: nil)
      let response = DeviceResponseDraft(documents: [try presentation.document()]).encode()
      answers.append(Answer(response: response, transcript: transcript))
      try file.append(response, outcome, presentation)
    }
    self.answers = answers
    root = authority.certificate
    floorFile = file.bytes
    self.now = now
  }
}

/// Blocks of bytes, each after its length in four bytes, least significant first.
struct FloorFile {
  private(set) var bytes: [UInt8] = []

  mutating func append(count: Int) {
    for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: count >> shift)) }
  }

  mutating func append(_ block: some Collection<UInt8>) {
    append(count: block.count)
    bytes += block
  }

  /// What OpenSSL has to work on for one answer.
  mutating func append(
    _ response: [UInt8], _ outcome: TestIssue.Outcome, _ presentation: DocumentPresentation
  ) throws {
    let document = try DeviceResponse(response[...]).documents[0]
    let issuerSigned = try IssuerSigned(document.issuerSigned)
    guard let payload = issuerSigned.issuerAuth.structure.payload,
      case .signature(let deviceSignature) = try DeviceSigned(document.deviceSigned).auth
    else { throw BenchError("the answer was made without a device signature") }
    append(outcome.signer.certificate)
    append(issuerSigned.issuerAuth.structure.input(payload: payload))
    append(issuerSigned.issuerAuth.structure.proof)
    append([4] + outcome.credential.deviceKey.publicKey.x + outcome.credential.deviceKey.publicKey.y)
    append(deviceSignature.structure.input(payload: presentation.payload[...]))
    append(deviceSignature.structure.proof)
    let items = issuerSigned.nameSpaces?.flatMap(\.items) ?? []
    append(count: items.count)
    for item in items { append(item.encoded) }
  }
}

struct BenchError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
