/// The attributes a server has, at handles that never change: GAP, GATT, and the mdoc service where there is one.
///
/// No device name and no other trait that tells one reader from another.
struct AttributeTable: Sendable {
  struct Attribute: Sendable {
    let handle: UInt16
    let type: AttributeUUID
    /// What a read gives; empty for values that are notified or written only.
    let value: [UInt8]
    let access: Access
  }

  struct Access: OptionSet, Sendable {
    let rawValue: UInt8
    static let read = Access(rawValue: 1)
    /// With or without response.
    static let write = Access(rawValue: 2)
  }

  private(set) var attributes: [Attribute] = []
  /// Handles of the mdoc characteristics' values.
  private(set) var values: [MdocService.Characteristic: UInt16] = [:]
  /// Handles of the client configurations of the notified ones.
  private(set) var configurations: [MdocService.Characteristic: UInt16] = [:]
  private var services: [ClosedRange<UInt16>] = []

  init(service: MdocService?) {
    addService(.short(0x1800)) { table in
      table.addCharacteristic(.short(0x2a00), properties: 0x02, value: [], access: .read)  // device name: empty
      table.addCharacteristic(.short(0x2a01), properties: 0x02, value: [0, 0], access: .read)  // appearance: unknown
    }
    addService(.short(0x1801)) { _ in }
    guard let service else { return }
    addService(service.serviceUUID) { table in
      for characteristic in service.characteristics { table.add(characteristic, of: service) }
    }
  }

  private mutating func add(_ characteristic: MdocService.Characteristic, of service: MdocService) {
    let uuid = service.uuid(of: characteristic)
    let handle: UInt16
    switch characteristic {
    // Notify and Write Without Response.
    case .state: handle = addCharacteristic(uuid, properties: 0x14, value: [], access: .write)
    case .clientToServer: handle = addCharacteristic(uuid, properties: 0x04, value: [], access: .write)
    case .serverToClient: handle = addCharacteristic(uuid, properties: 0x10, value: [], access: [])
    case .ident: handle = addCharacteristic(uuid, properties: 0x02, value: service.ident ?? [], access: .read)
    }
    values[characteristic] = handle
    if characteristic == .state || characteristic == .serverToClient {
      configurations[characteristic] = add(.clientConfiguration, value: [0, 0], access: [.read, .write])
    }
  }

  private mutating func addService(_ uuid: AttributeUUID, _ addContent: (inout AttributeTable) -> Void) {
    let first = add(.primaryService, value: uuid.wire, access: .read)
    addContent(&self)
    services.append(first...UInt16(attributes.count))
  }

  /// Handle of the value.
  @discardableResult
  private mutating func addCharacteristic(
    _ uuid: AttributeUUID, properties: UInt8, value: [UInt8], access: Access
  ) -> UInt16 {
    let valueHandle = UInt16(attributes.count + 2)
    let place = [UInt8(truncatingIfNeeded: valueHandle), UInt8(truncatingIfNeeded: valueHandle >> 8)]
    add(.characteristic, value: [properties] + place + uuid.wire, access: .read)
    return add(uuid, value: value, access: access)
  }

  @discardableResult
  private mutating func add(_ type: AttributeUUID, value: [UInt8], access: Access) -> UInt16 {
    let handle = UInt16(attributes.count + 1)
    attributes.append(Attribute(handle: handle, type: type, value: value, access: access))
    return handle
  }

  subscript(handle: UInt16) -> Attribute? {
    handle > 0 && Int(handle) <= attributes.count ? attributes[Int(handle) - 1] : nil
  }

  func attributes(in range: ClosedRange<UInt16>) -> ArraySlice<Attribute> {
    let first = Int(range.lowerBound) - 1
    guard first < attributes.count else { return [] }
    return attributes[first..<min(attributes.count, Int(range.upperBound))]
  }

  /// The handles of the service that begins at a handle.
  func group(at handle: UInt16) -> ClosedRange<UInt16>? { services.first { $0.lowerBound == handle } }
}
