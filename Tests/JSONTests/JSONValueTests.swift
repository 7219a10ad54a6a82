import Foundation
import Testing

@testable import JSON

@Suite("JSON output")
struct JSONValueTests {
  @Test("members keep their order and one line holds it all")
  func order() {
    let value: JSONValue = ["z": 1, "a": ["x", true, .null, .double(1.5)], "m": ["k": -7]]
    #expect(value.text == #"{"z":1,"a":["x",true,null,1.5],"m":{"k":-7}}"#)
  }

  @Test(
    "whatever a text holds, the line is printable ASCII and reads back the same",
    arguments: ["a\nb", "\u{1b}[2J", "Müster \u{1F600}", "\"\\/", "a\u{0}b", ""])
  func texts(text: String) throws {
    let line = JSONValue.string(text).text
    #expect(line.utf8.allSatisfy { (0x20...0x7e).contains($0) })
    let back = try JSONSerialization.jsonObject(with: Data("[\(line)]".utf8)) as? [String]
    #expect(back == [text])
  }

  @Test("numbers that JSON cannot hold are null, and members without a value are left out")
  func missing() {
    #expect(JSONValue.array([.double(.nan), .double(.infinity)]).text == "[null,null]")
    #expect(JSONValue.object(["a": nil, "b": 2]).text == #"{"b":2}"#)
  }
}

@Suite("JSON input")
struct JSONReadingTests {
  @Test("what was written reads back the same")
  func roundTrip() {
    let value: JSONValue = ["z": 1, "a": ["x\u{0}", true, false, .null, .double(1.5)], "m": ["k": -7]]
    #expect(JSONValue(reading: Array(value.text.utf8)) == value)
    #expect(value["m"]?["k"]?.integer == -7 && value["q"] == nil)
  }

  @Test("what is no JSON is refused", arguments: ["", "{", "{\"a\":1,\"a\":2}", "[1] x", "{'a':1}", "\u{fffd}"])
  func refused(text: String) {
    #expect(JSONValue(reading: Array(text.utf8)) == nil)
  }
}
