import Bluetooth
import CBOR

/// What a wallet offers over Bluetooth LE (ISO/IEC 18013-5 section 8.2.1.1): one mode or both.
package struct BluetoothRetrieval: Equatable, Sendable {
  /// The wallet is GATT server and advertises.
  package var peripheralServer: PeripheralServer?
  /// The UUID that the reader advertises; the wallet is GATT client and scans.
  package var centralClient: UUID128?

  package init(peripheralServer: PeripheralServer? = nil, centralClient: UUID128? = nil) {
    self.peripheralServer = peripheralServer
    self.centralClient = centralClient
  }

  package var isEmpty: Bool { peripheralServer == nil && centralClient == nil }

  /// Peripheral server mode with its hints.
  package struct PeripheralServer: Equatable, Sendable {
    package var uuid: UUID128
    /// Six bytes in the order of the engagement: a hint to connect without scanning.
    package var address: [UInt8]?
    /// The PSM of an LE credit-based channel, 0x80 to 0xff.
    package var psm: UInt16?

    package init(uuid: UUID128, address: [UInt8]? = nil, psm: UInt16? = nil) {
      self.uuid = uuid
      self.address = address
      self.psm = psm
    }
  }

  /// Why an announced mode cannot be used.
  package enum Refusal: Equatable, Sendable {
    /// The flag is there and is no bool.
    case flagKind
    /// The flag is true, and the UUID is absent.
    case uuidMissing
    /// The UUID is no byte string.
    case uuidKind
    /// The UUID has another number of bytes than 16.
    case uuidSize(Int)
  }

  /// Takes over what one entry of the retrieval methods offers. The first entry that offers a mode counts.
  mutating func add(_ method: CBORItem, _ warnings: inout [DeviceEngagement.Warning]) {
    guard let type = method.element(0)?.uint, let version = method.element(1)?.uint else {
      warnings.append(.methodSkipped(type: nil))
      return
    }
    guard type == 2, version == 1, let options = method.element(2), options.kind == .map else {
      warnings.append(.methodSkipped(type: type))
      return
    }
    if let uuid = BluetoothRetrieval.uuid(of: .peripheralServer, flag: 0, label: 10, in: options, &warnings),
      peripheralServer == nil
    {
      var mode = PeripheralServer(uuid: uuid)
      if let address = options[label: 20] {
        if address.bytes?.count == 6 { mode.address = address.bytes.map(Array.init) }
        if mode.address == nil { warnings.append(.bluetoothOptionIgnored(20)) }
      }
      if let psm = options[label: 21] {
        if let number = psm.uint, (0x80...0xff).contains(number) { mode.psm = UInt16(number) }
        if mode.psm == nil { warnings.append(.bluetoothOptionIgnored(21)) }
      }
      peripheralServer = mode
    }
    if let uuid = BluetoothRetrieval.uuid(of: .centralClient, flag: 1, label: 11, in: options, &warnings) {
      centralClient = centralClient ?? uuid
    }
  }

  private static func uuid(
    of mode: MdocMode, flag: Int64, label: Int64, in options: CBORItem, _ warnings: inout [DeviceEngagement.Warning]
  ) -> UUID128? {
    guard let announced = options[label: flag] else { return nil }
    let refusal: Refusal
    switch (announced.bool, options[label: label]) {
    case (nil, _): refusal = .flagKind
    case (false?, _): return nil
    case (true?, nil): refusal = .uuidMissing
    case (true?, let item?):
      if let bytes = item.bytes {
        if let uuid = UUID128(bytes) { return uuid }
        refusal = .uuidSize(bytes.count)
      } else {
        refusal = .uuidKind
      }
    }
    warnings.append(.bluetoothModeRefused(mode, refusal))
    return nil
  }

  /// The entry of the retrieval methods that offers this: both flags, and only the options that apply.
  package var method: CBORValue {
    var options: [CBORValue.Pair] = [
      .init(0, .bool(peripheralServer != nil)), .init(1, .bool(centralClient != nil)),
    ]
    if let peripheralServer {
      options.append(.init(10, .bytes(peripheralServer.uuid.bytes)))
      if let address = peripheralServer.address { options.append(.init(20, .bytes(address))) }
      if let psm = peripheralServer.psm { options.append(.init(21, .unsigned(UInt64(psm)))) }
    }
    if let centralClient { options.append(.init(11, .bytes(centralClient.bytes))) }
    return .array([2, 1, .map(options)])
  }
}
