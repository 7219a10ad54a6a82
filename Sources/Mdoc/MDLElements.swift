/// The elements of `org.iso.18013.5.1` and the kinds of their values (ISO/IEC 18013-5 section 7.2.1).
package enum MDLElements {
  package static let docType = "org.iso.18013.5.1.mDL"
  package static let nameSpace = "org.iso.18013.5.1"

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
    switch element {
    case "family_name", "given_name", "issuing_country", "issuing_authority", "document_number",
      "un_distinguishing_sign",
      "administrative_number", "eye_colour", "hair_colour", "birth_place", "resident_address", "issuing_jurisdiction",
      "nationality", "resident_city", "resident_state", "resident_postal_code", "resident_country",
      "family_name_national_character", "given_name_national_character":
      return .text
    case "birth_date": return .fullDate
    case "issue_date", "expiry_date", "portrait_capture_date": return .anyDate
    case "sex", "height", "weight", "age_in_years", "age_birth_year": return .unsigned
    case "driving_privileges": return .privileges
    case "signature_usual_mark", "biometric_template_face", "biometric_template_finger",
      "biometric_template_signature_sign", "biometric_template_iris":
      return .bytes
    default: return AgeOver(element: element) == nil ? nil : .bool
    }
  }

  /// One entry of driving_privileges: a map with a category, and dates and codes of the right kinds where present.
  private static func isPrivilege(_ value: ElementValue) -> Bool {
    guard case .map(let members) = value, case .string = value.member("vehicle_category_code") else { return false }
    return members.allSatisfy { member in
      switch (member.key, member.value) {
      case ("issue_date", .date), ("expiry_date", .date): return true
      case ("issue_date", _), ("expiry_date", _): return false
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
