import Bytes
import Foundation
import TestSupport
import Testing

@testable import Mdoc

private let good = "owBjMS4wAYIB2BhYS6QBAiABIVggWojRgrzl9C76WZQ"

/// Texts, and why each is refused.
///
/// Not among the test's arguments: a closure or an interpolation there crashes the 6.0.3 compiler.
private let faults: [(String, EngagementURI.Violation, String)] = [
  ("", .otherScheme, "uriOtherScheme"),
  ("mdoc", .otherScheme, "uriOtherScheme"),
  ("https://example.com/\(good)", .otherScheme, "uriOtherScheme"),
  (" mdoc:\(good)", .otherScheme, "uriOtherScheme"),
  ("mdoc://\(good)", .websiteForm, "uriWebsiteForm"),
  ("MDOC://", .websiteForm, "uriWebsiteForm"),
  ("mdoc:", .empty, "uriEmpty"),
  ("mdoc:AQ ID", .whitespace(offset: 7), "uriWhitespace"),
  ("mdoc:AQID\n", .whitespace(offset: 9), "uriWhitespace"),
  ("mdoc:AQ==", .padding(offset: 7), "uriPadding"),
  ("mdoc:AQ+D", .character(offset: 7), "uriCharacter"),
  ("mdoc:A/ID", .character(offset: 6), "uriCharacter"),
  ("mdoc:AQID%", .length, "uriLength"),
  ("mdoc:AQI\u{e4}", .notASCII(offset: 8), "uriNotASCII"),
  ("mdoc:A", .length, "uriLength"),
  ("mdoc:AR", .spareBits, "uriSpareBits"),
]

@Suite("Engagement URIs")
struct EngagementURITests {
  @Test("the bytes of the Annex D code come out, and its text comes back")
  func annexD() throws {
    let text =
      "mdoc:owBjMS4wAYIB2BhYS6QBAiABIVggWojRgrzl9C76WZQ_MzWdLoqWj_KJ2T5fpES2JDQxZ_4iWCCxboz4WN3HaQQHumHUwzgjeoz8895q"
      + "pnL8YKVXqjL8ZwKBgwIBowD0AfULUEXv73QrLEg3qaOw4dBaaRc"
    let uri = try EngagementURI(text)
    #expect(uri.engagement == AnnexD.deviceEngagement)
    #expect(uri.text == text)
    #expect(EngagementURI(engagement: AnnexD.deviceEngagement).text == text)
  }

  @Test("the scheme's letters may be of either case", arguments: ["mdoc:", "MDOC:", "mDoC:"])
  func schemeCase(scheme: String) throws {
    #expect(try EngagementURI(scheme + "AQID").engagement == [1, 2, 3])
  }

  @Test("each fault is refused by its own reason", arguments: faults)
  func refused(text: String, violation: EngagementURI.Violation, code: String) {
    #expect(throws: violation) { try EngagementURI(text) }
    #expect(violation.code == code)
  }

  @Test("4096 characters are read and 4097 are too long")
  func size() throws {
    let scheme = "mdoc:"
    #expect(try EngagementURI(scheme + String(repeating: "A", count: 4091)).engagement.count == 3068)
    #expect(throws: EngagementURI.Violation.tooLong(limit: 4096)) {
      try EngagementURI(scheme + String(repeating: "A", count: 4092))
    }
    #expect(EngagementURI.Violation.tooLong(limit: 4096).code == "uriTooLong")
  }

  @Test("raw bytes of a code are read, and any byte above ASCII is refused where it stands", arguments: 0x80...0xff)
  func rawBytes(byte: Int) throws {
    let content = Array("mdoc:AQID".utf8)
    #expect(try EngagementURI(content: content).engagement == [1, 2, 3])
    #expect(throws: EngagementURI.Violation.notASCII(offset: 6)) {
      try EngagementURI(content: Array("mdoc:A".utf8) + [UInt8(byte)] + Array("ID".utf8))
    }
  }

  @Test("the cases of the reference data have their declared outcome")
  func vectors() throws {
    struct File: Decodable {
      struct Case: Decodable {
        let uri: String
        let expect: String
        let why: String?
      }
      let cases: [Case]
    }
    guard let bytes = try sharedBytes("vectors/engagement/uri-cases.json") else { return }
    let cases = try JSONDecoder().decode(File.self, from: Data(bytes)).cases
    #expect(cases.count >= 8)
    var tally = VectorTally("codes")
    for entry in cases {
      let isAccepted = (try? DeviceEngagement(EngagementURI(entry.uri).engagement)) != nil
      // Where the choice is ours, the strict form is the one that is read.
      tally.count(entry.why ?? entry.uri, passes: isAccepted == (entry.expect == "accept"))
    }
    #expect(tally.failures == [])
    print(tally)
  }
}
