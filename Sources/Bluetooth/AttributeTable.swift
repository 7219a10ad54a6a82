import Bytes

/// The attributes of one server, in order of their handles. Fixed for a connection, so nothing ever has to be
/// announced as changed.
package struct AttributeTable: Sendable {
  /// One attribute; its handle is its place, counted from 1.
  struct Attribute: Sendable {
    let type: UUID128
    let content: Content
  }

  /// What can be done with an attribute.
  enum Content: Sendable {
    /// Anybody may read it.
    case value([UInt8])
    /// The value of a characteristic that is written or notified, and not read.
    case stream(MdocCharacteristic)
    /// The Client Characteristic Configuration descriptor of a characteristic.
    case configuration(MdocCharacteristic)
  }

  private(set) var attributes: [Attribute] = []
  /// The services, and which handles are theirs.
  private(set) var services: [HandleRange] = []

  /// The services that every GAP device has, and no more: this device has no name, and says nothing about itself.
  package init() {
    add(service: .genericAccess)
    add(characteristic: .deviceName, properties: MdocCharacteristic.read, content: .value([]))
    add(characteristic: .appearance, properties: MdocCharacteristic.read, content: .value([0, 0]))
    add(service: .genericAttribute)
  }

  /// The mdoc service of a mode behind the basic ones. `ident` is what mdoc central client mode serves; the other
  /// mode has no such characteristic. `psm` is that of a channel beside it; nil to offer none.
  package init(mode: MdocMode, service: UUID128, ident: [UInt8], psm: UInt16? = nil) {
    self.init()
    add(service: service)
    for characteristic in MdocCharacteristic.allCases {
      guard let uuid = characteristic.uuid(in: mode) else { continue }
      let content: Content
      switch (characteristic, psm) {
      case (.ident, _): content = .value(ident)
      case (.l2cap, let psm?): content = .value(ChannelPSM.encode(psm))
      case (.l2cap, nil): continue
      default: content = .stream(characteristic)
      }
      add(characteristic: uuid, properties: characteristic.properties, content: content)
      if characteristic.notifies { add(Attribute(type: .clientConfiguration, content: .configuration(characteristic))) }
    }
  }

  /// The attribute at a handle.
  func attribute(_ handle: AttributeHandle) -> Attribute? {
    let index = Int(handle.rawValue) - 1
    return attributes.indices.contains(index) ? attributes[index] : nil
  }

  /// The attributes within a range, with their handles.
  func attributes(in range: HandleRange) -> some Sequence<(handle: AttributeHandle, attribute: Attribute)> {
    let first = min(max(Int(range.first.rawValue) - 1, 0), attributes.count)
    let last = min(Int(range.last.rawValue), attributes.count)
    return zip(first..<max(first, last), attributes[first..<max(first, last)]).lazy.map {
      (AttributeHandle(UInt16($0 + 1)), $1)
    }
  }

  /// The service whose declaration is at a handle.
  func service(at handle: AttributeHandle) -> HandleRange? { services.first { $0.first == handle } }

  /// The handle of a characteristic's value.
  package func value(of characteristic: MdocCharacteristic) -> AttributeHandle? {
    for (index, attribute) in attributes.enumerated() {
      if case .stream(characteristic) = attribute.content { return AttributeHandle(UInt16(index + 1)) }
    }
    return nil
  }

  private var nextHandle: AttributeHandle { AttributeHandle(UInt16(attributes.count + 1)) }

  private mutating func add(service uuid: UUID128) {
    services.append(HandleRange(nextHandle, nextHandle))
    add(Attribute(type: .primaryService, content: .value(uuid.wire)))
  }

  private mutating func add(characteristic uuid: UUID128, properties: UInt8, content: Content) {
    let value = AttributeHandle(nextHandle.rawValue + 1)
    add(Attribute(type: .characteristic, content: .value([properties] + value.wire + uuid.wire)))
    add(Attribute(type: uuid, content: content))
  }

  private mutating func add(_ attribute: Attribute) {
    let handle = nextHandle
    attributes.append(attribute)
    if let service = services.popLast() { services.append(HandleRange(service.first, handle)) }
  }
}
