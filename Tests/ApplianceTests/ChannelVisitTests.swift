import Commands
import Foundation
import ReaderCore
import Synchronization
import Testing
import WalletCommands

@testable import Appliance

/// Wallets of ours with channels, at the whole reader on the simulated board.
@Suite("Visitors over a channel", .serialized)
struct ChannelVisitTests {
  /// A reader that trusts the issuer of the one document that all wallets show.
  private func harness() throws -> ApplianceHarness {
    let harness = try ApplianceHarness()
    let words = [
      "issue", "--wallet", harness.folder + "/wallet", "--anchor-out", harness.anchor, "--portrait", "102400",
    ]
    try #require(WalletCommands.run(words, console: Console(program: "mdoc-wallet", input: -1) { _, _ in }) == 0)
    return harness
  }

  private func visitor(_ words: String, _ expectation: ApplianceHarness.Expectation) -> ApplianceHarness.Visitor {
    ApplianceHarness.Visitor(title: words, expectation: expectation) { harness in
      let options = words.split(separator: " ").map(String.init)
      let wallet = PresentingWallet(
        ["--air", harness.air, "--wallet", harness.folder + "/wallet", "--yes", "--timeout", "10"] + options)
      return try wallet.engagement()
    }
  }

  @Test("both modes, both, and a channel that the code names; the event says which transport it was")
  func transports() throws {
    let harness = try self.harness()
    try harness.serve([
      visitor("--l2cap --mode peripheral", .granted),
      visitor("--l2cap --mode central --auth mac", .granted),
      visitor("--l2cap --mode both", .granted),
      visitor("--l2cap --mode peripheral --psm-in-engagement", .granted),
      visitor("--mode central", .granted),
      visitor("--l2cap --mode peripheral --quirk short-fragments --mtu 23", .granted),
    ])
    let links = harness.reports.map { $0.link }
    #expect(links.map { $0?.transport } == [.l2cap, .l2cap, .l2cap, .l2cap, .gatt, .l2cap])
    #expect(links.allSatisfy { $0?.fallback == nil })
    #expect(links[0]?.roundTrips == 4 && links[3]?.roundTrips == 0)
    #expect(links[0]?.mtu == 8192)
    #expect(harness.reports[0].members.last { $0.key == "link" }?.value.text.contains(#""transport":"l2cap""#) == true)
  }

  @Test("a wallet that goes within its answer, one that ends instead of answering, and the next one")
  func failures() throws {
    let harness = try self.harness()
    try harness.serve([
      visitor("--l2cap --mode peripheral --quirk early-disconnect", .failed("linkLost")),
      visitor("--l2cap --mode central --quirk early-disconnect", .failed("linkLost")),
      visitor("--l2cap --mode peripheral --quirk end-state", .failed("peerTerminated")),
      visitor("--l2cap --mode central --quirk oversized-answer", .failed("messageTooLarge")),
      visitor("--l2cap --mode central --quirk lingering", .granted),
      visitor("--l2cap --mode peripheral", .granted),
    ])
    #expect(harness.reports.allSatisfy { $0.link?.transport == .l2cap })
  }

  @Test("a board without channels serves the same wallets over GATT")
  func switchedOff() throws {
    let harness = try self.harness()
    harness.usesL2CAP = false
    try harness.serve([
      visitor("--l2cap --mode peripheral --psm-in-engagement", .granted),
      visitor("--l2cap --mode central", .granted),
    ])
    #expect(harness.reports.allSatisfy { $0.link?.transport == .gatt && $0.link?.fallback == nil })
  }
}
