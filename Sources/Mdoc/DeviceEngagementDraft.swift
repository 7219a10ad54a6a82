import CBOR
import COSE
import Crypto

/// An engagement that a wallet is about to show: every member can be set, also to what no honest wallet writes.
package struct DeviceEngagementDraft: Sendable {
  package var version = "1.0"
  package var cipherSuite: CBORValue = 1
  /// EDeviceKeyBytes, tag 24 included.
  package var eDeviceKeyBytes: [UInt8]
  /// Key 2, one value for each entry; nil leaves the key out.
  package var methods: [CBORValue]?
  /// Further members, and members that replace one of the above.
  package var extraMembers: [CBORValue.Pair] = []

  /// An engagement of the first edition with one entry for all Bluetooth modes offered.
  ///
  /// - Parameter key: fresh for this engagement and used for no other.
  package init(key: PublicKey, bluetooth: BluetoothRetrieval? = nil) {
    eDeviceKeyBytes = CBORValue.embedded(key.coseKey).encode()
    methods = bluetooth.map { [$0.method] }
  }

  /// The engagement, keys in bytewise order.
  package func encode() -> [UInt8] {
    var members: [CBORValue.Pair] = [
      .init(0, .text(version)), .init(1, .array([cipherSuite, .encoded(eDeviceKeyBytes)])),
    ]
    if let methods { members.append(.init(2, .array(methods))) }
    members.removeAll { member in extraMembers.contains { $0.key == member.key } }
    return CBORValue.map(members + extraMembers).encode()
  }
}
