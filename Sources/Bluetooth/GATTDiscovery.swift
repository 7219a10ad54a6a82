import Bytes

/// Finds the mdoc service of the other side and subscribes: the client's requests from link-up to State start.
///
/// As few round trips as the protocol allows: MTU, service, characteristics, then one for each subscription; five
/// where everything fits. A client configuration is where only one descriptor has room; where that is not so, or a
/// write there is refused, descriptors are asked for. Nothing is remembered from one connection to the next.
struct GATTDiscovery: Sendable {
  /// Handles of what was found.
  struct Handles: Sendable {
    var values: [MdocService.Characteristic: UInt16] = [:]
    var configurations: [MdocService.Characteristic: UInt16] = [:]
  }

  enum Step: Equatable, Sendable {
    /// Send this and feed the answer.
    case request(ATTPDU)
    /// Everything is subscribed; State start may be written.
    case done
    case failed(LinkFailure)
  }

  private enum Phase: Sendable {
    case mtu
    case service
    case characteristics
    case ident
    case descriptors(MdocService.Characteristic)
    case subscribing(MdocService.Characteristic)
  }

  private struct Declaration: Sendable {
    let handle: UInt16
    let value: UInt16
    let uuid: AttributeUUID
  }

  private static let notified: [MdocService.Characteristic] = [.state, .serverToClient]

  private let service: MdocService
  private var phase = Phase.mtu
  private var range: ClosedRange<UInt16> = 1...0xffff
  private var declarations: [Declaration] = []
  private var asked: Set<MdocService.Characteristic> = []
  private var subscribed: Set<MdocService.Characteristic> = []
  private(set) var handles = Handles()
  /// Requests made.
  private(set) var roundTrips = 0
  /// The MTU the other side offered.
  private(set) var offeredMTU: UInt16?

  init(service: MdocService) {
    self.service = service
  }

  mutating func start() -> Step { ask(.exchangeMTURequest(ATTServer.offeredMTU)) }

  private mutating func ask(_ request: ATTPDU) -> Step {
    roundTrips += 1
    return .request(request)
  }

  /// Takes the answer to the last request.
  mutating func handle(_ answer: ATTPDU) -> Step {
    switch phase {
    case .mtu: return afterMTU(answer)
    case .service: return afterService(answer)
    case .characteristics: return afterCharacteristics(answer)
    case .ident: return afterIdent(answer)
    case .descriptors(let characteristic): return afterDescriptors(of: characteristic, answer)
    case .subscribing(let characteristic): return afterSubscribing(to: characteristic, answer)
    }
  }

  private mutating func afterMTU(_ answer: ATTPDU) -> Step {
    switch answer {
    case .exchangeMTUResponse(let offer): offeredMTU = offer
    // A server may not know the request: then the default holds.
    case .errorResponse: break
    default: return .failed(.attViolation)
    }
    phase = .service
    return ask(.findByTypeValueRequest(1...0xffff, type: 0x2800, value: service.serviceUUID.wire))
  }

  private mutating func afterService(_ answer: ATTPDU) -> Step {
    switch answer {
    case .findByTypeValueResponse(let groups):
      guard let group = groups.first else { return .failed(.serviceMissing) }
      range = group
      phase = .characteristics
      return ask(.readByTypeRequest(group, .characteristic))
    case .errorResponse: return .failed(.serviceMissing)
    default: return .failed(.attViolation)
    }
  }

  private mutating func afterCharacteristics(_ answer: ATTPDU) -> Step {
    switch answer {
    case .readByTypeResponse(let rows):
      for row in rows {
        guard row.value.count == 5 || row.value.count == 19, range.contains(row.handle),
          row.handle > declarations.last?.handle ?? 0, let uuid = AttributeUUID(wire: row.value[3...])
        else { return .failed(.attViolation) }
        let value = row.value[1...].little16
        guard value > row.handle, range.contains(value) else { return .failed(.attViolation) }
        declarations.append(Declaration(handle: row.handle, value: value, uuid: uuid))
      }
      for characteristic in service.characteristics {
        let uuid = service.uuid(of: characteristic)
        handles.values[characteristic] = declarations.first { $0.uuid == uuid }?.value
      }
      guard let last = declarations.last, last.value < range.upperBound, !isLayoutKnown else {
        return afterAllCharacteristics()
      }
      return ask(.readByTypeRequest(last.value + 1...range.upperBound, .characteristic))
    case .errorResponse(_, _, .attributeNotFound): return afterAllCharacteristics(isComplete: true)
    case .errorResponse: return .failed(.characteristicMissing)
    default: return .failed(.attViolation)
    }
  }

