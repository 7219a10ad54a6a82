import Configuration
import Crypto
import Glibc
import Kernel
import Mdoc
import MdocVerification
import Policy
import ReaderCore
import StatusLists
import Trust

extension Appliance {
  /// What the appliance is made from.
  package struct Parts {
    /// What is asked for, and what has to hold.
    package var template: RequestTemplate
    package var verification: VerificationPolicy
    package var timeouts: ReaderTimeouts
    package var signals: ReaderConfiguration.Signals
    package var camera: CameraPart
    package var radio: RadioPart
    /// Whether LE credit-based channels are used where a wallet has them.
    package var usesL2CAP: Bool
    package var panel: PanelPart
    /// Where what happened is written.
    package var events: EventLog.Destination
    /// Where `status` finds what this process is doing; nil for nowhere.
    package var statusFile: String?
    /// What a doubtful clock does.
    package var clock: ReaderConfiguration.ClockPolicy
    /// Where the latest good time is kept; nil for nowhere.
    package var clockFile: String?
    /// The file that is there once a time server has set the clock.
    package var synchronizedFile = ReaderConfiguration.Clock().synchronizedFile.text
    /// Who the reader is to wallets; nil for one that does not say.
    package var signer: ReaderSigner?
    /// What should be seen to though the reader runs without it: a line each, recorded at start.
    package var remarks: [String] = []

    package init(
      template: RequestTemplate, verification: VerificationPolicy = VerificationPolicy(),
      timeouts: ReaderTimeouts = ReaderTimeouts(), signals: ReaderConfiguration.Signals = .init(), camera: CameraPart,
      radio: RadioPart, usesL2CAP: Bool = true, panel: PanelPart = .terminal(descriptor: STDERR_FILENO),
      events: EventLog.Destination, statusFile: String? = nil, clock: ReaderConfiguration.ClockPolicy = .fault
    ) {
      self.template = template
      self.verification = verification
      self.timeouts = timeouts
      self.signals = signals
      self.camera = camera
      self.radio = radio
      self.usesL2CAP = usesL2CAP
      self.panel = panel
      self.events = events
      self.statusFile = statusFile
      self.clock = clock
    }

    /// Largest session message of a wallet in bytes: its response, and what is around it.
    var messageSize: Int { verification.maximumResponseSize + 65_536 }
  }

  /// What sees the codes.
  package enum CameraPart: Sendable {
    /// A folder of pictures.
    case pictures(String)
    case v4l2(Configuration.CameraFacts)
  }

  /// What carries the sessions.
  package enum RadioPart: Sendable {
    /// A folder of sockets.
    case air(String)
    /// A controller of the kernel by its name.
    case bluetooth(adapter: String)
  }

  /// What people see and hear, and the door.
  package enum PanelPart: Sendable {
    /// One line of text for each change.
    case terminal(descriptor: CInt)
    case gpio(PanelFacts)
  }

  /// The certificates to trust and the lists to ask now, and what was wrong while they were loaded: a snapshot, which
  /// takes the place of the one before as a whole.
  package struct TrustMaterial: Sendable {
    /// Issuer roots.
    package let anchors: [TrustAnchor]
    /// Document signers that are trusted themselves.
    package let signers: [TrustedSigner]
    /// A line for each file that could not be used.
    package let problems: [String]
    /// Revocation lists of signers.
    package let revocation: RevocationLists
    /// Status lists of documents.
    package let statuses: StatusSource

    package init(
      anchors: [TrustAnchor], signers: [TrustedSigner], problems: [String],
      revocation: RevocationLists = RevocationLists([]), statuses: StatusSource = StatusSource()
    ) {
      self.anchors = anchors
      self.signers = signers
      self.problems = problems
      self.revocation = revocation
      self.statuses = statuses
    }

    package var isEmpty: Bool { anchors.isEmpty && signers.isEmpty }
  }
}

/// Why the appliance cannot run at all.
package enum ApplianceError: Error {
  case system(SystemError)
  /// The board's file says something that is not so.
  case wrongBoard(String, remedy: String)
}
