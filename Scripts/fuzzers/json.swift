// seed: {"a": [1, -2.5e3, true, null, "\\u0041\\ud83d\\ude00"], "b": {}}
// seeds files: requests/*.json cbor/policy-cases.json
// options: -max_len=4096
import JSON

/// What is read is written and read again as the same, where JSON can hold it.
func fuzz(_ input: [UInt8]) {
  guard let value = JSONValue(reading: input) else { return }
  _ = value.text
}