  /// Whether everything needed is there, and where each client configuration has to be.
  private var isLayoutKnown: Bool {
    service.characteristics.allSatisfy { handles.values[$0] != nil }
      && GATTDiscovery.notified.allSatisfy { onlyDescriptor(of: $0, isComplete: false) != nil }
  }

  /// The handle of a descriptor when there is room for one alone: a notified value has to have its configuration.
  private func onlyDescriptor(of characteristic: MdocService.Characteristic, isComplete: Bool) -> UInt16? {
    guard let value = handles.values[characteristic], let room = descriptorRange(of: value) else { return nil }
    let isEndKnown = isComplete || declarations.contains { $0.handle > value } || room.count == 1
    return isEndKnown && room.count == 1 ? room.lowerBound : nil
  }

  private func descriptorRange(of value: UInt16) -> ClosedRange<UInt16>? {
    let end = declarations.first { $0.handle > value }.map { $0.handle - 1 } ?? range.upperBound
    return value < end ? value + 1...end : nil
  }

  private mutating func afterAllCharacteristics(isComplete: Bool = false) -> Step {
    guard service.characteristics.allSatisfy({ handles.values[$0] != nil }) else { return .failed(.characteristicMissing) }
    for characteristic in GATTDiscovery.notified {
      handles.configurations[characteristic] = onlyDescriptor(of: characteristic, isComplete: isComplete)
    }
    guard let ident = handles.values[.ident] else { return subscribeNext() }
    phase = .ident
    return ask(.readRequest(ident))
  }

  private mutating func afterIdent(_ answer: ATTPDU) -> Step {
    switch answer {
    case .readResponse(let value):
      guard let expected = service.ident, value == expected else { return .failed(.identMismatch) }
      return subscribeNext()
    case .errorResponse: return .failed(.identMismatch)
    default: return .failed(.attViolation)
    }
  }

  private mutating func subscribeNext() -> Step {
    guard let next = GATTDiscovery.notified.first(where: { !subscribed.contains($0) }) else { return .done }
    if let handle = handles.configurations[next] {
      phase = .subscribing(next)
      return ask(.writeRequest(handle, [1, 0]))
    }
    guard asked.insert(next).inserted, let value = handles.values[next], let room = descriptorRange(of: value) else {
      return .failed(.characteristicMissing)
    }
    phase = .descriptors(next)
    return ask(.findInformationRequest(room))
  }

  private mutating func afterDescriptors(of characteristic: MdocService.Characteristic, _ answer: ATTPDU) -> Step {
    switch answer {
    case .findInformationResponse(let rows):
      guard let found = rows.first(where: { $0.uuid == .clientConfiguration }) else {
        guard let value = handles.values[characteristic], let room = descriptorRange(of: value),
          let last = rows.last?.handle, room.contains(last), last < room.upperBound
        else { return .failed(.characteristicMissing) }
        return ask(.findInformationRequest(last + 1...room.upperBound))
      }
      handles.configurations[characteristic] = found.handle
      return subscribeNext()
    case .errorResponse: return .failed(.characteristicMissing)
    default: return .failed(.attViolation)
    }
  }

  private mutating func afterSubscribing(to characteristic: MdocService.Characteristic, _ answer: ATTPDU) -> Step {
    switch answer {
    case .writeResponse:
      subscribed.insert(characteristic)
      return subscribeNext()
    case .errorResponse:
      // The one descriptor was another after all: ask, once.
      guard !asked.contains(characteristic) else { return .failed(.requestRefused) }
      handles.configurations[characteristic] = nil
      return subscribeNext()
    default: return .failed(.attViolation)
    }
  }
}
