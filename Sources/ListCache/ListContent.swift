import Bytes
import CivilTime
import Crypto
import StatusJWT
import StatusLists
import Trust
import VICAL

/// A list as it came, read.
package enum ListContent: Sendable {
  case revocation(CertificateRevocationList)
  case status(StatusToken)
  /// Read again whenever the signers of lists are known.
  case issuers([UInt8])

  /// Why a list is not one. The raw value is the stable reason code.
  package enum Fault: String, Error { case malformed }

  package init(_ kind: ListKind, _ bytes: [UInt8]) throws(Fault) {
    switch kind {
    case .revocation:
      var der = bytes
      if bytes.first != 0x30 {
        let text = String(decoding: bytes.prefix(ListContent.longestPEM), as: UTF8.self)
        guard let block = (try? PEM.blocks(in: text))?.first else { throw .malformed }
        der = Array(block.bytes)
      }
      guard let list = try? CertificateRevocationList(der) else { throw .malformed }
      self = .revocation(list)
    case .status:
      do throws(StatusFault) { self = .status(try ListContent.token(bytes)) } catch { throw .malformed }
    case .issuers:
      guard (try? UnverifiedVICAL(bytes[...])) != nil else { throw .malformed }
      self = .issuers(bytes)
    }
  }

  private static let longestPEM = 8 << 20

  /// A token of either form: CBOR in tag 18, or text of three parts.
  static func token(_ bytes: [UInt8]) throws(StatusFault) -> StatusToken {
    bytes.first == 0xD2 ? try StatusToken(cwt: bytes[...]) : try StatusToken(jwt: bytes[...])
  }

  /// Until when it is good by its own word, when it was fetched at this time. Of lists of issuers the verified one says
  /// it.
  package func end(fetched: UnixTime) -> UnixTime? {
    switch self {
    case .revocation(let list): return list.nextUpdate
    case .status(let token):
      let life = token.claims.timeToLive.map { fetched.adding(seconds: $0) }
      guard let expiry = token.claims.expiry else { return life }
      return life.map { min($0, expiry) } ?? expiry
    case .issuers: return nil
    }
  }
}

extension ListKind {
  /// Longest list, in bytes.
  package var maximumSize: Int {
    switch self {
    case .revocation: CertificateRevocationList.maximumSize
    case .status: StatusToken.maximumSize
    case .issuers: UnverifiedVICAL.maximumSize
    }
  }

  /// What a server is asked for.
  package var mediaTypes: String {
    switch self {
    case .revocation: "application/pkix-crl, */*"
    case .status:
      "application/statuslist+cwt, application/identifierlist+cwt, application/statuslist+jwt;q=0.9, */*;q=0.1"
    case .issuers: "application/cbor, */*"
    }
  }
}
