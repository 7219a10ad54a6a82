import Bytes
import CBOR
import CivilTime
import Foundation
import Issuer
import JSON
import Mdoc
import TestSupport
import Testing

@testable import OpenID4VP

private func parse(_ text: String) throws -> JSONValue { try #require(JSONValue(reading: Array(text.utf8))) }

private func fault(_ text: String) throws -> QueryFault? {
  let value = try parse(text)
  return thrown(QueryFault.self) { _ = try DCQLQuery(reading: value) }
}

/// A credential query around what is being tried.
private func query(_ inside: String) -> String {
  #"{"credentials":[{"id":"a","format":"mso_mdoc","meta":{"doctype_value":"d"}\#(inside)}]}"#
}

private struct Wrong: CustomTestStringConvertible, Sendable {
  let text: String
  let fault: QueryFault
  var testDescription: String { "\(fault)" }

  init(_ text: String, _ path: String, _ problem: QueryFault.Problem) {
    self.text = text
    fault = QueryFault(path, problem)
  }
}

private let arrayInstead = QueryFault.Problem.outdated(instead: "an array of name space and element")
private let pathInstead = QueryFault.Problem.outdated(instead: "path, an array of name space and element")
private let wrongs: [Wrong] = [
  Wrong("[]", "dcql_query", .wrongKind),
  Wrong("{}", "credentials", .missing),
  Wrong(#"{"credentials":{}}"#, "credentials", .wrongKind),
  Wrong(#"{"credentials":[]}"#, "credentials", .empty),
  Wrong(
    "{\"credentials\":[\(Array(repeating: "{}", count: 101).joined(separator: ","))]}", "credentials", .tooMany),
  Wrong(#"{"credentials":[7]}"#, "credentials[0]", .wrongKind),
  Wrong(#"{"credentials":[{}]}"#, "credentials[0].id", .missing),
  Wrong(#"{"credentials":[{"id":""}]}"#, "credentials[0].id", .empty),
  Wrong(#"{"credentials":[{"id":"a.b"}]}"#, "credentials[0].id", .characters),
  Wrong(#"{"credentials":[{"id":"a"}]}"#, "credentials[0].format", .missing),
  Wrong(#"{"credentials":[{"id":"a","format":"mso_mdoc"}]}"#, "credentials[0].meta", .missing),
  Wrong(
    #"{"credentials":[{"id":"a","format":"mso_mdoc","meta":{}}]}"#, "credentials[0].meta.doctype_value", .missing),
  Wrong(
    #"{"credentials":[{"id":"a","format":"mso_mdoc","meta":{"doctype":"d"}}]}"#, "credentials[0].meta.doctype",
    .outdated(instead: "doctype_value")),
  Wrong(#"{"credentials":[{"id":"a","format":"x"},{"id":"a","format":"x"}]}"#, "credentials[1].id", .duplicate),
  Wrong(query(#","claims":[]"#), "credentials[0].claims", .empty),
  Wrong(query(#","claims":[1]"#), "credentials[0].claims[0]", .wrongKind),
  Wrong(query(#","claims":[{}]"#), "credentials[0].claims[0].path", .missing),
  Wrong(query(#","claims":[{"path":"$['a']['b']"}]"#), "credentials[0].claims[0].path", arrayInstead),
  Wrong(query(#","claims":[{"path":["a"]}]"#), "credentials[0].claims[0].path", .wrongKind),
  Wrong(query(#","claims":[{"path":["a","b","c"]}]"#), "credentials[0].claims[0].path", .wrongKind),
  Wrong(query(#","claims":[{"path":["a",null]}]"#), "credentials[0].claims[0].path", .wrongKind),
  Wrong(
    query(#","claims":[{"namespace":"a","claim_name":"b"}]"#), "credentials[0].claims[0].namespace", pathInstead),
  Wrong(query(#","claims":[{"claim_name":"b"}]"#), "credentials[0].claims[0].claim_name", pathInstead),
  Wrong(
    query(#","claims":[{"path":["a","b"],"values":[1.5]}]"#), "credentials[0].claims[0].values[0]", .wrongKind),
  Wrong(
    query(#","claims":[{"path":["a","b"],"intent_to_retain":1}]"#), "credentials[0].claims[0].intent_to_retain",
    .wrongKind),
  Wrong(
    query(#","claims":[{"id":"x","path":["a","b"]},{"id":"x","path":["a","c"]}]"#), "credentials[0].claims[1].id",
    .duplicate),
  Wrong(query(#","claim_sets":[["x"]]"#), "credentials[0].claims", .missing),
  Wrong(
    query(#","claims":[{"path":["a","b"]}],"claim_sets":[["x"]]"#), "credentials[0].claims[0].id", .missing),
  Wrong(
    query(#","claims":[{"id":"x","path":["a","b"]}],"claim_sets":[["y"]]"#), "credentials[0].claim_sets[0][0]",
    .unknown),
  Wrong(
    query(#","claims":[{"id":"x","path":["a","b"]}],"claim_sets":[[]]"#), "credentials[0].claim_sets[0]", .empty),
  Wrong(query(#","multiple":"yes""#), "credentials[0].multiple", .wrongKind),
  Wrong(query(#","trusted_authorities":[]"#), "credentials[0].trusted_authorities", .empty),
  Wrong(
    query(#","trusted_authorities":[{"type":"aki","values":["%"]}]"#),
    "credentials[0].trusted_authorities[0].values[0]", .wrongKind),
  Wrong(
    #"{"credentials":[{"id":"a","format":"x"}],"credential_sets":[{"options":[["b"]]}]}"#,
    "credential_sets[0].options[0][0]", .unknown),
  Wrong(
    #"{"credentials":[{"id":"a","format":"x"}],"credential_sets":[{}]}"#, "credential_sets[0].options", .missing),
]

@Suite("DCQL: what is asked for, and what a wallet has to say to it")
struct DCQLTests {
  @Test("what is wrong is named with its place", arguments: wrongs)
  fileprivate func faults(_ wrong: Wrong) throws {
    #expect(try fault(wrong.text) == wrong.fault)
  }

  @Test("a query comes back as it was written, members nobody knows apart")
  func roundTrip() throws {
    let text = query(
      #","claims":[{"id":"x","path":["n","e"],"intent_to_retain":true,"values":["v",3,true]},{"id":"y","path":["n","f"]}],"#
        + #""claim_sets":[["x","y"],["x"]],"trusted_authorities":[{"type":"aki","values":["AQID"]}],"multiple":true"#)
    let parsed = try DCQLQuery(reading: try parse(text))
    #expect(parsed.json.text == text)
    #expect(try DCQLQuery(reading: parsed.json) == parsed)
    #expect(parsed["a"]?.authorities == [[1, 2, 3]])
    #expect(parsed["b"] == nil)
    let more = try DCQLQuery(reading: try parse(query(#","unheard_of":1"#)))
    #expect(more.credentials[0].claims.isEmpty)
  }

  private struct Holdings {
    let mdl: Credential
    let child: Credential
    let age: Credential
    let authority: [UInt8]

    init() throws {
      var random = SplitMix64(state: 7)
      let now = OnlineTable.now
      let adult = try TestIssue(.mdl, age: 34, now: now).issue(random: &random)
      mdl = adult.credential
      child = try TestIssue(.mdl, age: 12, now: now).issue(random: &random).credential
      age = try TestIssue(.age, age: 34, now: now).issue(random: &random).credential
      authority = adult.trusted.key.publicKey.keyIdentifier
    }
  }

  private func claim(
    _ id: String, _ element: String, _ values: [DCQLQuery.ClaimValue] = []
  ) -> DCQLQuery.ClaimQuery {
    .init(id: id, nameSpace: MDLElements.nameSpace, element: element, values: values)
  }

  private func mdlQuery(
    _ claims: [DCQLQuery.ClaimQuery], sets: [[String]] = [], authorities: [[UInt8]] = []
  ) -> DCQLQuery {
    DCQLQuery(credentials: [
      .init(
        id: "m", subject: .mdoc(docType: MDLElements.docType), claims: claims, claimSets: sets,
        authorities: authorities)
    ])
  }

  @Test("documents match by type, claims, values and issuer, and what is lacking is named")
  func matching() throws {
    let have = try Holdings()
    let wallet = [have.age, have.mdl, have.child]
    let family = claim("f", "family_name")
    let pet = claim("p", "name_of_pet")
    #expect(mdlQuery([family]).match(wallet).entries[0].candidates.map(\.credential) == [1, 2])
    #expect(mdlQuery([]).match(wallet).entries[0].candidates.map(\.claims) == [[], []])
    let lacking = mdlQuery([family, pet]).match(wallet)
    #expect(lacking.entries[0].lack == .claims([pet]))
    #expect(lacking.chosen(includesOptional: false) == nil)
    #expect(mdlQuery([family]).match([have.age]).entries[0].lack == .docType(MDLElements.docType))
    #expect(
      mdlQuery([family], authorities: [have.authority]).match(wallet).entries[0].candidates.map(\.credential) == [1])
    #expect(mdlQuery([family], authorities: [[1]]).match(wallet).entries[0].lack == .authority)
    let adults = claim("a", "age_over_18", [.bool(true)])
    #expect(mdlQuery([adults]).match(wallet).entries[0].candidates.map(\.credential) == [1])
    #expect(mdlQuery([adults]).match([have.child]).entries[0].lack == .claims([adults]))
    let other = DCQLQuery(credentials: [.init(id: "s", subject: .other(format: "dc+sd-jwt"), claims: [])])
    #expect(other.match(wallet).entries[0].lack == .format("dc+sd-jwt"))
    let strange = DCQLQuery(credentials: [
      .init(id: "s", subject: .unknownAuthorities(docType: MDLElements.docType, type: "etsi_tl"), claims: [])
    ])
    #expect(try DCQLQuery(reading: strange.json) == strange)
    #expect(strange.match(wallet).entries[0].lack == .authority)
  }

  @Test("the first combination of claims that is there is given, and no other")
  func claimSets() throws {
    let have = try Holdings()
    let claims = [claim("f", "family_name"), claim("p", "name_of_pet"), claim("b", "birth_date")]
    let match = mdlQuery(claims, sets: [["f", "p"], ["b"], ["f", "b"]]).match([have.mdl])
    #expect(match.entries[0].candidates.map(\.claims) == [[claims[2]]])
    #expect(mdlQuery(claims, sets: [["p"], ["f", "p"]]).match([have.mdl]).entries[0].lack == .claims([claims[1]]))
  }

  @Test("of combinations of credentials the first that is there is chosen; those not required on demand")
  func credentialSets() throws {
    let have = try Holdings()
    func one(_ id: String, _ docType: String) -> DCQLQuery.CredentialQuery {
      .init(id: id, subject: .mdoc(docType: docType), claims: [])
    }
    let credentials = [one("m", MDLElements.docType), one("p", "none"), one("a", DocumentKind.age.docType)]
    let query = DCQLQuery(
      credentials: credentials,
      sets: [.init(options: [["p"], ["m"]]), .init(options: [["a"]], isRequired: false)])
    let match = query.match([have.mdl, have.age])
    #expect(match.chosen(includesOptional: false) == ["m"])
    #expect(match.chosen(includesOptional: true) == ["m", "a"])
    #expect(query.match([have.age]).chosen(includesOptional: true) == nil)
    #expect(DCQLQuery(credentials: credentials).match([have.mdl, have.age]).chosen(includesOptional: true) == nil)
  }

  @Test("values are compared as JSON would have them")
  func values() throws {
    let date = try #require(CalendarDate("1991-04-30"))
    func accepts(_ wanted: DCQLQuery.ClaimValue, _ value: ElementValue) -> Bool {
      claim("x", "x", [wanted]).accepts(value)
    }
    #expect(accepts(.text("1991-04-30"), .date(date)))
    #expect(accepts(.text("a"), .string("a")))
    #expect(accepts(.integer(3), .unsigned(3)))
    #expect(accepts(.integer(-3), .int(-3)))
    #expect(accepts(.bool(false), .bool(false)))
    #expect(!accepts(.integer(1), .bool(true)))
    #expect(!accepts(.text("3"), .unsigned(3)))
    #expect(!accepts(.integer(3), .unsigned(UInt64.max)))
    #expect(!accepts(.text(""), .data([])))
  }

  @Test("a request for items asks for each element once, under its name space")
  func items() {
    let query = DCQLQuery.CredentialQuery(
      id: "m", subject: .mdoc(docType: "d"),
      claims: [
        .init(nameSpace: "n", element: "a", intentToRetain: true), .init(nameSpace: "o", element: "a"),
        .init(nameSpace: "n", element: "b"), .init(nameSpace: "n", element: "a"),
      ])
    #expect(
      query.itemsRequest()
        == ItemsRequest(
          docType: "d",
          nameSpaces: [
            .init(
              nameSpace: "n",
              elements: [.init(identifier: "a", intentToRetain: true), .init(identifier: "b", intentToRetain: false)]),
            .init(nameSpace: "o", elements: [.init(identifier: "a", intentToRetain: false)]),
          ]))
  }

  @Test("the examples of the specification are read, and no file of them is passed over")
  func specification() throws {
    guard let folder = shared("vectors/openid/openid4vp-1.0") else { return }
    var read = 0
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() {
      let bytes = [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
      let value = try #require(JSONValue(reading: bytes), "\(name)")
      switch name {
      case "simple_mdoc.json":
        let query = try DCQLQuery(reading: value)
        #expect(query.credentials.map(\.id) == ["my_credential"])
        #expect(query.credentials[0].docType == "org.iso.7367.1.mVRC")
        #expect(
          query.credentials[0].claims.map(\.name) == ["org.iso.7367.1 vehicle_holder", "org.iso.18013.5.1 given_name"])
      case "complex_mdoc.json":
        let query = try DCQLQuery(reading: value)
        #expect(query.credentials.count == 4)
        #expect(query.sets.map(\.isRequired) == [true, false])
        #expect(query.sets[0].options == [["mdl-id"], ["photo_card-id"]])
        let mdl = try Holdings().mdl
        #expect(query.match([mdl]).chosen(includesOptional: true)?.first == "mdl-id")
      case "mso_mdoc_verifier_metadata.json":
        #expect(value["vp_formats_supported"]?["mso_mdoc"]?["issuerauth_alg_values"]?.elements?.count == 2)
      default: Issue.record("\(name): no test looks at it")
      }
      read += 1
    }
    #expect(read == 3)
    print("OpenID4VP examples: run \(read)")
  }
}

@Suite("Presentation definitions of Annex B")
struct PresentationDefinitionTests {
  private let text = """
    {"id":"x","input_descriptors":[{"id":"org.iso.18013.5.1.mDL","format":{"mso_mdoc":{"alg":["ES256"]}},
    "constraints":{"limit_disclosure":"required","fields":[
    {"path":["$['org.iso.18013.5.1']['birth_date']"],"intent_to_retain":true},
    {"path":["$[\\"org.iso.18013.5.1\\"][\\"portrait\\"]"],"optional":true}]}}]}
    """

  @Test("each descriptor is a document, each field an element")
  func reading() throws {
    let definition = try PresentationDefinition(reading: try parse(text))
    #expect(definition.id == "x")
    let query = try #require(definition.query[MDLElements.docType])
    #expect(query.docType == MDLElements.docType)
    #expect(query.claims.map(\.element) == ["birth_date", "portrait"])
    #expect(query.claims.map(\.intentToRetain) == [true, false])
    #expect(query.claims.map(\.isOptional) == [false, true])
  }

  @Test("what Annex B does not have is refused, not passed over")
  func refused() throws {
    func fault(_ old: String, _ new: String) throws -> QueryFault? {
      let value = try parse(text.replacing(old, with: new))
      return thrown(QueryFault.self) { _ = try PresentationDefinition(reading: value) }
    }
    let field = "input_descriptors[0].constraints.fields[0]"
    #expect(try fault(#""id":"x","#, "") == QueryFault("id", .missing))
    #expect(
      try fault(#"{"mso_mdoc":{"alg":["ES256"]}}"#, #"{"jwt_vp":{}}"#)
        == QueryFault("input_descriptors[0].format", .wrongKind))
    #expect(
      try fault(#""intent_to_retain":true"#, #""filter":{"const":1}"#) == QueryFault(field + ".filter", .wrongKind))
    for path in ["$.a.b", "$['a']", "$['a']['b']['c']", "['a']['b']", "$['']['b']", "$['a'][b]"] {
      #expect(
        try fault("$['org.iso.18013.5.1']['birth_date']", path) == QueryFault(field + ".path", .wrongKind), "\(path)")
    }
    #expect(
      try fault(#"{"id":"x","#, #"{"submission_requirements":[],"id":"x","#)
        == QueryFault("submission_requirements", .wrongKind))
  }

  @Test("what a verifier writes is what a wallet reads")
  func roundTrip() throws {
    let query = OnlineTable.ageQuery
    let definition = try PresentationDefinition(reading: PresentationDefinition.json(id: "t", query))
    #expect(definition.query.credentials[0].claims == query.credentials[0].claims)
    #expect(definition.query.credentials[0].subject == query.credentials[0].subject)
  }
}
