/// When the pictures were taken that the decoder has not answered for yet.
///
/// It decodes one while a newer one waits, and a newer one takes the place of that: answers come in the order of the
/// numbers, and those before an answer get none any more.
struct PicturesUnderWay {
  typealias Instant = ContinuousClock.Instant

  /// No picture takes the decoder so long, on whatever board.
  static let patience = Duration.seconds(10)

  private var taken: [UInt64: Instant] = [:]

  var isEmpty: Bool { taken.isEmpty }

  mutating func submitted(_ number: UInt64, at now: Instant) { taken[number] = now }

  /// When a picture was taken that is answered for now; nil for one that was not handed in.
  mutating func decoded(_ number: UInt64) -> Instant? {
    let instant = taken[number]
    taken = taken.filter { $0.key > number }
    return instant
  }

  /// Whether the decoder has not answered at all for too long.
  func isOverdue(at now: Instant) -> Bool {
    taken.values.min().map { now - $0 > PicturesUnderWay.patience } ?? false
  }
}
