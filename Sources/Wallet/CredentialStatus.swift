import Bytes
import CBOR
import COSE
import CivilTime
import Crypto
import Mdoc
import StatusJWT
import StatusLists
import Trust
import Web

/// What an issuer's own list says about a credential that it issued (token status list or identifier list).
package enum CredentialStatus: Equatable, Sendable {
  /// The document names no list, or one that cannot be read.
  case noList
  case answered(StatusAnswer)

  /// For people.
  package var text: String {
    switch self {
    case .noList: "names no list"
    case .answered(.unavailable(let fault)): "not known: \(fault)"
    case .answered(let answer): "\(answer)"
    }
  }

  /// Fetches the list that a credential names and asks it.
  ///
  /// - Parameters:
  ///   - roots: of issuers. The list has to be signed under the one behind the document; without one, by the document's own signer.
  package static func ask(
    about credential: Credential, through exchange: WebExchange, roots: [Certificate], now: UnixTime
  ) -> CredentialStatus {
    guard let auth = try? COSESign1(decodeCBOR(credential.issuerAuth)), let payload = auth.structure.payload,
      let mso = try? MobileSecurityObject(
        payload: payload, dates: .init(acceptsFraction: true, acceptsUntagged: true)),
      let reference = mso.status.flatMap(StatusReference.init), let address = WebAddress(reference.uri),
      let signer = auth.structure.x5chain.first.flatMap({ try? Certificate($0) })
    else { return .noList }
    let root = roots.first { root in
      guard signer.issuer == root.subject, let key = try? root.publicKey.get() else { return false }
      return signer.isSigned(by: key)
    }
    let copy = StatusSource.Copy(fetch(address, exchange), receivedAt: now)
    return .answered(
      StatusSource([reference.uri: copy]).answer(
        to: reference, from: root.map(StatusTrustPoint.issuer) ?? .signer(signer), at: now, skewSeconds: 300))
  }

  private static func fetch(_ address: WebAddress, _ exchange: WebExchange) -> Result<StatusToken, StatusFault> {
    let request = WebRequest.get(address, accept: "application/statuslist+cwt, application/statuslist+jwt;q=0.9")
    guard let answer = try? exchange(request, limits: WebLimits(size: StatusToken.maximumSize)), answer.status == 200
    else { return .failure(.fetchFailed) }
    do throws(StatusFault) {
      // A compact JWS begins with the base64url of `{"`.
      return .success(
        answer.body.starts(with: "ey".utf8)
          ? try StatusToken(jwt: answer.body[...]) : try StatusToken(cwt: answer.body[...]))
    } catch {
      return .failure(error)
    }
  }
}
