import Bytes
import CBOR
import CivilTime
import Commands
import Crypto
import Foundation
import Issuer
import Mdoc
import TestSupport
import Testing

@testable import ReaderCommands

/// What a run of the command line gave.
struct CommandRun: Equatable {
  var status: Int32
  var out = ""
  var err = ""

  init(_ words: [String]) {
    var out = ""
    var err = ""
    status = ReaderCommands.run(
      words, console: Console(program: "mdoc-reader") { text, isData in if isData { out += text } else { err += text } }
    )
    self.out = out
    self.err = err
  }
}

/// A folder that goes when the test ends.
final class InspectionFolder {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "/mdoc-reader-inspect-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String, _ bytes: some Sequence<UInt8>) throws -> String {
    let url = URL(fileURLWithPath: path).appendingPathComponent(name)
    try Data(bytes).write(to: url)
    return url.path
  }

  func file(_ name: String, text: String) throws -> String { try file(name, text.utf8) }
}

/// An engagement of a wallet of the field, as its QR code reads.
private let engagement =
  "mdoc:owBjMS4wAYIB2BhYS6QBAiABIVgghaBYJe7KSqcEolhmnIJaYJ2AIevkKbEy5xP7tkwlqAwiWCAMGCGe6uFI2hKeghb59h_K4hPV-Ldq6vnaxs"
  + "RiySMH9gKBgwIBowD0AfULUKRoj0ZH60Qco-m0k97qRSQ"

/// The root of a test issuer of the field, as its web page shows it to be pasted.
private let pastedRoot = """
  MIICYzCCAgmgAwIBAgIKXhjLoCkLWBxREDAKBggqhkjOPQQDAjA4MQswCQYDVQQGEwJBVTEpMCcGA1UEAwwgbW9udGNsaWZmLWRtdi5tYXR0cmxhYn
  MuY29tIElBQ0EwHhcNMjQwMTE4MjMxNDE4WhcNMzQwMTE1MjMxNDE4WjA4MQswCQYDVQQGEwJBVTEpMCcGA1UEAwwgbW9udGNsaWZmLWRtdi5tYXR0
  cmxhYnMuY29tIElBQ0EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASBnqobOh8baMW7mpSZaQMawj6wgM5e5nPd6HXpdB8eUVPlCMKribQ7XiiLU9
  6rib/yQLH2k1CUeZmEjxoEi42xo4H6MIH3MBIGA1UdEwEB/wQIMAYBAf8CAQAwDgYDVR0PAQH/BAQDAgEGMB0GA1UdDgQWBBRFZwEOI9yq232NG+Oz
  NQzFKa/LxDAuBgNVHRIEJzAlhiNodHRwczovL21vbnRjbGlmZi1kbXYubWF0dHJsYWJzLmNvbTCBgQYDVR0fBHoweDB2oHSgcoZwaHR0cHM6Ly9tb2
  50Y2xpZmYtZG12LnZpaS5hdTAxLm1hdHRyLmdsb2JhbC92Mi9jcmVkZW50aWFscy9tb2JpbGUvaWFjYXMvMjk0YmExYmMtOTFhMS00MjJmLThhMTct
  Y2IwODU0NWY0ODYwL2NybDAKBggqhkjOPQQDAgNIADBFAiAlZYQP95lGzVJfCykhcpCzpQ2LWE/AbjTGkcGISNsu7gIhAJfP54a2hXz4YiQN4qJERl
  ORjyL1Ru9M0/dtQppohFm6
  """

@Suite("The verb inspect")
struct InspectTests {
  private let folder: InspectionFolder

  init() throws { folder = try InspectionFolder() }

  @Test("shows an engagement given as text")
  func engagementText() {
    let expected = """
      DeviceEngagement, from mdoc: text
        version: 1.0
        cipherSuite: 1
        deviceKey: P-256
        retrievalMethods:
          - type Bluetooth LE; version 1
        bluetooth:
          centralClientMode:
            uuid: a4688f46-47eb-441c-a3e9-b493deea4524
        ident: 8b223e8430da9318f65d5e8b77469c02

      diagnostic notation (without values; --show-values shows them):
      {
        0: "1.0",
        1: [1, 24(<<{1: 2, -1: 1, -2: / bytes, 32 bytes /, -3: / bytes, 32 bytes /}>>)],
        2: [[2, 1, {0: false, 1: true, 11: h'a4688f4647eb441ca3e9b493deea4524'}]]
      }

      """
    let run = CommandRun(["inspect", engagement])
    #expect(run.status == 0 && run.err.isEmpty)
    #expect(run.out == expected)
  }

