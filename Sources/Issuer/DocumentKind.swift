import CBOR
import CivilTime
import Mdoc

/// The documents this issuer makes.
package enum DocumentKind: String, CaseIterable, Sendable {
  /// Mobile driving licence, ISO/IEC 18013-5.
  case mdl
  /// Person identification data of the EU wallet.
  case pid
  /// Age attestation of the EU age verification profile.
  case age
  /// Photo ID, ISO/IEC 23220.
  case photoid

  /// The doc type of such a document.
  package var docType: String {
    switch self {
    case .mdl: MDLElements.docType
    case .pid: "eu.europa.ec.eudi.pid.1"
    case .age: "eu.europa.ec.av.1"
    case .photoid: "org.iso.23220.photoid.1"
    }
  }

  /// The name space that carries the age statements.
  package var ageNameSpace: String {
    switch self {
    case .mdl: MDLElements.nameSpace
    case .pid: "eu.europa.ec.eudi.pid.1"
    case .age: "eu.europa.ec.av.1"
    case .photoid: "org.iso.23220.1"
    }
  }
}

/// What goes into a test document, before it is signed.
package struct DocumentContent: Sendable {
  package var kind: DocumentKind
  package var person: TestPerson
  /// ISO 3166-1 alpha-2; the default is no country's code.
  package var country: String
  /// ISO 3166-2, for documents of a state; nil leaves `issuing_jurisdiction` out.
  package var jurisdiction: String?
  /// Bytes of the portrait, where the kind has one.
  package var portraitSize: Int
  /// NN of the age_over_NN statements.
  package var ageLimits: [Int]

  package init(
    kind: DocumentKind, person: TestPerson, country: String = "UT", jurisdiction: String? = nil,
    portraitSize: Int = 1500, ageLimits: [Int] = [16, 18, 21, 65]
  ) {
    self.kind = kind
    self.person = person
    self.country = country
    self.jurisdiction = jurisdiction
    self.portraitSize = portraitSize
    self.ageLimits = ageLimits
  }

  /// The elements by name space, with ages as of `date`. Throws `portraitSize` when no portrait has that size.
  package func nameSpaces(on date: CalendarDate) throws(IssuerError) -> [NameSpaceContent] {
    switch kind {
    case .mdl: [NameSpaceContent(kind.ageNameSpace, try drivingLicence(on: date))]
    case .pid: [NameSpaceContent(kind.ageNameSpace, personIdentification(on: date))]
    case .age: [NameSpaceContent(kind.ageNameSpace, person.ageStatements(for: ageLimits, on: date))]
    case .photoid:
      [
        NameSpaceContent(kind.ageNameSpace, try photoIdentity(on: date)),
        NameSpaceContent(
          "org.iso.23220.photoid.1",
          [
            Element("person_id", "UT-0000042"), Element("resident_city", "Nowhere"),
            Element("birth_country", .text(country)),
          ]),
      ]
    }
  }

  /// All mandatory elements of ISO/IEC 18013-5 table 5 and a few optional ones.
  private func drivingLicence(on date: CalendarDate) throws(IssuerError) -> [Element] {
    let issued = CalendarDate.fullYears(-2, from: date)
    let expiry = CalendarDate.fullYears(8, from: date)
    var elements = [
      Element("family_name", .text(person.familyName)),
      Element("given_name", .text(person.givenName)),
      Element("birth_date", .fullDate(person.birthDate)),
      Element("issue_date", .fullDate(issued)),
      Element("expiry_date", .fullDate(expiry)),
      Element("issuing_country", .text(country)),
      Element("issuing_authority", "Test Licensing Office"),
      Element("document_number", "TEST-0000042"),
      Element("portrait", .bytes(try portrait())),
      Element(
        "driving_privileges",
        .array([
          .map(["vehicle_category_code": "AM", "issue_date": .fullDate(issued), "expiry_date": .fullDate(expiry)]),
          .map([
            "vehicle_category_code": "B", "issue_date": .fullDate(issued), "expiry_date": .fullDate(expiry),
            "codes": .array([.map(["code": "01", "sign": "=", "value": "06"])]),
          ]),
        ])),
      Element("un_distinguishing_sign", "UTO"),
      Element("sex", 0),
      Element("height", 170),
      Element("nationality", .text(country)),
      Element("age_in_years", .int(Int64(max(person.birthDate.completedYears(on: date), 0)))),
      Element("age_birth_year", .int(Int64(person.birthDate.year))),
    ]
    if let jurisdiction { elements.append(Element("issuing_jurisdiction", .text(jurisdiction))) }
    return elements + person.ageStatements(for: ageLimits, on: date)
  }

  private func personIdentification(on date: CalendarDate) -> [Element] {
    [
      Element("family_name", .text(person.familyName)),
      Element("given_name", .text(person.givenName)),
      Element("birth_date", .fullDate(person.birthDate)),
      Element("place_of_birth", .map(["country": .text(country), "locality": "Nowhere"])),
      Element("nationality", .array([.text(country)])),
      Element("issuing_authority", "Test Population Register"),
      Element("issuing_country", .text(country)),
      Element("issuance_date", .fullDate(CalendarDate.fullYears(-1, from: date))),
      Element("expiry_date", .fullDate(CalendarDate.fullYears(4, from: date))),
    ] + person.ageStatements(for: ageLimits, on: date)
  }

  private func photoIdentity(on date: CalendarDate) throws(IssuerError) -> [Element] {
    [
      Element("family_name_unicode", .text(person.familyName)),
      Element("given_name_unicode", .text(person.givenName)),
      Element("birth_date", .fullDate(person.birthDate)),
      Element("portrait", .bytes(try portrait())),
      Element("issue_date", .fullDate(CalendarDate.fullYears(-1, from: date))),
      Element("expiry_date", .fullDate(CalendarDate.fullYears(4, from: date))),
      Element("issuing_authority_unicode", "Test Identity Office"),
      Element("issuing_country", .text(country)),
      Element("document_number", "TEST-0000043"),
      Element("sex", 0),
    ] + person.ageStatements(for: ageLimits, on: date)
  }

  private func portrait() throws(IssuerError) -> [UInt8] {
    guard let picture = Portrait.jpeg(size: portraitSize) else { throw .portraitSize(portraitSize) }
    return picture
  }
}

extension CalendarDate {
  /// The same day `years` later (earlier when negative); 28 February for a leap day, limited to the years 0 to 9999.
  static func fullYears(_ years: Int, from date: CalendarDate) -> CalendarDate {
    let year = min(max(date.year + years, 0), 9999)
    return CalendarDate(year: year, month: date.month, day: date.day)
      ?? CalendarDate(year: year, month: date.month, day: 28) ?? date
  }
}
