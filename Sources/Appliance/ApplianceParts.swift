import Configuration
import Crypto
import Glibc
import MdocVerification
import Policy
import ReaderCore
import Trust

extension Appliance {
  /// What the appliance is made from.
  package struct Parts {
    /// What is asked for, and what has to hold.
    package var template: RequestTemplate
    package var verification: VerificationPolicy
    package var timeouts: ReaderTimeouts
    package var signals: ReaderConfiguration.Signals
    /// Folder of pictures: the camera.
    package var pictures: String
    /// Folder of sockets: the air.
    package var air: String
    /// Where what happened is written.
    package var events: EventLog.Destination
    /// Where `status` finds what this process is doing; nil for nowhere.
    package var statusFile: String?
    /// Where the terminal panel writes.
    package var panelDescriptor: CInt
    /// What a doubtful clock does.
    package var clock: ReaderConfiguration.ClockPolicy

    package init(
      template: RequestTemplate, verification: VerificationPolicy = VerificationPolicy(),
      timeouts: ReaderTimeouts = ReaderTimeouts(), signals: ReaderConfiguration.Signals = .init(), pictures: String,
      air: String, events: EventLog.Destination, statusFile: String? = nil, panelDescriptor: CInt = STDERR_FILENO,
      clock: ReaderConfiguration.ClockPolicy = .fault
    ) {
      self.template = template
      self.verification = verification
      self.timeouts = timeouts
      self.signals = signals
      self.pictures = pictures
      self.air = air
      self.events = events
      self.statusFile = statusFile
      self.panelDescriptor = panelDescriptor
      self.clock = clock
    }

    /// Largest session message of a wallet in bytes: its response, and what is around it.
    var messageSize: Int { verification.maximumResponseSize + 65_536 }
  }

  /// The certificates to trust now, and what was wrong while they were loaded.
  package struct TrustMaterial {
    /// Issuer roots.
    package let anchors: [TrustAnchor]
    /// Document signers that are trusted themselves.
    package let signers: [Certificate]
    /// A line for each file that could not be used.
    package let problems: [String]

    package init(anchors: [TrustAnchor], signers: [Certificate], problems: [String]) {
      self.anchors = anchors
      self.signers = signers
      self.problems = problems
    }

    package var isEmpty: Bool { anchors.isEmpty && signers.isEmpty }
  }
}
