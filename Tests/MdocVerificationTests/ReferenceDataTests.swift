import Foundation
import TestSupport
import Testing

/// Which test reads what of the reference data. A row that names a folder stands for every file in it that the test
/// lists for itself; any other names one file.
private struct Reading: Sendable {
  /// Below `vectors`; a folder ends with a slash.
  let path: String
  /// Below `Tests`.
  let test: String
  /// As the test writes it; the path where nil.
  var written: String?

  static let all = [
    Reading(path: "annex-d/", test: "MdocSessionTests/AnnexDFileTests.swift", written: "vectors/annex-d"),
    Reading(
      path: "annex-d/negative-device-responses.json", test: "MdocVerificationTests/AnnexDTests.swift"),
    Reading(path: "cbor/appendix_a.json", test: "CBORTests/CBORDecoderTests.swift"),
    Reading(path: "cbor/not-well-formed.json", test: "CBORTests/CBORDecoderTests.swift"),
    Reading(path: "cbor/policy-cases.json", test: "CBORTests/CBORDecoderTests.swift"),
    Reading(path: "cbor/unusual-but-well-formed.json", test: "CBORTests/CBORDecoderTests.swift"),
    Reading(path: "cose/RFC8152/", test: "COSETests/COSETests.swift", written: "\"RFC8152\""),
    Reading(path: "cose/ecdsa-examples/", test: "COSETests/COSETests.swift", written: "\"ecdsa-examples\""),
    Reading(path: "cose/eddsa-examples/", test: "COSETests/COSETests.swift", written: "\"eddsa-examples\""),
    Reading(path: "cose/hmac-examples/", test: "COSETests/COSETests.swift", written: "\"hmac-examples\""),
    Reading(path: "cose/mac0-tests/", test: "COSETests/COSETests.swift", written: "\"mac0-tests\""),
    Reading(path: "cose/sign1-tests/", test: "COSETests/COSETests.swift", written: "\"sign1-tests\""),
    Reading(
      path: "device-responses/", test: "MdocVerificationTests/SampleVectorTests.swift", written: "\"device-responses\""),
    Reading(path: "engagement/engagements.json", test: "MdocTests/DeviceEngagementTests.swift"),
    Reading(path: "engagement/uri-cases.json", test: "MdocTests/EngagementURITests.swift"),
    Reading(
      path: "issuer-signed/", test: "MdocVerificationTests/SampleVectorTests.swift", written: "\"issuer-signed\""),
    Reading(path: "openid/jwe/ecdh-es-a256gcm-interop.json", test: "JOSETests/CompactJWETests.swift"),
    Reading(path: "openid/jwe/generated-with-rfc7518-keys.json", test: "JOSETests/CompactJWETests.swift"),
    Reading(path: "openid/jwe/rfc7518-appendix-c.json", test: "JOSETests/CompactJWETests.swift"),
    Reading(
      path: "openid/openid4vci-1.0/", test: "OpenID4VCITests/VectorTests.swift",
      written: "vectors/openid/openid4vci-1.0"),
    Reading(
      path: "openid/openid4vp-1.0/", test: "OpenID4VPTests/DCQLTests.swift", written: "vectors/openid/openid4vp-1.0"),
    Reading(path: "requests/device-requests.json", test: "MdocTests/DeviceRequestTests.swift"),
    Reading(path: "status-list/identifier-list.json", test: "StatusListsTests/StatusListTests.swift"),
    Reading(path: "status-list/mso-status-members.json", test: "StatusListsTests/StatusSourceTests.swift"),
    Reading(path: "status-list/status-lists.json", test: "StatusListsTests/StatusListTests.swift"),
    Reading(path: "transcripts/annex-c-deterministic-hpke.json", test: "MdocTests/OnlineHandoverTests.swift"),
    Reading(path: "transcripts/transcripts.json", test: "MdocTests/OnlineHandoverTests.swift"),
    Reading(path: "transport/ble-chunking.json", test: "BluetoothTests/PartFramingTests.swift"),
    Reading(path: "transport/l2cap-framing.json", test: "BluetoothTests/MessageStreamTests.swift"),
    // By its index, which names every file; sessions are MdocSessionTests' to read.
    Reading(path: "verdicts/", test: "MdocVerificationTests/VerdictVectorTests.swift", written: "vectors/verdicts"),
    Reading(
      path: "verdicts/session/", test: "MdocSessionTests/SessionVerdictTests.swift",
      written: "vectors/verdicts/session"),
    Reading(
      path: "vical/aamva-2024-09-24.cbor", test: "VICALTests/VICALTests.swift", written: "vectors/vical/\\(name)"),
    Reading(
      path: "vical/aamva-2025-11-18.cbor", test: "VICALTests/VICALTests.swift", written: "vectors/vical/\\(name)"),
    Reading(
      path: "vical/austroads-preprod-2024-09-19.cbor", test: "VICALTests/VICALTests.swift",
      written: "vectors/vical/\\(name)"),
    Reading(path: "vical/expected.json", test: "VICALTests/VICALTests.swift"),
    Reading(
      path: "vical/rdw-test-2025-02-25.cbor", test: "VICALTests/VICALTests.swift", written: "vectors/vical/\\(name)"),
    Reading(path: "wycheproof/", test: "CryptoTests/WycheproofTests.swift", written: "vectors/wycheproof"),
    Reading(path: "x509-limbo/limbo-subset.json", test: "TrustTests/LimboTests.swift"),
  ]

