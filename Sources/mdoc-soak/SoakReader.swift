import Appliance
import Configuration
import Crypto
import Glibc
import Kernel
import ReaderCore
import Trust

/// The reader as it is, in a hurry: whoever says nothing is not waited for long.
enum SoakReader {
  static let configuration = """
    board = "simulated"
    [[request.document]]
    doc_type = "org.iso.18013.5.1.mDL"
    [request.document.name_spaces]
    "org.iso.18013.5.1" = ["family_name", "issuing_country", "age_over_18", "portrait"]
    """

  static func serve(in folder: String, display: Duration) throws {
    signal(SIGPIPE, SIG_IGN)
    let timeouts = ReaderTimeouts(
      connect: .milliseconds(600), idle: .milliseconds(400), response: .milliseconds(400), total: .seconds(5))
    let parts = Appliance.Parts(
      template: try ReaderConfiguration(text: configuration).template, timeouts: timeouts,
      signals: .init(display: display, relayPulse: .milliseconds(100), hasBuzzer: true),
      camera: .pictures(folder + "/pictures"), radio: .air(folder + "/air"),
      panel: .terminal(descriptor: open("/dev/null", O_WRONLY | O_CLOEXEC)), events: .file(folder + "/events"),
      statusFile: folder + "/status.json")
    let root = folder + "/root.der"
    let appliance = try Appliance(parts) {
      let anchors = (try? Files.read(root, limit: 65_536)).flatMap { try? Certificate($0) }.map {
        [TrustAnchor($0, source: "soak")]
      }
      return Appliance.TrustMaterial(anchors: anchors ?? [], signers: [], problems: [])
    }
    appliance.onReport = { say("report \($0.outcome.rawValue) \($0.reasons.first ?? "-")") }
    appliance.onReady = { say("ready") }
    try appliance.run()
  }
}
