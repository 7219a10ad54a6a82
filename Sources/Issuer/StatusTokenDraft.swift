import CBOR
import COSE
import CivilTime
import Crypto

/// A token of a status list or an identifier list before it is signed (CWT form). Everything can be made wrong.
package struct StatusTokenDraft: Sendable {
  /// What is in it.
  package enum Content: Sendable {
    /// Entries of 1, 2, 4 or 8 bits.
    case statuses(bits: Int, [UInt8])
    /// Identifiers of revoked documents.
    case identifiers([[UInt8]])
  }

  package var subject: String
  package var content: Content
  package var issuedAt: UnixTime
  package var expiry: UnixTime?
  package var timeToLive: Int64?
  /// `typ` of the protected header; nil for the right one.
  package var type: String?
  /// The signer's certificates; nil for the signer's own alone.
  package var chain: [[UInt8]]?
  /// The claims are changed before they are signed.
  package var edit: (@Sendable (inout [CBORValue.Pair]) -> Void)?

  /// A list that is issued now, good for a day, and may be kept for an hour.
  package init(subject: String, _ content: Content, now: UnixTime) {
    self.subject = subject
    self.content = content
    issuedAt = now
    expiry = now.adding(seconds: 86_400)
    timeToLive = 3600
  }

  /// The token, COSE_Sign1 in tag 18.
  package func encoded(signedBy signer: DocumentSigner, key: PrivateKey? = nil) throws(IssuerError) -> [UInt8] {
    let signingKey = key ?? signer.key
    guard let algorithm = COSEAlgorithm(signingWith: signingKey.publicKey.curve) else {
      throw .curve(signingKey.publicKey.curve.rawValue)
    }
    let isStatusList = if case .statuses = content { true } else { false }
    let type = self.type ?? (isStatusList ? "application/statuslist+cwt" : "application/identifierlist+cwt")
    let protected = CBORValue.map(labels: [1: .int(algorithm.number), 16: .text(type)]).encode()
    let payload = claims.encode()
    let input = CBORValue.array(["Signature1", .bytes(protected), .bytes([]), .bytes(payload)]).encode()
    let certificates = chain ?? [signer.certificate]
    let x5chain =
      certificates.count == 1 ? CBORValue.bytes(certificates[0]) : .array(certificates.map { CBORValue.bytes($0) })
    let unprotected = certificates.isEmpty ? CBORValue.map([]) : .map(labels: [33: x5chain])
    do {
      let signature = try signingKey.signature(for: input, hash: algorithm.hash)
      return CBORValue.tag(
        18, .array([.bytes(protected), unprotected, .bytes(payload), .bytes(signature)])
      ).encode()
    } catch {
      throw .cryptography("status token: \(error)")
    }
  }

  /// The claims set.
  package var claims: CBORValue {
    var pairs: [CBORValue.Pair] = [
      CBORValue.Pair(.int(2), .text(subject)), CBORValue.Pair(.int(6), .int(issuedAt.seconds)),
    ]
    if let expiry { pairs.append(CBORValue.Pair(.int(4), .int(expiry.seconds))) }
    if let timeToLive { pairs.append(CBORValue.Pair(.int(65534), .int(timeToLive))) }
    switch content {
    case .statuses(let bits, let entries):
      let compressed = StatusTokenDraft.zlib(StatusTokenDraft.pack(entries, bits: bits))
      pairs.append(
        CBORValue.Pair(.int(65533), .map(["bits": .int(Int64(bits)), "lst": .bytes(compressed)])))
    case .identifiers(let identifiers):
      let members = identifiers.map { CBORValue.Pair(.bytes($0), .map([])) }
      pairs.append(CBORValue.Pair(.int(65530), .map(["identifiers": .map(members)])))
    }
    edit?(&pairs)
    return .map(pairs)
  }

  /// Entries packed from the least significant bit of each byte on.
  package static func pack(_ entries: [UInt8], bits: Int) -> [UInt8] {
    guard (1...8).contains(bits) else { return entries }
    var packed = [UInt8](repeating: 0, count: (entries.count * bits + 7) / 8)
    for (place, entry) in entries.enumerated() {
      let value = UInt64(entry) & (1 << UInt64(bits) - 1)
      for bit in 0..<bits where value >> UInt64(bit) & 1 == 1 {
        packed[(place * bits + bit) / 8] |= 1 << UInt8((place * bits + bit) % 8)
      }
    }
    return packed
  }

  /// A zlib stream (RFC 1950) of blocks that are stored as they are.
  package static func zlib(_ content: [UInt8]) -> [UInt8] {
    var stream: [UInt8] = [0x78, 0x01]
    var rest = content[...]
    repeat {
      let block = rest.prefix(65_535)
      rest = rest.dropFirst(block.count)
      stream.append(rest.isEmpty ? 1 : 0)
      stream += [UInt8(block.count & 255), UInt8(block.count >> 8)]
      stream += [UInt8(~block.count & 255), UInt8(~block.count >> 8 & 255)]
      stream += block
    } while !rest.isEmpty
    var low: UInt32 = 1
    var high: UInt32 = 0
    for byte in content {
      low = (low + UInt32(byte)) % 65_521
      high = (high + low) % 65_521
    }
    let checksum = high << 16 | low
    for shift in [UInt32(24), 16, 8, 0] { stream.append(UInt8(checksum >> shift & 255)) }
    return stream
  }
}
