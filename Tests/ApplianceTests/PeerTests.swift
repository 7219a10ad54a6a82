import Foundation
import ReaderCore
import TestSupport
import Testing

@testable import Appliance

/// The independent Python wallet behind a Python ATT bridge, against the whole reader: nothing is shared but the air.
@Suite("The independent wallet at the simulated board", .serialized)
struct PeerTests {
  /// Debian 12's `cryptography` is too old for the peer; Scripts/test looks for one that will do.
  private static let python = ProcessInfo.processInfo.environment["MDOC_PYTHON"]

  private static func peer(test: String = #function) -> URL? {
    guard let folder = shared("peer", test: test) else { return nil }
    guard python != nil else {
      print(
        "skipped: \(test): no Python with cryptography 42 or later (Scripts/test looks for it and sets MDOC_PYTHON)")
      return nil
    }
    return folder
  }

  /// A wallet process; ends with its owner.
  private final class PeerWallet {
    let process = Process()
    private let output = Pipe()

    init(peer: URL, air: String, anchor: String, options: [String]) throws {
      let bridge = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Peer/att_bridge.py")
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments =
        [PeerTests.python ?? "python3", bridge.path, "--peer", peer.path, "--air", air, "--anchor", anchor] + options
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      try process.run()
    }

    deinit { process.terminate() }

    /// The engagement, which is the first line it prints.
    func engagement() throws -> String {
      var text = ""
      while !text.contains("\n") {
        let data = output.fileHandleForReading.availableData
        try #require(!data.isEmpty, "the wallet ended without an engagement")
        text += String(decoding: data, as: UTF8.self)
      }
      return String(text.prefix { $0 != "\n" })
    }
  }

  private func visitor(
    _ title: String, peer: URL, _ options: [String], _ expectation: ApplianceHarness.Expectation
  ) -> ApplianceHarness.Visitor {
    var wallet: PeerWallet?
    return ApplianceHarness.Visitor(title: title, expectation: expectation) { harness in
      let started = try PeerWallet(peer: peer, air: harness.air, anchor: harness.anchor, options: options)
      wallet = started
      _ = wallet
      return try started.engagement()
    }
  }

  @Test("ten in a row with a portrait of 100 KiB: both modes, signature and MAC, three MTUs")
  func tenInARow() throws {
    guard let peer = PeerTests.peer() else { return }
    let modes = ["central", "peripheral", "both"]
    let visitors = (0..<10).map { number in
      let options = [
        "--mode", modes[number % 3], "--method", number.isMultiple(of: 2) ? "signature" : "mac", "--portrait", "102400",
        "--mtu", ["515", "185", "247"][number % 3],
      ]
      return visitor("visitor \(number): \(options.joined(separator: " "))", peer: peer, options, .granted)
    }
    let harness = try ApplianceHarness()
    try harness.serve(visitors)
    #expect(Set(harness.reports.compactMap { $0.link?.mode }) == [.centralClient, .peripheralServer])
    #expect(harness.reports.allSatisfy { ($0.responseSize ?? 0) > 102_400 })
  }

