import Bytes
import CivilTime
import Configuration
import Crypto
import GPIO
import Glibc
import Kernel
import ListCache
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
    /// Copies of lists, and how old they may become.
    package var lists = ListsPart()
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

  /// Copies of lists: where they are, what is noted about them, how old they may become.
  package struct ListsPart: Sendable {
    /// The folder of copies, watched for changes; nil for none.
    package var folder: String?
    /// Where addresses that documents name are noted; nil for nowhere.
    package var notesFile: String?
    package var limits: [ListKind: ReaderConfiguration.StalenessLimit] = [:]

    package init() {}
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
    /// What is known about each list that should be here, whether or not it is.
    package var lists: [CacheEntry] = []
    /// Certificates whose end somebody has to know of.
    package var certificates: [DatedCertificate] = []

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

/// A certificate that ends one day.
package struct DatedCertificate: Equatable, Sendable {
  /// Of SHA-256, hexadecimal digits.
  package let fingerprint: String
  /// What it is, for people.
  package let title: String
  package let notAfter: UnixTime

  package init(_ certificate: Certificate, title: String) {
    fingerprint = certificate.fingerprint.hex
    self.title = "\(title) \(certificate.subject)"
    notAfter = certificate.notAfter
  }
}

/// Why the appliance cannot run at all.
package enum ApplianceError: Error {
  case system(SystemError)
  /// The board's file says something that is not so.
  case wrongBoard(String, remedy: String)
  /// A device that the board's file names did not come: it may be there at the next start.
  case deviceMissing(String, remedy: String)

  init(_ error: PanelError) {
    self =
      error.mayStillCome
      ? .deviceMissing("\(error)", remedy: error.remedy) : .wrongBoard("\(error)", remedy: error.remedy)
  }
}
