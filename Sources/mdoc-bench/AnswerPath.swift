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
  /// In the order of the items.
  private let itemDigests: [ByteView]
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
    let items = try AnswerPath.nameSpaces(of: response).flatMap(\.items).map(\.encoded)
    itemDigests = items.map { digest(.sha256, $0)[...] }
    var file = FloorFile()
    for block in [key, nonce, sealed] { file.append(block) }
    file.append(count: items.count)
    for item in items { file.append(item) }
    floorFile = file.bytes
  }

  private static func nameSpaces(of response: [UInt8]) throws -> [IssuerNameSpace] {
    let document = try DeviceResponse(response[...]).documents[0]
    return try IssuerSigned(document.issuerSigned).nameSpaces ?? []
  }

  /// The median time of one answer, in nanoseconds.
  func round(passes: Int) throws -> Int64 {
    var times: [Int64] = []
    for _ in 0..<passes {
      let start = now()
      let digester = Digester(.sha256)
      var place = 0
      for nameSpace in try AnswerPath.nameSpaces(of: try cipher.open(sealed[...], nonce: nonce)) {
        for item in nameSpace.items {
          guard digester.isDigest(itemDigests[place], of: item.encoded) else { throw BenchError("another item") }
          place += 1
        }
      }
      times.append(now() - start)
      guard place == itemDigests.count else { throw BenchError("items are missing") }
    }
    return median(times)
  }
}
