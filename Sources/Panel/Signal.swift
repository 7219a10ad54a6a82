/// What the reader shows people, and the only thing that drives lamps, buzzer and relay.
package enum Signal: String, CaseIterable, Sendable {
  /// Not running: before the start and after the stop. Everything is dark and inactive.
  case off
  /// Opening devices and checking itself.
  case starting
  /// Waiting for a code.
  case ready
  /// A code was read; connecting, asking, waiting for the holder.
  case reading
  /// The answer is here and is being verified.
  case processing
  /// The site's policy said yes: the only signal that starts a relay pulse.
  case granted
  /// The site's policy said no, for a reason of the document.
  case denied
  /// The transaction ended without a decision (phone gone, timeout, unreadable code): nobody was refused.
  case incomplete
  /// The reader itself cannot work; staff must look.
  case fault
  /// The time of day cannot be trusted, so nothing can be verified: a fault with a look of its own.
  case clockUntrusted

  /// Whether the reader is out of service: a relay pulse that is running is cut.
  package var isOutOfService: Bool {
    switch self {
    case .off, .starting, .fault, .clockUntrusted: true
    case .ready, .reading, .processing, .granted, .denied, .incomplete: false
    }
  }

  /// What the lamps and the buzzer do for it. No two signals look alike.
  package var look: Look {
    switch self {
    case .off: Look()
    case .starting: Look(blue: .blinking(.slow))
    case .ready: Look(blue: .on)
    case .reading: Look(blue: .blinking(.fast))
    case .processing: Look(green: .blinking(.fast), blue: .on)
    case .granted: Look(green: .on, beeps: .one)
    case .denied: Look(red: .on, beeps: .two)
    case .incomplete: Look(green: .on, red: .on, beeps: .oneShort)
    case .fault: Look(red: .blinking(.fast))
    case .clockUntrusted: Look(red: .blinking(.slow), blue: .blinking(.slowOpposite))
    }
  }
}

/// How the lamps and the buzzer present one signal.
package struct Look: Equatable, Sendable {
  package var green = Light.off
  package var red = Light.off
  package var blue = Light.off
  package var beeps = Beeps.none
}

/// A lamp: dark, lit or blinking.
package enum Light: Equatable, Sendable {
  case off
  case on
  case blinking(Blink)

  /// Whether the lamp is lit this long after its signal began.
  func isLit(after elapsed: Duration) -> Bool {
    switch self {
    case .off: false
    case .on: true
    case .blinking(let blink): (elapsed.dividedDown(by: blink.half) % 2 == 0) == blink.beginsLit
    }
  }
}

/// A blinking lamp: lit and dark for the same time in turn.
package enum Blink: Sendable {
  /// Half a second each.
  case slow
  /// As `slow`, dark while `slow` is lit.
  case slowOpposite
  /// An eighth of a second each.
  case fast

  /// How long the lamp stays lit, and dark.
  package var half: Duration { self == .fast ? .milliseconds(125) : .milliseconds(500) }

  var beginsLit: Bool { self != .slowOpposite }
}

/// The buzzer at the beginning of a signal: beeps and pauses of one length.
package struct Beeps: Equatable, Sendable {
  package let count: Int
  /// Of one beep, and of the pause after it.
  package let length: Duration

  package static let none = Beeps(count: 0, length: .milliseconds(100))
  package static let oneShort = Beeps(count: 1, length: .milliseconds(60))
  package static let one = Beeps(count: 1, length: .milliseconds(150))
  package static let two = Beeps(count: 2, length: .milliseconds(150))

  /// How many lengths the whole sequence takes: a pause stands between beeps, not after the last.
  private var steps: Int64 { count == 0 ? 0 : Int64(count * 2 - 1) }

  func isSounding(after elapsed: Duration) -> Bool {
    let step = elapsed.dividedDown(by: length)
    return step < steps && step % 2 == 0
  }

  func isOver(after elapsed: Duration) -> Bool { elapsed.dividedDown(by: length) >= steps }
}

extension Duration {
  /// Whole nanoseconds; saturates at 64 bits.
  private var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, carry) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
    return overflow || carry ? (seconds < 0 ? .min : .max) : sum
  }

  /// How often a positive step fits into this duration; 0 when it is negative.
  func dividedDown(by step: Duration) -> Int64 { max(0, nanoseconds) / max(1, step.nanoseconds) }

  /// This duration `count` times, exact; saturates far beyond any running time.
  func times(_ count: Int64) -> Duration {
    let (product, overflow) = nanoseconds.multipliedReportingOverflow(by: count)
    return .nanoseconds(overflow ? .max : product)
  }
}
