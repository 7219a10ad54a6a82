import Bytes
import CivilTime
import Issuer

extension IssuerService {
  /// How the wallet that takes an offer gets leave.
  package enum OfferedGrant: Equatable, Sendable {
    /// The user signs in.
    case authorizationCode
    /// The user is in already; with a transaction code, which comes on another way, or without.
    case preAuthorized(CredentialOffer.TransactionCode?)
  }

  /// An offer as it was made.
  package struct MadeOffer: Sendable {
    package let offer: CredentialOffer
    /// For the user alone, on another way than the offer; nil when none is asked for.
    package let transactionCode: String?
    /// The offer in a link or QR code.
    package let byValue: String
    /// Where it is to be had, in a link or QR code.
    package let byReference: String
  }

  /// Makes an offer.
  ///
  /// - Parameter configurationIDs: what is offered; nil for everything. Names that the service has not are left to the wallet to
  ///   refuse.
  package func makeOffer(
    _ configurationIDs: [String]? = nil, by grant: OfferedGrant, at now: UnixTime
  ) -> MadeOffer {
    let names = configurationIDs ?? documents.map(\.configurationID)
    var transactionCode: String?
    let offer: CredentialOffer
    switch grant {
    case .authorizationCode:
      let state = unguessable()
      issuerStates.insert(names, under: state, at: now)
      offer = CredentialOffer(
        issuer: identifier, configurationIDs: names,
        authorizationCode: CredentialOffer.AuthorizationCodeGrant(issuerState: state))
    case .preAuthorized(let description):
      let code = unguessable()
      transactionCode = description.map(makeTransactionCode)
      preAuthorizations.insert(
        PreAuthorization(configurationIDs: names, transactionCode: transactionCode, triesLeft: 5), under: code, at: now)
      offer = CredentialOffer(
        issuer: identifier, configurationIDs: names,
        preAuthorizedCode: CredentialOffer.PreAuthorizedCodeGrant(code: code, transactionCode: description))
    }
    let place = unguessable()
    offers.insert(offer, under: place, at: now)
    let reference = address(.offer) + place
    return MadeOffer(
      offer: offer, transactionCode: transactionCode, byValue: offer.invocation(),
      byReference: WebAddress(reference).map { CredentialOffer.invocation(at: $0) } ?? "")
  }

  private func makeTransactionCode(_ description: CredentialOffer.TransactionCode) -> String {
    let alphabet = description.inputMode == .numeric ? "0123456789" : "ABCDEFGHJKLMNPQRSTUVWXYZ"
    return String((0..<(description.length ?? 6)).map { _ in alphabet.randomElement(using: &random) ?? "0" })
  }
}

/// What a pre-authorized code stands for.
struct PreAuthorization {
  let configurationIDs: [String]
  /// Nil when none is asked for.
  let transactionCode: String?
  /// Wrong transaction codes that are still borne.
  var triesLeft: Int
}
