import TestSupport

/// What an air, or a wallet that is broken or means harm, does to a conversation at one of its records.
enum AirFault: String, CaseIterable {
  /// The wallet is gone, and the reader's kernel says so.
  case vanished
  /// The wallet says nothing more, and nobody says that it is gone.
  case silent
  case lost
  case doubled
  /// It comes after the next one of the same side.
  case reordered
  /// Its last byte is missing.
  case cut
  /// Its second half is missing.
  case halved
  /// Nothing is left of it.
  case emptied
  case firstBitFlipped = "first bit flipped"
  /// Some bit, by the seed.
  case bitFlipped = "bit flipped"
  case otherBitFlipped = "other bit flipped"
  /// The wallet sends something else before it.
  case error, notification, indication, confirmation, request
  case stateEnd = "state end"
  case stateStart = "state start"
  case response
  case unknown = "unknown PDU"
  case noise

  /// What the wallet says where nobody asked: PDUs of ATT, which on a channel are bytes like any others.
  var unexpected: [UInt8]? {
    switch self {
    case .error: [0x01, 0x12, 0x2a, 0x00, 0x0e]
    case .notification: [0x1b, 0xff, 0xff, 1, 2, 3]
    case .indication: [0x1d, 0xff, 0xff, 1, 2, 3]
    case .confirmation: [0x1e]
    case .request: [0x0a, 0x01, 0x00]
    case .stateEnd: [0x52, 0x09, 0x00, 0x02]
    case .stateStart: [0x52, 0x09, 0x00, 0x01]
    case .response: [0x0b, 1, 2, 3]
    case .unknown: [0x99, 0, 0, 0]
    case .noise: [UInt8](repeating: 0xff, count: 23)
    default: nil
    }
  }

  /// What becomes of the record, where the fault is in its bytes.
  func change(_ record: [UInt8], random: inout SplitMix64) -> [UInt8] {
    var changed = record
    switch self {
    case .cut: changed = record.dropLast()
    case .halved: changed = Array(record.prefix(record.count / 2))
    case .emptied: changed = []
    case .firstBitFlipped: if !changed.isEmpty { changed[0] ^= 1 }
    case .bitFlipped, .otherBitFlipped:
      let bit = Int.random(in: 0..<max(1, 8 * record.count), using: &random)
      if !changed.isEmpty { changed[bit / 8] ^= 1 << UInt8(bit % 8) }
    default: break
    }
    return changed
  }
}
