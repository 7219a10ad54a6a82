/// The elements of `org.iso.18013.5.1` and the kinds of their values (ISO/IEC 18013-5 section 7.2.1).
package enum MDLElements {
  package static let docType = "org.iso.18013.5.1.mDL"
  package static let nameSpace = "org.iso.18013.5.1"

  // Elements with rules of their own; some other doc types have them too, under their own name spaces.
  package static let ageInYears = "age_in_years"
  package static let birthDate = "birth_date"
  package static let drivingPrivileges = "driving_privileges"
  package static let expiryDate = "expiry_date"
  package static let issueDate = "issue_date"
  package static let issuingCountry = "issuing_country"
  package static let issuingJurisdiction = "issuing_jurisdiction"
  package static let portrait = "portrait"

  private enum ValueKind {
    case text
    case bytes
    case unsigned
    case fullDate
    /// tdate or full-date.
    case anyDate
    case bool
    case privileges
  }

  /// Whether a value is of the kind its element is defined with. Elements without a definition pass.
  ///
  /// `portrait` passes whatever it is: whether it can be shown is its own finding.
  package static func isRightKind(_ value: ElementValue, for element: String) -> Bool {
    guard let kind = kind(of: element) else { return true }
    switch (kind, value) {
    case (.text, .string), (.bytes, .data), (.unsigned, .unsigned), (.fullDate, .date), (.anyDate, .date),
      (.anyDate, .dateTime), (.bool, .bool):
      return true
    case (.privileges, .array(let privileges)):
      return privileges.allSatisfy(isPrivilege)
    default:
      return false
    }
  }

  private static func kind(of element: String) -> ValueKind? {
    kinds[element] ?? (AgeOver(element: element) == nil ? nil : .bool)
  }

  private static let kinds: [String: ValueKind] = [
    "family_name": .text, "given_name": .text, issuingCountry: .text, "issuing_authority": .text,
    "document_number": .text, "un_distinguishing_sign": .text, "administrative_number": .text, "eye_colour": .text,
    "hair_colour": .text, "birth_place": .text, "resident_address": .text, issuingJurisdiction: .text,
    "nationality": .text, "resident_city": .text, "resident_state": .text, "resident_postal_code": .text,
    "resident_country": .text, "family_name_national_character": .text, "given_name_national_character": .text,
    birthDate: .fullDate,
    issueDate: .anyDate, expiryDate: .anyDate, "portrait_capture_date": .anyDate,
    "sex": .unsigned, "height": .unsigned, "weight": .unsigned, ageInYears: .unsigned, "age_birth_year": .unsigned,
    drivingPrivileges: .privileges,
    "signature_usual_mark": .bytes, "biometric_template_face": .bytes, "biometric_template_finger": .bytes,
    "biometric_template_signature_sign": .bytes, "biometric_template_iris": .bytes,
  ]

  /// One entry of driving_privileges: a map with a category, and dates and codes of the right kinds where present.
  private static func isPrivilege(_ value: ElementValue) -> Bool {
    guard case .map(let members) = value, case .string = value.member("vehicle_category_code") else { return false }
    return members.allSatisfy { member in
      switch (member.key, member.value) {
      case (issueDate, .date), (expiryDate, .date): return true
      case (issueDate, _), (expiryDate, _): return false
      case ("codes", .array(let codes)): return !codes.isEmpty && codes.allSatisfy(isCode)
      case ("codes", _): return false
      default: return true
      }
    }
  }

  private static func isCode(_ value: ElementValue) -> Bool {
    guard case .map(let members) = value, case .string = value.member("code") else { return false }
    return members.allSatisfy { member in
      guard member.key == "sign" || member.key == "value" else { return true }
      if case .string = member.value { return true }
      return false
    }
  }

  /// Whether an image begins as JPEG or JPEG 2000 (box or raw codestream) does.
  package static func looksLikeImage(_ value: ElementValue) -> Bool {
    guard case .data(let bytes) = value else { return false }
    return [[0xff, 0xd8, 0xff], [0, 0, 0, 0x0c, 0x6a, 0x50, 0x20, 0x20], [0xff, 0x4f, 0xff, 0x51]]
      .contains { bytes.starts(with: $0 as [UInt8]) }
  }
}