  var isFolder: Bool { path.hasSuffix("/") }

  /// Where a file of its own row lies in a folder with a row, it is not the folder's: the longest path that fits counts.
  static func of(_ file: String) -> [Reading] {
    let fitting = all.filter { $0.isFolder ? file.hasPrefix($0.path) : file == $0.path }
    let longest = fitting.map(\.path.count).max()
    return fitting.filter { $0.path.count == longest }
  }

  /// The source of the test; nil where there is none.
  var source: String? {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    return try? String(contentsOf: tests.appendingPathComponent(test), encoding: .utf8)
  }
}

@Suite("Reference data")
struct ReferenceDataTests {
  /// Every file below `vectors`, with its folders.
  private func files() throws -> [String]? {
    guard let root = shared("vectors") else { return nil }
    let paths = try FileManager.default.subpathsOfDirectory(atPath: root.path).sorted()
    return paths.filter {
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: root.appendingPathComponent($0).path, isDirectory: &isFolder)
        && !isFolder.boolValue
    }
  }

  private func isProse(_ file: String) -> Bool {
    ["README.md", "PROVENANCE.md"].contains(URL(fileURLWithPath: file).lastPathComponent)
  }

  @Test("every file is read by a test, and by exactly one row of the table")
  func coverage() throws {
    guard let files = try files() else { return }
    let data = files.filter { !isProse($0) }
    for file in data { #expect(Reading.of(file).count == 1, "\(file)") }
    // No row without a file: a table that promises more than there is hides what is gone.
    for reading in Reading.all {
      #expect(data.contains { Reading.of($0).map(\.path) == [reading.path] }, "\(reading.path)")
    }
    let folders = Dictionary(grouping: data) { $0.prefix { $0 != "/" } }
    for (folder, files) in folders.sorted(by: { $0.key < $1.key }) {
      let tests = Set(files.flatMap(Reading.of).map(\.test)).sorted()
      print("vectors/\(folder): \(files.count) files, \(tests.joined(separator: ", "))")
    }
  }

  @Test("every test of the table is there, names its file, and lists its folder")
  func tests() throws {
    for reading in Reading.all {
      guard let source = reading.source else {
        Issue.record("\(reading.test) is not there")
        continue
      }
      let written = reading.written ?? "vectors/\(reading.path)"
      #expect(source.contains(written), "\(reading.test) does not name \(written)")
      guard reading.isFolder else { continue }
      let lists = ["sharedCases(in:", "contentsOfDirectory(", "index.json"].contains { source.contains($0) }
      #expect(lists, "\(reading.test) does not list \(reading.path)")
    }
  }

  @Test("the index of the verdicts names every file of every family")
  func index() throws {
    guard let files = try files(), let index = try sharedJSON("vectors/verdicts/index.json") as? [String: Any] else {
      return
    }
    let named = try #require(index["cases"] as? [[String: Any]]).compactMap { $0["file"] as? String }
    let found = files.filter { $0.hasPrefix("verdicts/") && !isProse($0) }.map { String($0.dropFirst(9)) }
    #expect(Set(named) == Set(found).subtracting(["index.json"]) && named.count == Set(named).count)
  }
}
