/// The largest ATT PDU of one connection, in bytes. One value for both directions and both roles: kept once, so that
/// no half of the link can disagree with the other.
package struct ATTMTU: Equatable, Sendable {
  /// What every LE link can carry.
  package static let floor = 23
  /// What this side offers. 515 is the largest that helps, for a value has at most 512 bytes; phones ask for 517.
  package static let offer = 517

  /// The effective MTU in bytes, from 23 to what this side offers.
  package private(set) var value: Int
  private var isExchanged = false

  /// The MTU before any exchange.
  package init() {
    value = ATTMTU.floor
  }

  /// A given MTU, raised to the floor.
  package init(_ value: Int) {
    self.value = max(ATTMTU.floor, value)
  }

  /// The most bytes of a characteristic value in one notification or write.
  package var valueLimit: Int { min(value - 3, Fragmenter.longestValue) }

  /// Takes over an exchange: the smaller of both offers counts, whoever asked. A peer that makes two different offers
  /// in two exchanges gets the smaller, which it can take in any case.
  mutating func exchange(own: Int, peer: UInt16) {
    let agreed = max(ATTMTU.floor, min(own, Int(peer)))
    value = isExchanged ? min(value, agreed) : agreed
    isExchanged = true
  }
}