  @Test("takes a file as binary, hexadecimal, base64, base64url or mdoc: text, and says which")
  func forms() throws {
    let bytes = try EngagementURI(engagement).engagement
    let files: [(String, String)] = [
      (try folder.file("a", bytes), "binary"), (try folder.file("b", text: bytes.hex + "\n"), "hexadecimal text"),
      (try folder.file("c", text: "0x" + bytes.hex.uppercased()), "hexadecimal text"),
      (try folder.file("d", text: Base64.url.encode(bytes)), "base64url text"),
      (try folder.file("e", text: Base64.standard.encode(bytes)), "base64 text"),
      (try folder.file("f", text: "\n" + engagement + "\r\n"), "mdoc: text"),
    ]
    for (path, form) in files {
      let run = CommandRun(["inspect", path])
      #expect(run.status == 0 && run.out.hasPrefix("DeviceEngagement, from \(form)\n"), "\(form)")
    }
  }

  @Test("shows a pasted certificate with its faults explained")
  func certificate() throws {
    let expected = """
      certificate, from base64 text
        subject: C=AU, CN=montcliff-dmv.mattrlabs.com IACA
        issuer: C=AU, CN=montcliff-dmv.mattrlabs.com IACA
        serialNumber: 5e18cba0290b581c5110
        notBefore: 2024-01-18T23:14:18Z
        notAfter: 2034-01-15T23:14:18Z
        key: P-256
        version: 3
        signatureAlgorithm: ECDSA with SHA-256
        selfSigned: yes
        fingerprint: 5fd6433cf1471dc387d99ea802310fb06d6356950bbcf826444398b1b28e2869
        extensions:
          - oid 2.5.29.19; name basic constraints; critical yes; value authority with path length 0
          - oid 2.5.29.15; name key usage; critical yes; value keyCertSign cRLSign
          - oid 2.5.29.14; name subject key identifier; critical no; value 4567010e23dcaadb7d8d1be3b3350cc529afcbc4
          - oid 2.5.29.18; name issuer alternative name; critical no; value https://montcliff-dmv.mattrlabs.com
          - oid: 2.5.29.31
            name: CRL distribution points
            critical: no
            value: https://montcliff-dmv.vii.au01.mattr.global/v2/credentials/mobile/iacas/294ba1bc-91a1-422f-8a17-cb08545f4860/crl
        faultsAsIssuerRoot: none
        faultsAsDocumentSigner:
          - keyUsage: its key usage is not digitalSignature alone
          - certificateAuthority: it is a certification authority; a document signer is not
          - validityPeriod: it is valid for more than 457 days
          - authorityKeyIdentifier: it does not name the key of its issuer (authority key identifier)
          - extendedKeyUsage: its extended key usage does not name the signing of this kind of document

      """
    let run = CommandRun(["inspect", try folder.file("root.txt", text: pastedRoot)])
    #expect(run.status == 0 && run.err.isEmpty)
    #expect(run.out == expected)
    let json = try jsonMembers(CommandRun(["inspect", try folder.file("root.txt", text: pastedRoot), "--json"]).out)
    #expect(json["subject"] as? String == "certificate" && json["diagnostic"] == nil)
  }

