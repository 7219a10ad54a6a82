import Mdoc
import MdocVerification

/// What the site's policy says about a verdict.
package enum Decision: Equatable, Sendable {
  case grant
  /// At least one reason, each once.
  case refuse([RefusalReason])

  package var isGranted: Bool { self == .grant }
}

/// Why a visitor is refused. Names elements and limits of the configuration, never a value of a document.
package enum RefusalReason: Hashable, Sendable {
  /// A hard finding of the verification.
  case notVerified(Reason)
  /// Nothing of a hard kind was found, but there is no verified document of an accepted type either.
  case documentNotAccepted
  /// The holder shared nothing that was asked for.
  case nothingShared
  case elementMissing(ElementName)
  /// The element is the device's word only.
  case elementNotIssuerSigned(ElementName)
  /// The value is of a kind that the condition cannot use.
  case elementUnreadable(ElementName)
  case valueNotAccepted(ElementName)
  /// `expiry_date` is past: the licence, not the credential (that is `notVerified(expired)`).
  case documentExpired
  case ageTooLow(AgeOver)
  case ageUnknown(AgeOver)
  /// What the document says about the age cannot all be true.
  case ageContradictory(AgeOver)
  /// `birth_date` is no full-date, or lies in the future; stands beside the age reason it led to.
  case birthDateUnusable
  case privilegeMissing(category: String)
  /// The privilege is listed, but its dates do not include today.
  case privilegeNotValid(category: String)

  /// The stable text form, used by events, JSON, the terminal and the tests: the name without its parameters.
  package var code: String { described.code }

  /// The code with its parameters in parentheses, such as `ageTooLow(18)` or `notVerified(noTrustAnchor)`.
  package var text: String {
    let parameters = described.parameters
    return parameters.isEmpty ? code : "\(code)(\(parameters.joined(separator: ", ")))"
  }

  private var described: (code: String, parameters: [String]) {
    switch self {
    case .notVerified(let reason): ("notVerified", [reason.text])
    case .documentNotAccepted: ("documentNotAccepted", [])
    case .nothingShared: ("nothingShared", [])
    case .elementMissing(let name): ("elementMissing", [name.nameSpace, name.element])
    case .elementNotIssuerSigned(let name): ("elementNotIssuerSigned", [name.nameSpace, name.element])
    case .elementUnreadable(let name): ("elementUnreadable", [name.nameSpace, name.element])
    case .valueNotAccepted(let name): ("valueNotAccepted", [name.nameSpace, name.element])
    case .documentExpired: ("documentExpired", [])
    case .ageTooLow(let limit): ("ageTooLow", [String(limit.years)])
    case .ageUnknown(let limit): ("ageUnknown", [String(limit.years)])
    case .ageContradictory(let limit): ("ageContradictory", [String(limit.years)])
    case .birthDateUnusable: ("birthDateUnusable", [])
    case .privilegeMissing(let category): ("privilegeMissing", [category])
    case .privilegeNotValid(let category): ("privilegeNotValid", [category])
    }
  }
}