  private static let quirks: [(String, ApplianceHarness.Expectation)] = [
    ("wrong-counter", .failed("decryptionFailed")), ("repeated-counter", .granted),
    ("reader-direction-key", .failed("decryptionFailed")), ("reader-direction-iv", .failed("decryptionFailed")),
    ("corrupt-tag", .failed("decryptionFailed")), ("plain-data", .failed("decryptionFailed")),
    ("session-not-cbor", .failed("sessionDataMalformed")), ("session-no-members", .failed("sessionDataMalformed")),
    ("session-extra-members", .granted), ("session-status-10", .failed("unexpectedStatus(10)")),
    ("session-status-11", .failed("unexpectedStatus(11)")), ("session-status-20", .failed("sessionTerminatedByPeer")),
    ("session-status-unknown", .failed("unexpectedStatus(99)")), ("session-data-and-20", .granted),
    ("short-fragments", .granted), ("silent", .failed("timeout")),
    ("response-status-10", .refused("responseStatus(10)")), ("response-status-11", .refused("responseStatus(11)")),
    ("response-status-12", .refused("responseStatus(12)")), ("documents-missing", .refused("noDocuments")),
    ("documents-null", .refused("responseMalformed")), ("documents-empty", .refused("noDocuments")),
    ("document-errors", .init(outcome: .refused, reason: "nothingShared", remark: "documentNotReturned")),
    ("trailing-bytes", .refused("responseMalformed")), ("truncated", .refused("responseMalformed")),
    ("status-first", .granted), ("version-2", .refused("responseVersionUnsupported")),
    ("digest-mismatch", .refused("digestMismatch(org.iso.18013.5.1, family_name)")),
    ("duplicate-element", .refused("duplicateElement")), ("wrong-name-space", .refused("digestMissing")),
    ("doc-type-mismatch", .init(outcome: .refused, reason: "documentNotAccepted", remark: "unrequestedDocument")),
    ("issuer-signature", .refused("issuerSignatureInvalid")), ("no-certificate", .refused("signerCertificateMissing")),
    ("unrequested-elements", .granted(remark: "unrequestedElement")),
    ("unrequested-document", .granted(remark: "unrequestedDocument")),
    ("no-device-signed", .refused("deviceAuthMissing")), ("both-device-auths", .refused("deviceAuthMalformed")),
    ("neither-device-auth", .refused("deviceAuthMissing")), ("other-device-key", .refused("deviceSignatureInvalid")),
    ("other-transcript", .refused("deviceSignatureInvalid")), ("attached-payload", .refused("deviceSignatureInvalid")),
    ("device-element", .granted(remark: "deviceElementUnauthorized")),
    ("flipped-device-auth", .refused("deviceSignatureInvalid")),
  ]

  @Test("each quirk has the finding it declares, and the reader is ready again within a second")
  func everyQuirk() throws {
    guard let peer = PeerTests.peer() else { return }
    let visitors = PeerTests.quirks.enumerated().map { number, quirk in
      visitor(
        "quirk \(quirk.0)", peer: peer,
        ["--mode", number.isMultiple(of: 2) ? "central" : "peripheral", "--quirk", quirk.0],
        quirk.1)
    }
    try ApplianceHarness().serve(visitors, timeouts: ReaderTimeouts(idle: .seconds(3), response: .seconds(1)))
  }

  private static let flaws: [(String, ApplianceHarness.Expectation)] = [
    ("expired", .refused("notVerified(expired")), ("not-yet-valid", .refused("notYetValid")),
    ("inconsistent-validity", .refused("validityInfoInconsistent")),
    ("signed-before-signer", .refused("signedOutsideSignerValidity")), ("untrusted-root", .refused("noTrustAnchor")),
    ("forged-signer", .refused("signerCertSignatureInvalid")),
    ("foreign-issuer-signature", .refused("issuerSignatureInvalid")),
    ("signer-expired", .refused("signerCertExpired")), ("signer-usage", .refused("signerProfile(extendedKeyUsage)")),
    ("signer-is-ca", .refused("signerProfile(certificateAuthority)")),
    ("signer-key-usage", .refused("signerProfile(keyUsage)")),
    ("signer-critical", .refused("signerProfile(unknownCriticalExtension)")),
    ("signer-country", .refused("countryMismatchChain")), ("digest-algorithm", .refused("digestAlgorithmUnsupported")),
    ("mso-malformed", .refused("msoMalformed")), ("short-random", .granted(remark: "randomTooShort")),
  ]

  @Test("each flaw of an issuer has the finding it declares")
  func everyFlaw() throws {
    guard let peer = PeerTests.peer() else { return }
    // The root is loaded once, so that each flaw has a board of its own.
    for flaw in PeerTests.flaws {
      try ApplianceHarness().serve([
        visitor("flaw \(flaw.0)", peer: peer, ["--mode", "both", "--flaw", flaw.0], flaw.1)
      ])
    }
  }

  @Test("a wallet that vanishes at any part leads to a failure, and the next visitor is served")
  func vanishing() throws {
    guard let peer = PeerTests.peer() else { return }
    var visitors = [1, 2, 5].flatMap { parts in
      ["central", "peripheral"].map { mode in
        visitor(
          "gone after \(parts) parts, \(mode)", peer: peer,
          ["--mode", mode, "--vanish-after", String(parts), "--portrait", "20000"], .failed("linkLost"))
      }
    }
    visitors.append(visitor("the next", peer: peer, ["--mode", "both"], .granted))
    try ApplianceHarness().serve(visitors)
  }
}
