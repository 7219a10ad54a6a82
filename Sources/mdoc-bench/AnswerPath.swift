import Bytes
import COSE
import CivilTime
import Crypto
import Issuer
import Mdoc

/// An answer with a large portrait, from its ciphertext to the digests of its items: decrypted, parsed and hashed as the reader does.
final class AnswerPath {
  private static let portraitSize = 100 << 10

  private let cipher: AES256GCM
  private let nonce: [UInt8]
  private let sealed: [UInt8]
  private let itemCount: Int
  /// What the floor program reads: key, nonce, ciphertext with tag, the number of items, the items.
  let floorFile: [UInt8]

  init(now: UnixTime) throws {
    let content = DocumentContent(
      kind: .mdl, person: TestPerson(age: 34, on: now.date()), portraitSize: AnswerPath.portraitSize)
    var random = RandomSource()
    let credential = try TestIssue(content, now: now).issue(random: &random).credential
    let presentation = DocumentPresentation(
      credential, selection: credential.everything, method: .signature, transcript: [0xf6], readerKey: nil)
    let response = DeviceResponseDraft(documents: [try presentation.document()]).encode()
    let key = randomBytes(32)
    nonce = [UInt8](repeating: 0, count: 11) + [1]
    cipher = AES256GCM(key: SecretBytes(copying: key))
    sealed = try cipher.seal(response[...], nonce: nonce)
    let items = try AnswerPath.items(of: response)
    itemCount = items.count
    var file = FloorFile()
    for block in [key, nonce, sealed] { file.append(block) }
    file.append(count: items.count)
    for item in items { file.append(item) }
    floorFile = file.bytes
  }

  private static func items(of response: [UInt8]) throws -> [ByteView] {
    let document = try DeviceResponse(response[...]).documents[0]
    return try IssuerSigned(document.issuerSigned).nameSpaces?.flatMap(\.items).map(\.encoded) ?? []
  }

  /// The median time of one answer, in nanoseconds.
  func round(passes: Int) throws -> Int64 {
    var times: [Int64] = []
    for _ in 0..<passes {
      let start = now()
      let items = try AnswerPath.items(of: try cipher.open(sealed[...], nonce: nonce))
      var first: UInt8 = 0
      for item in items { first &+= digest(.sha256, item)[0] }
      times.append(now() - start)
      guard items.count == itemCount else { throw BenchError("items are missing: \(first)") }
    }
    return median(times)
  }
}
