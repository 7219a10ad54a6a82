/// What the reader cannot serve anybody without. The raw value is the stable code in events, status and README.
package enum Fault: String, CaseIterable, Sendable {
  case cameraUnavailable
  case radioUnavailable
  /// Lamps or the relay cannot be driven.
  case panelUnavailable
  /// There is no certificate to trust.
  case trustEmpty
  /// The time of day cannot be right, so nothing can be verified.
  case clockUntrusted
  /// A list is older than the site allows.
  case listsStale
}
