import Bytes

/// What a GATT client does from link-up to State start, as a sequence of requests: MTU, service, characteristics,
/// Ident, the PSM of a channel, descriptors, subscriptions. Nothing is remembered from an earlier connection.
///
/// Round trips at an MTU that holds all declarations in one response (65 for three characteristics, 86 with Ident):
/// MTU 1, service 1, characteristics 1, subscriptions 2, that is 5; Ident adds 1; each of State and Server2Client adds
/// 1 when its handles do not already say where its descriptor is. A characteristic that notifies shall have the
/// descriptor (Core, Vol 3, Part G, 3.3.1.1), so when there is room for one only, that is it. The usual layouts need 5,
/// or 6 where the service is the last of the server and its end is open. A channel that is looked for costs a read where
/// it is offered, and otherwise nothing as long as all declarations come in one response.
package struct ClientSetup: Sendable {
  /// What comes next.
  package enum Step: Equatable, Sendable {
    case request(ATTPDU)
    /// A channel can be had; `subscribe` goes on without it.
    case channel(psm: UInt16)
    case done(Handles)
    case failed(LinkFailure)
  }

  /// The values that messages and State travel in.
  package struct Handles: Equatable, Sendable {
    package let state: AttributeHandle
    package let clientToServer: AttributeHandle
    package let serverToClient: AttributeHandle
  }

  private enum Phase {
    case exchangingMTU
    case findingService
    case findingCharacteristics(Search)
    case readingIdent(Subscriptions, expected: [UInt8], psm: AttributeHandle?)
    case readingPSM(Subscriptions)
    case offeringChannel(Subscriptions)
    case findingDescriptor(Subscriptions, within: HandleRange)
    case subscribing(Subscriptions)
    case ended
  }

  /// The service that is looked through, those that come after it, and what was found.
  private struct Search {
    let service: HandleRange
    let others: [HandleRange]
    var declarations: [Declaration] = []
  }

  private struct Declaration {
    let handle: AttributeHandle
    let value: AttributeHandle
    let type: UUID128
  }

  /// What is still to be subscribed to: the handles in which its descriptor is. The first is in work.
  private struct Subscriptions {
    let handles: Handles
    var open: [HandleRange]
  }

  private let mode: MdocMode
  private let service: UUID128
  private let ident: [UInt8]?
  private let offer: UInt16
  private let wantsChannel: Bool
  private var mtu = ATTMTU.floor
  private var phase = Phase.exchangingMTU
  /// Why a channel that was offered is not used.
  package private(set) var fallback: ChannelRefusal?

  /// - Parameters:
  ///   - ident: in mdoc central client mode, what the engagement says the reader's Ident must be; nil to not read it.
  ///   - offer: the MTU to ask for, in bytes.
  ///   - wantsChannel: whether a channel is looked for.
  package init(
    mode: MdocMode, service: UUID128, ident: [UInt8]?, offer: Int = ATTMTU.offer, wantsChannel: Bool = false
  ) {
    self.mode = mode
    self.service = service
    self.ident = ident
    self.offer = UInt16(clamping: offer)
    self.wantsChannel = wantsChannel
  }

  /// The first request.
  package var first: ATTPDU { .exchangeMTURequest(offer) }

  /// Takes the response to the last request; nil stands for a refusal with `code`.
  package mutating func advance(_ answer: ATTPDU?, refusedWith code: ATTErrorCode? = nil) -> Step {
    var current = Phase.ended
    swap(&current, &phase)
    switch (current, answer) {
    case (.exchangingMTU, .exchangeMTUResponse(let peer)):
      mtu = max(ATTMTU.floor, Int(min(offer, peer)))
      return findService()
    case (.exchangingMTU, _): return findService()
    case (.findingService, .findByTypeValueResponse(let services)): return look(through: services)
    case (.findingService, nil):
      return .failed(code == .attributeNotFound ? .serviceMissing : .attRefused)
    case (.findingCharacteristics(let search), .readByTypeResponse(let entries)): return take(entries, search)
    case (.findingCharacteristics(let search), nil):
      // With every characteristic found, this only looked for a channel: without an answer there is none.
      return code == .attributeNotFound || handles(in: search) != nil ? conclude(search) : .failed(.attRefused)
    case (.readingIdent(let subscriptions, let expected, let psm), .readResponse(let value)):
      guard isEqualInConstantTime(value, expected) else { return .failed(.identMismatch) }
      return readPSM(psm, subscriptions)
    case (.readingPSM(let subscriptions), .readResponse(let value)):
      guard let psm = ChannelPSM.decode(value) else { return goOn(subscriptions, without: .psmInvalid) }
      phase = .offeringChannel(subscriptions)
      return .channel(psm: psm)
    case (.readingPSM(let subscriptions), nil): return goOn(subscriptions, without: .psmInvalid)
    case (.findingDescriptor(let subscriptions, let range), .findInformationResponse(let entries)):
      return take(entries, within: range, subscriptions)
    case (.findingDescriptor, nil):
      return .failed(code == .attributeNotFound ? .characteristicMissing : .attRefused)
    case (.subscribing(var subscriptions), .writeResponse):
      subscriptions.open.removeFirst()
      return subscribe(subscriptions)
    case (.readingIdent, nil), (.subscribing, nil): return .failed(.attRefused)
    default: return .failed(.attInvalid)
    }
  }

  /// There is no channel after all: the next step of GATT. Nil when none was offered, or that was said already.
  package mutating func refuseChannel(_ reason: ChannelRefusal) -> Step? {
    guard case .offeringChannel(let subscriptions) = phase else { return nil }
    return goOn(subscriptions, without: reason)
  }

  private mutating func goOn(_ subscriptions: Subscriptions, without reason: ChannelRefusal) -> Step {
    fallback = reason
    return subscribe(subscriptions)
  }

  private mutating func readPSM(_ handle: AttributeHandle?, _ subscriptions: Subscriptions) -> Step {
    guard let handle else { return subscribe(subscriptions) }
    phase = .readingPSM(subscriptions)
    return .request(.readRequest(handle))
  }

  private mutating func findService() -> Step {
    phase = .findingService
    return .request(.findByTypeValueRequest(.all, type: .primaryService, value: service.wire[...]))
  }

  private mutating func look(through services: [HandleRange]) -> Step {
    guard let first = services.first, services.allSatisfy(\.isValid) else { return .failed(.attInvalid) }
    return findCharacteristics(from: first.first, Search(service: first, others: Array(services.dropFirst())))
  }

  private mutating func findCharacteristics(from handle: AttributeHandle, _ search: Search) -> Step {
    phase = .findingCharacteristics(search)
    return .request(.readByTypeRequest(HandleRange(handle, search.service.last), type: .characteristic))
  }

  // MARK: Characteristics

  private mutating func take(_ entries: [ATTPDU.Value], _ search: Search) -> Step {
    var search = search
    for entry in entries {
      guard let declaration = ClientSetup.declaration(entry), search.service.contains(declaration.handle),
        search.service.contains(declaration.value), declaration.value > declaration.handle,
        // Handles that do not grow would keep us asking for ever.
        declaration.handle > (search.declarations.last?.value ?? .none)
      else { return .failed(.attInvalid) }
      search.declarations.append(declaration)
    }
    guard let last = search.declarations.last, last.value < search.service.last, let next = last.value.next,
      handles(in: search) == nil || mayOfferMore(search, after: entries)
    else { return conclude(search) }
    return findCharacteristics(from: next, search)
  }

  /// Whether a channel may be offered further on. A response that had room for one more declaration has shown all.
  private func mayOfferMore(_ search: Search, after entries: [ATTPDU.Value]) -> Bool {
    guard wantsChannel, value(of: .l2cap, in: search) == nil, let last = search.declarations.last else { return false }
    let room = mtu - 2 - entries.reduce(0) { $0 + 2 + $1.value.count }
    // A value that notifies has a descriptor; the declaration and the value of another need two handles more.
    let used = last.type == MdocCharacteristic.serverToClient.uuid(in: mode) ? 1 : 0
    return room < 21 && Int(search.service.last.rawValue) >= Int(last.value.rawValue) + used + 2
  }

  private static func declaration(_ entry: ATTPDU.Value) -> Declaration? {
    guard let type = UUID128(wire: entry.value.dropFirst(3)) else { return nil }
    let bytes = Array(entry.value)
    let value = AttributeHandle(UInt16(bytes[1]) | UInt16(bytes[2]) << 8)
    return Declaration(handle: entry.handle, value: value, type: type)
  }

  private func value(of characteristic: MdocCharacteristic, in search: Search) -> AttributeHandle? {
    guard let type = characteristic.uuid(in: mode) else { return nil }
    return search.declarations.first { $0.type == type }?.value
  }

  /// The handles, when every characteristic that we use was found.
  private func handles(in search: Search) -> Handles? {
    guard let state = value(of: .state, in: search),
      let clientToServer = value(of: .clientToServer, in: search),
      let serverToClient = value(of: .serverToClient, in: search),
      ident == nil || value(of: .ident, in: search) != nil
    else { return nil }
    return Handles(state: state, clientToServer: clientToServer, serverToClient: serverToClient)
  }

  private mutating func conclude(_ search: Search) -> Step {
    guard let handles = handles(in: search),
      let ofState = descriptors(of: handles.state, in: search),
      let ofServerToClient = descriptors(of: handles.serverToClient, in: search)
    else {
      // A server may hold a service of the same UUID that an earlier session left behind.
      guard let next = search.others.first else { return .failed(.characteristicMissing) }
      return findCharacteristics(from: next.first, Search(service: next, others: Array(search.others.dropFirst())))
    }
    let subscriptions = Subscriptions(handles: handles, open: [ofState, ofServerToClient])
    let psm = wantsChannel ? value(of: .l2cap, in: search) : nil
    guard let ident, let handle = value(of: .ident, in: search) else { return readPSM(psm, subscriptions) }
    phase = .readingIdent(subscriptions, expected: ident, psm: psm)
    return .request(.readRequest(handle))
  }

  /// Where the descriptors of a value can be: up to the next declaration we know of, or the end of the service.
  private func descriptors(of value: AttributeHandle, in search: Search) -> HandleRange? {
    let following = search.declarations.map(\.handle).filter { $0 > value }.min()
    let last = following.map { AttributeHandle($0.rawValue - 1) } ?? search.service.last
    guard let first = value.next, first <= last else { return nil }
    return HandleRange(first, last)
  }

  // MARK: Descriptors

  private mutating func subscribe(_ subscriptions: Subscriptions) -> Step {
    guard let range = subscriptions.open.first else { return .done(subscriptions.handles) }
    guard range.first == range.last else {
      phase = .findingDescriptor(subscriptions, within: range)
      return .request(.findInformationRequest(range))
    }
    phase = .subscribing(subscriptions)
    return .request(.writeRequest(range.first, [1, 0]))
  }

  private mutating func take(
    _ entries: [ATTPDU.Information], within range: HandleRange, _ subscriptions: Subscriptions
  ) -> Step {
    var subscriptions = subscriptions
    var previous: AttributeHandle?
    for entry in entries {
      guard range.contains(entry.handle), previous.map({ $0 < entry.handle }) ?? true else {
        return .failed(.attInvalid)
      }
      previous = entry.handle
      if entry.type == .clientConfiguration {
        subscriptions.open[0] = HandleRange(entry.handle, entry.handle)
        return subscribe(subscriptions)
      }
      // The next characteristic begins: this one has no such descriptor.
      if entry.type == .characteristic { return .failed(.characteristicMissing) }
    }
    guard let next = previous?.next, next <= range.last else { return .failed(.characteristicMissing) }
    let rest = HandleRange(next, range.last)
    phase = .findingDescriptor(subscriptions, within: rest)
    return .request(.findInformationRequest(rest))
  }
}
