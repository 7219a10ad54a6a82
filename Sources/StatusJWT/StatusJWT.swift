import Bytes
import CivilTime
import JSON
import StatusLists

extension StatusToken {
  /// Reads a token in JWT form: a compact JWS whose `typ` is `statuslist+jwt`. Of the JSON, jansson's.
  ///
  /// Only what a signature of a list needs of JOSE is done: `x5c` names the signer, `crit` is refused, and so is every
  /// algorithm that is none of those the mdoc suite has.
  package convenience init(jwt text: ByteView) throws(StatusFault) {
    guard text.count <= StatusToken.maximumSize else { throw .tokenMalformed }
    let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 3, let header = StatusToken.object(parts[0]), let payload = StatusToken.object(parts[1]),
      let signature = StatusToken.bytes(parts[2])
    else { throw .tokenMalformed }
    guard header["typ"]?.string == "statuslist+jwt", header["crit"] == nil,
      let algorithm = header["alg"]?.string
    else { throw .tokenMalformed }
    var certificates: [[UInt8]] = []
    if case .array(let chain)? = header["x5c"] {
      for element in chain {
        guard let text = element.string, let der = try? Base64.standard.decode(text) else { throw .tokenMalformed }
        certificates.append(der)
      }
    } else if header["x5c"] != nil {
      throw .tokenMalformed
    }
    guard let subject = payload["sub"]?.string, let issuedAt = payload["iat"].flatMap(StatusToken.seconds) else {
      throw .tokenMalformed
    }
    let expiry = payload["exp"].map(StatusToken.seconds)
    let timeToLive = payload["ttl"].map(StatusToken.seconds)
    guard expiry != .some(nil), timeToLive != .some(nil) else { throw .tokenMalformed }
    let claims = StatusClaims(
      subject: subject, issuedAt: UnixTime(seconds: issuedAt),
      expiry: expiry.flatMap { $0 }.map { UnixTime(seconds: $0) },
      timeToLive: timeToLive.flatMap { $0 }, content: StatusToken.statuses(payload["status_list"]))
    try self.init(
      jwt: JWT(
        algorithm: algorithm, certificates: certificates,
        signingInput: Array(text[parts[0].startIndex..<parts[1].endIndex]), signature: signature, claims: claims))
  }

  private static func bytes(_ part: ByteView) -> [UInt8]? {
    try? Base64.url.decode(String(decoding: part, as: UTF8.self))
  }

  private static func object(_ part: ByteView) -> JSONValue? {
    guard let bytes = bytes(part), let value = JSONValue(reading: bytes), case .object = value else { return nil }
    return value
  }

  /// Whole seconds of a NumericDate (RFC 7519), which may be a fraction.
  private static func seconds(_ value: JSONValue) -> Int64? {
    let seconds: Int64?
    switch value {
    case .integer(let number): seconds = Int64(number)
    case .double(let number): seconds = Int64(exactly: number.rounded(.down))
    default: seconds = nil
    }
    guard let seconds, seconds >= 0, seconds < 1 << 48 else { return nil }
    return seconds
  }

  private static func statuses(_ list: JSONValue?) -> StatusClaims.Content? {
    guard let bits = list?["bits"]?.integer, let text = list?["lst"]?.string,
      let compressed = try? Base64.url.decode(text)
    else { return nil }
    return StatusList(bits: Int64(bits), compressed: compressed[...]).map { .statuses($0) }
  }
}
