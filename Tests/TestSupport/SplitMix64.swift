/// A small random generator with a seed, so that a failing case can be run again.
public struct SplitMix64: RandomNumberGenerator {
  /// Where the sequence stands.
  public var state: UInt64

  /// A sequence that begins at a seed.
  public init(state: UInt64) { self.state = state }

  /// The next 64 bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }
}
