import Bytes
import CBOR
import CivilTime
import JOSE
import JSON
import Mdoc
import MdocVerification
import Web

extension VerifierTransaction {
  /// What a wallet posted, as parts that can be verified. Throws what keeps it from being an answer to this transaction.
  func read(_ form: FormFields) throws(ResponseFault) -> PostedAnswer {
    guard let encryptionKey else {
      guard form["response"] == nil else { throw .responseModeMismatch }
      if let error = form["error"] { return .refusal(printable(error, limit: 60)) }
      guard form["state"] == state else { throw .stateMismatch }
      guard let text = form["vp_token"] else { throw .tokenMissing }
      guard let token = JSONValue(reading: Array(text.utf8)) else { throw .tokenMalformed }
      return .parts(try parts(of: token), mdocGeneratedNonce: "")
    }
    guard let text = form["response"] else {
      guard form["vp_token"] == nil else { throw .responseModeMismatch }
      if let error = form["error"] { return .refusal(printable(error, limit: 60)) }
      throw .tokenMissing
    }
    let envelope: CompactJWE
    do throws(JOSEFault) { envelope = try CompactJWE(reading: text) } catch { throw .envelopeMalformed(error) }
    let walletNonce = try check(envelope)
    let payload: JSONValue
    do throws(JOSEFault) {
      guard let value = JSONValue(reading: try envelope.decrypted(with: encryptionKey)), value.members != nil else {
        throw .malformed("payload")
      }
      payload = value
    } catch .malformed("payload") {
      throw .payloadMalformed
    } catch {
      throw .decryptionFailed
    }
    if let error = payload["error"]?.string { return .refusal(printable(error, limit: 60)) }
    // In Annex B it may be beside the envelope as well.
    guard payload["state"]?.string == state, form["state"] == nil || form["state"] == state else {
      throw .stateMismatch
    }
    guard let token = payload["vp_token"] else { throw .tokenMissing }
    if order.form == .annexB { try checkSubmission(payload["presentation_submission"]) }
    return .parts(try parts(of: token), mdocGeneratedNonce: walletNonce)
  }

  /// What the envelope says of itself, against what was offered, before it is opened.
  ///
  /// - Returns: the wallet's nonce; empty in the final form.
  private func check(_ envelope: CompactJWE) throws(ResponseFault) -> String {
    guard envelope.algorithm == "ECDH-ES" else { throw .envelopeUnexpected("alg") }
    guard order.encryptions.contains(where: { $0.rawValue == envelope.encryption }) else {
      throw .envelopeUnexpected("enc")
    }
    // A wallet may leave it out in Annex B; the key has that name in the final form, so it has to be there.
    guard envelope.keyID == id || (envelope.keyID == nil && order.form == .annexB) else {
      throw .envelopeUnexpected("kid")
    }
    guard order.form == .annexB else { return "" }
    guard let bytes = envelope.partyU, let nonce = String(validating: bytes, as: UTF8.self) else {
      throw .envelopeUnexpected("apu")
    }
    guard envelope.partyV == Array(self.nonce.utf8) else { throw .envelopeUnexpected("apv") }
    return nonce
  }

  private func checkSubmission(_ submission: JSONValue?) throws(ResponseFault) {
    guard submission?["definition_id"]?.string == id else { throw .submissionMismatch }
    for descriptor in submission?["descriptor_map"]?.elements ?? [] {
      guard let docType = descriptor["id"]?.string, order.query.credentials.contains(where: { $0.docType == docType }),
        descriptor["format"]?.string == "mso_mdoc"
      else {
        throw .submissionMismatch
      }
    }
  }

  private func parts(of token: JSONValue) throws(ResponseFault) -> [PostedAnswer.Part] {
    if order.form == .annexB {
      guard let text = token.string else { throw .tokenMalformed }
      return [PostedAnswer.Part(id: nil, deviceResponse: try response(text))]
    }
    guard let members = token.members, !members.isEmpty else { throw .tokenMalformed }
    var parts: [PostedAnswer.Part] = []
    for member in members {
      guard let query = order.query[member.key] else { throw .queryUnknown }
      guard let elements = member.value.elements, !elements.isEmpty else { throw .tokenMalformed }
      guard elements.count == 1 || query.allowsMultiple else { throw .tooManyCredentials }
      for element in elements {
        guard let text = element.string else { throw .formatUnexpected }
        parts.append(PostedAnswer.Part(id: member.key, deviceResponse: try response(text)))
      }
    }
    return parts
  }

  private func response(_ text: String) throws(ResponseFault) -> [UInt8] {
    guard let bytes = try? Base64.url.decode(text), (try? decodeCBOR(bytes[...]))?.entries != nil else {
      throw .formatUnexpected
    }
    return bytes
  }
}

/// What a wallet posted, once it could be read.
enum PostedAnswer: Equatable {
  case refusal(String)
  case parts([Part], mdocGeneratedNonce: String)

  struct Part: Equatable {
    let id: String?
    let deviceResponse: [UInt8]
  }
}

extension Verifier {
  /// The verdicts on a posted answer, and whether it is all that was asked for.
  func verify(
    _ parts: [PostedAnswer.Part], mdocGeneratedNonce: String, of transaction: VerifierTransaction, now: UnixTime
  ) -> VerifiedAnswer {
    let transcript = transaction.transcript(mdocGeneratedNonce: mdocGeneratedNonce)
    let query = transaction.order.query
    var documents: [(id: String, document: VerifiedDocument)] = []
    var results: [VerifiedAnswer.Part] = []
    for part in parts {
      let asked = part.id.map { id in query.credentials.filter { $0.id == id } } ?? query.credentials
      let verdict = verify(
        part.deviceResponse[...],
        in: Circumstances(
          transcript: transcript.encoded[...], requested: asked.map { $0.itemsRequest() }, readerKey: nil, now: now))
      results.append(VerifiedAnswer.Part(id: part.id, verdict: verdict))
      for document in verdict.documents.compactMap(\.verified) {
        guard let id = part.id ?? query.credentials.first(where: { $0.docType == document.docType })?.id else {
          continue
        }
        documents.append((id, document))
      }
    }
    return VerifiedAnswer(parts: results, isSatisfied: !documents.isEmpty && query.isSatisfied(by: documents))
  }
}
