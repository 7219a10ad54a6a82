// seed: {"credentials":[{"id":"m","format":"mso_mdoc","meta":{"doctype_value":"org.iso.18013.5.1.mDL"},"claims":[{"id":"a","path":["org.iso.18013.5.1","age_over_18"],"values":[true]}],"claim_sets":[["a"]],"trusted_authorities":[{"type":"aki","values":["AQID"]}],"multiple":true}],"credential_sets":[{"options":[["m"]],"required":false}]}
// seed: {"id":"x","input_descriptors":[{"id":"org.iso.18013.5.1.mDL","constraints":{"fields":[{"path":["$['org.iso.18013.5.1']['birth_date']"],"optional":true}]}}]}
// seeds text: openid/openid4vp-1.0/simple_mdoc.json openid/openid4vp-1.0/complex_mdoc.json
// options: -max_len=8192
import JSON
import OpenID4VP

/// Queries of both forms: what is read is written and read again as the same, and an empty wallet has nothing for it.
func fuzz(_ input: [UInt8]) {
  guard let value = JSONValue(reading: input) else { return }
  if let query = try? DCQLQuery(reading: value) {
    expect((try? DCQLQuery(reading: query.json)) == query, "a query reads back as it was")
    expect(query.match([]).entries.allSatisfy { $0.lack != nil }, "an empty wallet lacks everything")
    for credential in query.credentials { _ = credential.itemsRequest() }
  }
  if let definition = try? PresentationDefinition(reading: value) {
    expect(!definition.query.credentials.isEmpty, "a definition asks for something")
    expect(definition.query.match([]).chosen(includesOptional: true) == nil, "an empty wallet answers none")
  }
}
