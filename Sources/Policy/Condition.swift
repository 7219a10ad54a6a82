import CivilTime
import Mdoc
import MdocVerification

/// What a site asks of a verified document. Only issuer-signed elements under the named name space count: an element of
/// another name space, or one that the holder's device signed, fulfils nothing.
package enum Condition: Equatable, Sendable {
  /// The element was given and can be read.
  case present(ElementName)
  /// The element's value is one of these, of the same kind. One value is `equals`.
  case accepted(ElementName, [AcceptedValue])
  /// `expiry_date` of this name space is not before the local date: the document is valid through that day.
  case notExpired(nameSpace: String)
  /// The holder is at least this old.
  case ageAtLeast(AgeLimit)
  /// `driving_privileges` of this name space list the category, issued and not expired on the local date.
  case drivingPrivilege(nameSpace: String, category: String)
}

/// An age condition, and which elements may answer it.
package struct AgeLimit: Equatable, Sendable {
  /// Completed years.
  package let years: AgeOver
  /// Where the elements that may answer it are.
  package let nameSpace: String
  /// Whether `age_in_years` counts. A number below the limit means no.
  package var allowsAgeInYears: Bool
  /// Whether `birth_date` counts. Only a full-date (tag 1004) does; every other form is unusable and proves nothing.
  package var allowsBirthDate: Bool

  package init(years: AgeOver, nameSpace: String, allowsAgeInYears: Bool = true, allowsBirthDate: Bool = false) {
    self.years = years
    self.nameSpace = nameSpace
    self.allowsAgeInYears = allowsAgeInYears
    self.allowsBirthDate = allowsBirthDate
  }

  /// Whether an element with this identifier could ever answer yes.
  func canBeProved(by element: String) -> Bool {
    if let statement = AgeOver(element: element) { return statement >= years }
    return element == MDLElements.ageInYears && allowsAgeInYears || element == MDLElements.birthDate && allowsBirthDate
  }
}

/// A value that a site accepts: compared with its kind, so the text `1` is not the number 1.
package enum AcceptedValue: Hashable, Sendable {
  case bool(Bool)
  case text(String)
  case integer(Int64)
  case double(Double)
  /// A full-date (tag 1004); a date-time never equals it.
  case date(CalendarDate)

  /// Nil where the value is of another kind, or of none that can be compared.
  func equals(_ value: ElementValue) -> Bool? {
    switch (self, value) {
    case (.bool(let wanted), .bool(let given)): wanted == given
    case (.text(let wanted), .string(let given)): wanted == given
    case (.integer(let wanted), .unsigned(let given)): Int64(exactly: given) == wanted
    case (.integer(let wanted), .int(let given)): wanted == given
    case (.double(let wanted), .double(let given)): wanted == given
    case (.date(let wanted), .date(let given)): wanted == given
    default: nil
    }
  }
}

extension Condition {
  /// The name space whose elements it looks at.
  package var nameSpace: String {
    switch self {
    case .present(let name), .accepted(let name, _): name.nameSpace
    case .notExpired(let nameSpace), .drivingPrivilege(let nameSpace, _): nameSpace
    case .ageAtLeast(let limit): limit.nameSpace
    }
  }

  /// The one element it looks at; nil for an age, which several can prove.
  package var element: String? {
    switch self {
    case .present(let name), .accepted(let name, _): name.element
    case .notExpired: MDLElements.expiryDate
    case .drivingPrivilege: MDLElements.drivingPrivileges
    case .ageAtLeast: nil
    }
  }
}