  @Test("shows the response of Annex D: structure, names, dates, digests, and no value")
  func response() throws {
    let response = AnnexD.deviceResponse
    let path = try folder.file("response.cbor", response)
    let run = CommandRun(["inspect", path])
    #expect(run.status == 0 && run.err.isEmpty)
    for line in [
      "DeviceResponse, from binary", "  status: 0 (OK)", "    - docType: org.iso.18013.5.1.mDL",
      "            - element family_name; value text, 3 bytes; digestID 0; digest matches",
      "            - element portrait; value bytes, 1042 bytes; digestID 8; digest matches",
      "            - subject: CN=utopia ds, C=US", "              notAfter: 2021-10-01T00:00:00Z",
      "          algorithm: ES256 (-7)", "          digestAlgorithm: SHA-256", "          deviceKey: P-256",
      "          validUntil: 2021-10-01T13:30:02Z", "        authentication: deviceMac",
      "              \"elementValue\": / text, 3 bytes /", "              \"elementIdentifier\": \"family_name\",",
    ] {
      #expect(run.out.split(separator: "\n").contains { $0.hasSuffix(line.drop { $0 == " " }) }, "\(line)")
    }
    #expect(!run.out.contains("Doe") && !run.out.contains("123456789"))
    let shown = CommandRun(["inspect", path, "--show-values"])
    #expect(shown.status == 0 && shown.out.contains("\"elementValue\": \"Doe\"") && shown.out.contains("value \"Doe\""))

    let json = try jsonMembers(CommandRun(["inspect", path, "--json"]).out)
    let documents = try #require((json["facts"] as? [String: Any])?["documents"] as? [[String: Any]])
    let signed = try #require(documents.first?["issuerSigned"] as? [String: Any])
    let space = try #require((signed["nameSpaces"] as? [[String: Any]])?.first)
    #expect(space["nameSpace"] as? String == "org.iso.18013.5.1")
    #expect(
      (space["elements"] as? [[String: Any]])?.map { $0["digest"] as? String } == Array(repeating: "matches", count: 6))
  }

  @Test("tells the kinds of messages apart")
  func kinds() throws {
    let response = try decodeCBOR(AnnexD.deviceResponse)
    let document = try #require(response[key: "documents"]?.element(0))
    let signed = try #require(document[key: "issuerSigned"])
    let auth = try #require(signed[key: "issuerAuth"])
    let object = try #require(auth.element(2)?.bytes)
    let item = try #require(signed[key: "nameSpaces"]?.entries?.first { _ in true }?.value.element(0))
    let request = DeviceRequestDraft([
      ItemsRequest(
        docType: "a.b", nameSpaces: [.init(nameSpace: "c", elements: [.init(identifier: "d", intentToRetain: true)])])
    ]).encode()
    let key = CBORValue.embedded(try PrivateKey.generate(.p256).publicKey.coseKey).encode()
    let cases: [(String, [UInt8])] = [
      ("Document", Array(document.encoded)), ("IssuerSigned", Array(signed.encoded)),
      ("IssuerAuth", Array(auth.encoded)),
      ("MobileSecurityObject", Array(object)), ("IssuerSignedItem", Array(item.encoded)), ("DeviceRequest", request),
      ("SessionEstablishment", SessionEstablishment.encode(eReaderKeyBytes: key, data: [1, 2, 3])),
      ("SessionData", SessionData(data: [1], status: 20).encode()), ("CBOR", CBORValue.array([1, "two"]).encode()),
    ]
    for (subject, bytes) in cases {
      let run = CommandRun(["inspect", try folder.file("input", bytes)])
      #expect(run.status == 0 && run.err.isEmpty, "\(subject): \(run.err)")
      #expect(run.out.hasPrefix("\(subject), from binary\n"), "\(run.out.prefix(40))")
    }
    let shown = CommandRun(["inspect", try folder.file("input", request)])
    #expect(shown.out.contains("- element d; intentToRetain yes"))
    let data = CommandRun(["inspect", try folder.file("input", SessionData(status: 20).encode())])
    #expect(data.out.contains("  status: 20 (the session is over)\n"))
    let other = CommandRun(["inspect", try folder.file("input", CBORValue.array([1, "two"]).encode())])
    #expect(other.out.hasSuffix("[/ integer /, / text, 3 bytes /]\n"))
  }

  @Test(
    "says what is wrong, where, and what it took the input for",
    arguments: [
      ("a1", "not one well-formed CBOR item: truncated at byte 0", "CBOR that begins with a map"),
      (
        "a16776657273696f6e63312e3000", "not one well-formed CBOR item: trailingBytes at byte 13",
        "CBOR that begins with a map"
      ),
      ("a26776657273696f6e63312e3066737461747573f4", "status: of the wrong kind at byte 20", "DeviceResponse"),
      ("a26776657273696f6e0166737461747573 00", "version: of the wrong kind at byte 9", "DeviceResponse"),
      (
        "a36776657273696f6e63312e306673746174757300 69646f63756d656e747381a0",
        "documents[0].docType: missing from the map at byte 32", "DeviceResponse"
      ),
      (
        "a36776657273696f6e63312e306673746174757300 69646f63756d656e747381a1 67 646f6354797065 6161",
        "documents[0].issuerSigned: missing at byte 32", "DeviceResponse"
      ),
      ("a26776657273696f6e63312e306b646f6352657175657374738 0", "docRequests: empty at byte 25", "DeviceRequest"),
      ("a16464617461f4", "data: of the wrong kind at byte 6", "SessionData"),
      ("a20063322e300180", "engagementVersionUnsupported: a version other than 1.x", "DeviceEngagement"),
      ("ffd8ffe000", "not one well-formed CBOR item: unexpectedBreak at byte 0", "a JPEG picture"),
    ])
  func malformed(hex: String, problem: String, subject: String) throws {
    let path = try folder.file("input", try #require(bytes(hex: hex.filter { $0 != " " })))
    let run = CommandRun(["inspect", path])
    #expect(run.status == 1)
    #expect(run.err == "mdoc-reader: \(quoted(path)): \(problem)\ntaken for \(subject), from binary\n")
    let json = try jsonMembers(CommandRun(["inspect", path, "--json"]).out)
    #expect(json["problems"] as? [String] == [problem])
  }

  @Test(
    "says what other texts look like",
    arguments: [
      ("{\"a\": 1}", "JSON text"), ("eyJhbGciOiJFUzI1NiJ9.e30.c2ln", "a JSON Web Token"),
      ("Hello, door!", "some other text"),
    ])
  func otherText(text: String, subject: String) throws {
    let run = CommandRun(["inspect", try folder.file("input", text: text)])
    #expect(run.status == 1 && run.out.isEmpty)
    #expect(
      run.err.hasSuffix(
        "neither CBOR, nor hexadecimal or base64 text of such, nor a certificate\n"
          + "taken for \(subject), from text that is neither hexadecimal nor base64\n"))
  }

  @Test("never shows a private key")
  func privateKey() throws {
    let pem = try PrivateKey.generate(.p256).pkcs8PEM()
    for words in [["--show-values"], ["--json"], []] {
      let run = CommandRun(["inspect", try folder.file("key.pem", text: pem)] + words)
      #expect(run.status == 1 && run.err.contains("a private key and no certificate"))
      let body = pem.split(separator: "\n")[1]
      #expect(!(run.out + run.err).contains(body.prefix(12)))
    }
  }

  @Test(
    "refuses wrong usage with status 2",
    arguments: [
      (["inspect"], "mdoc-reader: inspect: the file is missing\nwrite inspect FILE, or inspect mdoc:TEXT\n"),
      (
        ["inspect", "/nowhere/x"],
        "mdoc-reader: '/nowhere/x': No such file or directory\ncheck the path and its permissions\n"
      ),
      (["inspect", "a", "b"], "mdoc-reader: 'b': one argument too many\nsee --help for what this verb takes\n"),
    ])
  func usage(words: [String], expected: String) {
    let run = CommandRun(words)
    #expect(run.status == 2 && run.out.isEmpty)
    #expect(run.err == expected)
  }

  @Test(
    "refuses a code that is no mdoc: text with its reason",
    arguments: [
      ("mdoc:AA==", "uriPadding: an equals sign at byte 7: base64url has no padding here"),
      ("mdoc:A", "uriLength: its number of characters is that of no base64url text: some are missing"),
      (
        "MDOC://x",
        "uriWebsiteForm: mdoc:// is the form of websites (ISO/IEC 18013-7), not of a code that a reader scans"
      ),
    ])
  func badURI(text: String, problem: String) {
    let run = CommandRun(["inspect", text])
    #expect(run == CommandRun(["inspect", text]) && run.status == 1 && run.out.isEmpty)
    #expect(run.err == "mdoc-reader: mdoc:: \(problem)\ntaken for mdoc: URI, from mdoc: text\n")
  }
}

/// The members of a line of JSON.
func jsonMembers(_ line: String) throws -> [String: Any] {
  try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
}
