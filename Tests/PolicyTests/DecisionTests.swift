import CivilTime
import Mdoc
import Testing

@testable import MdocVerification
@testable import Policy

@Suite("Decisions") struct DecisionTests {
  let today = CalendarDate(year: 2026, month: 6, day: 1)!

  private func name(_ element: String, in nameSpace: String = mdl) -> ElementName {
    ElementName(nameSpace: nameSpace, element: element)
  }

  private func decide(
    _ conditions: [Condition], asking elements: [String], given: [VerifiedElement]
  ) throws -> Decision {
    let template = try RequestTemplate([DocumentTemplate(request: request(elements), conditions: conditions)])
    return template.decision(on: verdict([document(given)]), localDate: today)
  }

  private func date(_ text: String) throws -> ElementValue { .date(try #require(CalendarDate(text))) }

  @Test("the standard request asks for three elements of an mDL and keeps nothing")
  func standard() {
    #expect(RequestTemplate.standard.itemsRequests == [request(["family_name", "given_name", "birth_date"])])
    #expect(!RequestTemplate.standard.retainsAnything)
    #expect(RequestTemplate.problems(in: RequestTemplate.standard.documents).isEmpty)
  }

  @Test("a verified document that shares something is granted, one that shares nothing is not")
  func shared() {
    let given = verdict([document([element("family_name", .string("Muster"))])])
    #expect(RequestTemplate.standard.decision(on: given, localDate: today) == .grant)
    #expect(
      RequestTemplate.standard.decision(on: verdict([document([])]), localDate: today) == .refuse([.nothingShared]))
    let other = document([element("family_name", .string("Muster"), in: "org.iso.18013.5.1.aamva")])
    #expect(RequestTemplate.standard.decision(on: verdict([other]), localDate: today) == .refuse([.nothingShared]))
  }

  @Test("a hard finding refuses, with every hard reason once and no soft one")
  func notVerified() {
    let bad = Verdict(
      documents: [
        DocumentVerdict(
          docType: MDLElements.docType,
          findings: [
            Finding(.failure, .chain(.noTrustAnchor), document: 0),
            Finding(.warning, .chain(.revocationUnknown), document: 0),
            Finding(.failure, .expired, document: 0), Finding(.failure, .expired, document: 0),
          ], verified: nil)
      ], findings: [])
    let decision = RequestTemplate.standard.decision(on: bad, localDate: today)
    #expect(decision == .refuse([.notVerified(.chain(.noTrustAnchor)), .notVerified(.expired)]))
    guard case .refuse(let reasons) = decision else { return }
    #expect(reasons.map(\.text) == ["notVerified(noTrustAnchor)", "notVerified(expired)"])
    #expect(reasons.map(\.code) == ["notVerified", "notVerified"])
  }

  @Test("a verified document does not outweigh another that failed")
  func oneOfTwoFails() {
    let good = document([element("family_name", .string("Muster"))])
    let mixed = Verdict(
      documents: [
        DocumentVerdict(docType: good.docType, findings: [], verified: good), rejected([.deviceSignatureInvalid]),
      ], findings: [])
    #expect(
      RequestTemplate.standard.decision(on: mixed, localDate: today) == .refuse([.notVerified(.deviceSignatureInvalid)])
    )
    let hard = verdict([good], findings: [Finding(.failure, .responseMalformed)])
    #expect(
      RequestTemplate.standard.decision(on: hard, localDate: today) == .refuse([.notVerified(.responseMalformed)]))
  }

  @Test("warnings and information cost nothing here")
  func warnings() {
    let good = document([element("family_name", .string("Muster"))])
    let warned = verdict(
      [good], findings: [Finding(.warning, .chain(.revocationUnknown)), Finding(.information, .documentExpired)])
    #expect(RequestTemplate.standard.decision(on: warned, localDate: today) == .grant)
  }

  @Test("no document, or only one that nobody asked for, is refused for what it is")
  func noDocument() {
    let none = Verdict(
      documents: [],
      findings: [Finding(.information, .documentNotReturned(docType: MDLElements.docType, code: 0))])
    #expect(RequestTemplate.standard.decision(on: none, localDate: today) == .refuse([.nothingShared]))
    let dropped = Verdict(
      documents: [rejected([.unrequestedDocument(docType: "x")], severity: .dropped)], findings: [])
    #expect(RequestTemplate.standard.decision(on: dropped, localDate: today) == .refuse([.documentNotAccepted]))
    let other = verdict([document([element("family_name", .string("Muster"))], docType: "org.example.card")])
    #expect(RequestTemplate.standard.decision(on: other, localDate: today) == .refuse([.documentNotAccepted]))
  }

  @Test("present wants the element, readable, issuer-signed and under its name space")
  func present() throws {
    let condition = Condition.present(name("portrait"))
    func answer(_ given: [VerifiedElement]) throws -> Decision {
      try decide([condition], asking: ["portrait", "sex"], given: given + [element("sex", .unsigned(1))])
    }
    #expect(try answer([element("portrait", .data([1]))]) == .grant)
    #expect(try answer([]) == .refuse([.elementMissing(name("portrait"))]))
    #expect(try answer([element("portrait", .data([1]), in: "x")]) == .refuse([.elementMissing(name("portrait"))]))
    #expect(try answer([element("portrait", .unreadable)]) == .refuse([.elementUnreadable(name("portrait"))]))
    #expect(try answer([element("portrait", .null)]) == .refuse([.elementUnreadable(name("portrait"))]))
    #expect(
      try answer([element("portrait", .data([1]), isDeviceSigned: true)])
        == .refuse([.elementNotIssuerSigned(name("portrait"))]))
  }

  @Test("values are compared with their kind")
  func equals() throws {
    let day = try #require(CalendarDate("2020-01-02"))
    let midnight = try #require(DateTime("2020-01-02T00:00:00Z"))
    let rows: [(AcceptedValue, ElementValue, Bool?)] = [
      (.text("DE"), .string("DE"), true), (.text("DE"), .string("de"), false), (.text("1"), .unsigned(1), nil),
      (.integer(1), .unsigned(1), true), (.integer(1), .string("1"), nil), (.integer(-1), .int(-1), true),
      (.integer(-1), .unsigned(1), false), (.integer(.max), .unsigned(.max), false), (.integer(1), .double(1), nil),
      (.double(1.5), .double(1.5), true), (.bool(true), .bool(true), true), (.bool(true), .bool(false), false),
      (.bool(true), .unsigned(1), nil), (.date(day), .date(day), true), (.date(day), .dateTime(midnight), nil),
      (.date(day), .string("2020-01-02"), nil), (.double(.nan), .double(.nan), false),
    ]
    for (wanted, given, equal) in rows {
      let decision = try decide([.accepted(name("x"), [wanted])], asking: ["x"], given: [element("x", given)])
      let expected: Decision =
        switch equal {
        case true?: .grant
        case false?: .refuse([.valueNotAccepted(name("x"))])
        case nil: .refuse([.elementUnreadable(name("x"))])
        }
      #expect(decision == expected, "\(wanted)")
    }
    let several = Condition.accepted(name("x"), [.text("AT"), .integer(7), .text("DE")])
    #expect(try decide([several], asking: ["x"], given: [element("x", .string("DE"))]) == .grant)
    #expect(try decide([several], asking: ["x"], given: [element("x", .unsigned(7))]) == .grant)
    #expect(
      try decide([several], asking: ["x"], given: [element("x", .string("FR"))])
        == .refuse([.valueNotAccepted(name("x"))]))
  }

  @Test("a document is valid through the day of its expiry")
  func expiry() throws {
    let condition = Condition.notExpired(nameSpace: mdl)
    func answer(_ value: ElementValue) throws -> Decision {
      try decide([condition], asking: ["expiry_date"], given: [element("expiry_date", value)])
    }
    #expect(try answer(date("2026-06-01")) == .grant)
    #expect(try answer(date("2026-05-31")) == .refuse([.documentExpired]))
    #expect(try answer(.dateTime(try #require(DateTime("2026-06-01T00:00:00Z")))) == .grant)
    #expect(try answer(.dateTime(try #require(DateTime("2026-05-31T23:59:59Z")))) == .refuse([.documentExpired]))
    #expect(try answer(.string("2030-01-01")) == .refuse([.elementUnreadable(name("expiry_date"))]))
  }

  @Test("a driving privilege must be listed and valid today")
  func privilege() throws {
    func entry(_ category: String, _ issue: String?, _ expiry: String?) throws -> ElementValue {
      var members: [ElementValue.MapEntry] = [.init(key: "vehicle_category_code", value: .string(category))]
      if let issue { members.append(.init(key: "issue_date", value: try date(issue))) }
      if let expiry { members.append(.init(key: "expiry_date", value: try date(expiry))) }
      return .map(members)
    }
    func answer(_ value: ElementValue) throws -> Decision {
      try decide(
        [.drivingPrivilege(nameSpace: mdl, category: "B")], asking: ["driving_privileges"],
        given: [element("driving_privileges", value)])
    }
    #expect(try answer(.array([entry("A", nil, nil), entry("B", "2020-01-01", "2026-06-01")])) == .grant)
    #expect(try answer(.array([entry("B", nil, nil)])) == .grant)
    #expect(try answer(.array([entry("B", nil, "2026-05-31"), entry("B", "2026-06-01", nil)])) == .grant)
    #expect(try answer(.array([entry("B", nil, "2026-05-31")])) == .refuse([.privilegeNotValid(category: "B")]))
    #expect(try answer(.array([entry("B", "2026-06-02", nil)])) == .refuse([.privilegeNotValid(category: "B")]))
    #expect(try answer(.array([entry("b", nil, nil)])) == .refuse([.privilegeMissing(category: "B")]))
    #expect(try answer(.array([])) == .refuse([.privilegeMissing(category: "B")]))
    #expect(try answer(.string("B")) == .refuse([.elementUnreadable(name("driving_privileges"))]))
    let textual = ElementValue.map([
      .init(key: "vehicle_category_code", value: .string("B")), .init(key: "expiry_date", value: .string("2030-01-01")),
    ])
    #expect(try answer(.array([textual])) == .refuse([.privilegeNotValid(category: "B")]))
  }

  @Test("all conditions are judged and every reason is given")
  func allReasons() throws {
    let adult = try #require(AgeOver(years: 18))
    let decision = try decide(
      [
        .accepted(name("issuing_country"), [.text("DE")]), .notExpired(nameSpace: mdl),
        .ageAtLeast(AgeLimit(years: adult, nameSpace: mdl)),
      ], asking: ["issuing_country", "expiry_date", "age_over_18"],
      given: [element("issuing_country", .string("FR")), element("age_over_18", .bool(false))])
    #expect(
      decision
        == .refuse([
          .valueNotAccepted(name("issuing_country")), .elementMissing(name("expiry_date")), .ageTooLow(adult),
        ]))
  }

  @Test("one alternative is enough")
  func alternatives() throws {
    let pid = "eu.europa.ec.eudi.pid.1"
    let adult = try #require(AgeOver(years: 18))
    let template = try RequestTemplate([
      DocumentTemplate(
        request: request(["age_over_18"]), conditions: [.ageAtLeast(AgeLimit(years: adult, nameSpace: mdl))]),
      DocumentTemplate(
        request: request(["age_over_18"], in: pid, docType: pid),
        conditions: [.ageAtLeast(AgeLimit(years: adult, nameSpace: pid))]),
    ])
    let young = document([element("age_over_18", .bool(false))])
    let old = document([element("age_over_21", .bool(true), in: pid)], docType: pid)
    #expect(template.itemsRequests.map(\.docType) == [MDLElements.docType, pid])
    #expect(template.decision(on: verdict([young]), localDate: today) == .refuse([.ageTooLow(adult)]))
    #expect(template.decision(on: verdict([old]), localDate: today) == .grant)
    #expect(template.decision(on: verdict([young, old]), localDate: today) == .grant)
  }

  @Test("no reason carries a value of the document")
  func noValues() throws {
    let marker = "Zyxwvut-Marker"
    let decision = try decide(
      [.accepted(name("family_name"), [.text("a")]), .present(name("given_name")), .notExpired(nameSpace: mdl)],
      asking: ["family_name", "given_name", "expiry_date"],
      given: [element("family_name", .string(marker)), element("expiry_date", .string(marker))])
    #expect(!decision.isGranted)
    #expect(!"\(decision)".contains(marker))
  }

  @Test("what no request should be is refused with its exact problem")
  func templateProblems() throws {
    func problems(_ request: ItemsRequest, _ conditions: [Condition] = []) -> [RequestTemplateProblem] {
      RequestTemplate.problems(in: [DocumentTemplate(request: request, conditions: conditions)])
    }
    let limit = try #require(AgeOver(years: 18))
    #expect(RequestTemplate.problems(in: []) == [.init(.noDocuments)])
    #expect(problems(ItemsRequest(docType: "x", nameSpaces: [])) == [.init(.noNameSpaces, document: 0)])
    #expect(problems(request([])) == [.init(.noElements(nameSpace: mdl), document: 0)])
    #expect(problems(request(["sex", "sex"])) == [.init(.duplicateElement(name("sex")), document: 0)])
    let three = ["age_over_18", "age_over_21", "age_over_65"]
    #expect(problems(request(three)) == [.init(.tooManyAges(three), document: 0)])
    #expect(problems(request(["age_over_18", "age_over_21", "age_over_065"])).isEmpty)
    #expect(
      problems(request(["sex"]), [.present(name("height"))])
        == [.init(.elementNotRequested(name("height")), document: 0, condition: 0)])
    #expect(
      problems(request(["sex"]), [.accepted(name("sex"), [])])
        == [.init(.noAcceptedValues(name("sex")), document: 0, condition: 0)])
    let age = AgeLimit(years: limit, nameSpace: mdl)
    let hopeless: [RequestTemplateProblem] = [.init(.ageCannotBeProved(limit), document: 0, condition: 0)]
    #expect(problems(request(["age_over_17", "birth_date"]), [.ageAtLeast(age)]) == hopeless)
    #expect(problems(request(["age_over_18"], in: "x"), [.ageAtLeast(age)]) == hopeless)
    #expect(problems(request(["age_over_21"]), [.ageAtLeast(age)]).isEmpty)
    #expect(problems(request(["age_in_years"]), [.ageAtLeast(age)]).isEmpty)
    let byBirth = AgeLimit(years: limit, nameSpace: mdl, allowsAgeInYears: false, allowsBirthDate: true)
    #expect(problems(request(["birth_date"]), [.ageAtLeast(byBirth)]).isEmpty)
    #expect(problems(request(["age_in_years"]), [.ageAtLeast(byBirth)]) == hopeless)
    let twice = DocumentTemplate(request: request(["sex"]), conditions: [])
    #expect(
      RequestTemplate.problems(in: [twice, twice])
        == [.init(.duplicateDocType(MDLElements.docType), document: 1)])
    #expect(throws: RequestTemplateError(problems: [.init(.noDocuments)])) { try RequestTemplate([]) }
  }
}
