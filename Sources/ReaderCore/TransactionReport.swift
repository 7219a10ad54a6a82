import Bluetooth

/// What happened in one transaction, fit for logs: reason codes, times and sizes, never an element value or a key.
package struct TransactionReport: Equatable, Sendable {
  /// How it ended; the raw value is the stable name.
  package enum Outcome: String, Sendable {
    case granted
    /// The site or a check said no.
    case refused
    /// There was no answer to judge: the code, the link or the session failed.
    case failed
  }

  /// Where the time of a transaction goes. Each is absent when the transaction did not come so far.
  package enum Span: String, CaseIterable, Sendable {
    /// From the picture to the text in it.
    case scan
    /// From the text to State start.
    case link
    /// From State start until the request is handed to the radio.
    case request
    /// From there to the first part of the answer: the wallet asks its holder.
    case consent
    /// From the first part of the answer to its last.
    case transfer
    /// Decrypting and verifying.
    case verify
    /// The site's policy.
    case decide
  }

  /// Counts transactions since the start, from 1.
  package let number: UInt64
  package var outcome = Outcome.failed
  /// Reason codes with their parameters: why it was refused or failed; empty when granted.
  package var reasons: [String] = []
  /// What was found without costing anything: warnings, dropped elements, information.
  package var remarks: [String] = []
  /// Of the document that decided; of the first returned one when none did.
  package var docType: String?
  /// countryName of the signer certificate; nil unless the document is verified.
  package var issuingCountry: String?
  /// Nil when no link started.
  package var link: LinkFacts?
  /// Size of the DeviceResponse in bytes.
  package var responseSize: Int?
  /// Where the time went.
  package private(set) var spans: [Span: Duration] = [:]

  package init(number: UInt64) {
    self.number = number
  }

  mutating func record(_ span: Span, from start: ContinuousClock.Instant?, to end: ContinuousClock.Instant) {
    guard let start else { return }
    spans[span] = end - start
  }

  mutating func record(_ span: Span, _ duration: Duration) { spans[span] = duration }
}

/// The link that carried a transaction.
package struct LinkFacts: Equatable, Sendable {
  package let mode: MdocMode
  package let transport: LinkTransport
  /// ATT MTU in bytes, as negotiated; of a channel, the longest SDU that the wallet takes.
  package let mtu: Int
  /// ATT requests and responses from link-up until messages could flow.
  package let roundTrips: Int
  /// Why a channel that the wallet offers was not used.
  package let fallback: ChannelRefusal?

  package init(
    mode: MdocMode, transport: LinkTransport = .gatt, mtu: Int, roundTrips: Int, fallback: ChannelRefusal? = nil
  ) {
    self.mode = mode
    self.transport = transport
    self.mtu = mtu
    self.roundTrips = roundTrips
    self.fallback = fallback
  }
}
