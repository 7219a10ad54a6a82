// seeds hex: status-list/*.json verdicts/document-status/*.json
// seeds text: status-list/*.json
// options: -max_len=8192
import Bytes
import CivilTime
import Crypto
import Mdoc
import StatusJWT
import StatusLists

/// Tokens in both forms: nothing traps, and without a trust point nothing is ever said about a document.
func fuzz(_ input: [UInt8]) {
  let now = UnixTime(seconds: 1_780_000_000)
  for token in [
    Result { () throws(StatusFault) in try StatusToken(cwt: input[...]) },
    Result { () throws(StatusFault) in try StatusToken(jwt: input[...]) },
  ] {
    let uri = (try? token.get())?.claims.subject ?? "https://issuer.example/status/1"
    let source = StatusSource([uri: StatusSource.Copy(token, receivedAt: now)])
    for place in [StatusReference.Place.index(3), .index(.max), .identifier(input.prefix(2))] {
      let answer = source.answer(to: StatusReference(uri: uri, place: place), from: .none, at: now)
      guard case .unavailable = answer else {
        expect(false, "nobody's list says nothing")
        return
      }
      // A list that vouches for itself: whatever it says, it says without a trap.
      _ = source.answer(
        to: StatusReference(uri: uri, place: place, certificate: input[...]), from: .none, at: now, skewSeconds: 300)
    }
    if case .statuses(let list)? = (try? token.get())?.claims.content {
      expect(list[list.count] == nil, "there is nothing behind the end of a list")
      if list.count > 0 { expect(list[list.count - 1] != nil, "there is something at its end") }
    }
  }
}
