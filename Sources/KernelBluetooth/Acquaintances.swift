import Bluetooth

/// The devices that were heard under one plan, and what becomes of them.
struct Acquaintances {
  /// How often a device is connected to, at most.
  static let attempts = 3

  private struct Entry {
    /// Connecting, or connected.
    var isTaken = false
    /// Attempts and links that came to nothing.
    var failures = 0
    var refusal: ChannelRefusal?
  }

  private var entries: [BluetoothAddress: Entry] = [:]

  /// Whether an advertisement of this device starts an attempt.
  func mayConnect(to address: BluetoothAddress) -> Bool {
    guard let entry = entries[address] else { return true }
    return !entry.isTaken && entry.failures < Acquaintances.attempts
  }

  mutating func take(_ address: BluetoothAddress) { entries[address, default: Entry()].isTaken = true }

  /// The attempt, or the link, came to nothing; false for a device that was not taken.
  mutating func fail(_ address: BluetoothAddress) -> Bool {
    guard entries[address]?.isTaken ?? false else { return false }
    entries[address]?.isTaken = false
    entries[address]?.failures += 1
    return true
  }

  /// Why the device does not let us open the channel that was known beforehand; nil as long as it may.
  func refusal(of address: BluetoothAddress) -> ChannelRefusal? { entries[address]?.refusal }

  mutating func refuseChannel(of address: BluetoothAddress, _ reason: ChannelRefusal) {
    entries[address, default: Entry()].refusal = reason
  }
}
