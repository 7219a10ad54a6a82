import Bluetooth
import Bytes
internal import CBluetooth
import Glibc
import Kernel

/// One Bluetooth adapter, worked on by this program alone: made ready through the kernel's management interface,
/// scanned through a raw socket, and made ready again after whatever goes wrong with it.
///
/// It belongs to the thread of its loop. Trouble is an event; while there is trouble, commands complete at once with a
/// failure.
package final class Adapter {
  package enum Event {
    case ready(AdapterFacts)
    /// It cannot be used. It is tried again by itself, until `ready`.
    case failed(AdapterProblem)
    case heard([HCIEvent.Advertisement])
    /// The link to a device is gone.
    case disconnected(BluetoothAddress)
    /// Somebody else, the kernel itself for one, switched scanning off or changed it.
    case scanDisturbed
  }

  private enum Phase {
    case stopped
    case preparing
    case ready(AdapterFacts)
    case failed(AdapterProblem)
  }

  /// From one attempt to make it ready to the next; the last one for ever.
  private static let pauses: [Duration] = [.milliseconds(500), .seconds(1), .seconds(2), .seconds(5), .seconds(10)]
  private static let answerLimit = Duration.seconds(3)
  /// Loading firmware takes its time.
  private static let powerLimit = Duration.seconds(10)

  package let settings: AdapterSettings
  private let loop: EventLoop
  private let handler: (Event) -> Void
  private var phase = Phase.stopped
  private var management: CommandSocket?
  private var controller: CommandSocket?
  private var retry: EventLoop.Timer?
  private var attempts = 0
  private var index = ManagementCommand.noController
  private var present: [String] = []

  package init(_ settings: AdapterSettings, on loop: EventLoop, handler: @escaping (Event) -> Void) {
    self.settings = settings
    self.loop = loop
    self.handler = handler
    retry = loop.timer("adapter") { [weak self] in self?.prepare() }
  }

  deinit { close() }

  /// What is known while it is ready; nil while it is not.
  package var facts: AdapterFacts? { if case .ready(let facts) = phase { facts } else { nil } }

  /// Begins to make it ready.
  package func start() {
    guard case .stopped = phase else { return }
    prepare()
  }

  /// Ends all use. An adapter that was in use is switched off: nothing of ours stays on the air.
  package func stop() {
    if facts != nil { management?.sendLast(ManagementCommand.setPowered(false).encoded(for: index)) }
    close()
  }

  private func close() {
    phase = .stopped
    retry?.cancel()
    closeSockets()
  }

  private func closeSockets() {
    management?.close()
    management = nil
    controller?.close()
    controller = nil
  }

  var name: String { "hci\(index)" }

  // MARK: Commands

  /// Sends a management command for this adapter.
  func send(
    _ command: ManagementCommand, limit: Duration = Adapter.answerLimit, index: UInt16? = nil,
    completion: @escaping (Result<ByteView, CommandFailure>) -> Void
  ) {
    guard let management else { return completion(.failure(.lost(Adapter.notReady))) }
    management.send(
      CommandSocket.Command(
        opcode: command.opcode, name: command.name, bytes: command.encoded(for: index ?? self.index), limit: limit,
        completion: completion))
  }

  /// Sends a command to the controller itself.
  func send(_ command: HCICommand, completion: @escaping (Result<ByteView, CommandFailure>) -> Void) {
    guard let controller else { return completion(.failure(.lost(Adapter.notReady))) }
    controller.send(
      CommandSocket.Command(
        opcode: command.opcode, name: command.name, bytes: command.encoded, limit: Adapter.answerLimit,
        completion: completion))
  }

  private static let notReady = SystemError("send", code: ENODEV, subject: "adapter")

  /// Takes a fresh random address. The kernel makes a new resolvable private address for the next advertisement when
  /// it finds another than its own in use, so no two transactions advertise under one address.
  func renewAddress(completion: @escaping (Result<ByteView, CommandFailure>) -> Void) {
    send(.leSetRandomAddress(.nonResolvable(.random(in: .min ... .max))), completion: completion)
  }

  /// Advertises a service, in place of what was advertised before.
  func advertise(_ service: UUID128, completion: @escaping (Result<ByteView, CommandFailure>) -> Void) {
    do throws(AdvertisingData.Violation) {
      send(.addAdvertising(try .service(service)), completion: completion)
    } catch {
      completion(.failure(.refused(command: "Add Advertising", status: 0x0d, reason: "\(error)")))
    }
  }

  /// Listens for advertisements, or stops; nothing is filtered.
  func scan(_ on: Bool, isActive: Bool = true, completion: @escaping (Result<ByteView, CommandFailure>) -> Void) {
    let isExtended = facts?.usesExtendedScan ?? false
    let enable = isExtended ? HCICommand.leSetExtendedScanEnable(on) : .leSetScanEnable(on)
    guard on else { return send(enable, completion: completion) }
    let scan = HCICommand.Scan(isActive: isActive, interval: settings.scanInterval, window: settings.scanWindow)
    // Both are queued at once, so that a stop after this cannot come between. Refused parameters mean that it scans.
    send(isExtended ? .leSetExtendedScanParameters(scan) : .leSetScanParameters(scan)) { _ in }
    send(enable, completion: completion)
  }

  // MARK: Making it ready

  private func prepare() {
    closeSockets()
    phase = .preparing
    attempts += 1
    do throws(SystemError) {
      let socket = Descriptor(owning: try check("socket", "HCI") { bluetooth_hci_socket() })
      let raw = socket.raw
      _ = try check("bind", "HCI management") {
        bluetooth_hci_bind(raw, bluetooth_no_device, bluetooth_channel_control)
      }
      management = try CommandSocket(socket, "HCI management", on: loop) { [weak self] in
        self?.handleManagement($0)
      } onFailure: { [weak self] in
        self?.fail(.system($0))
      }
    } catch {
      return fail(Adapter.problem(error))
    }
    send(.readIndexList, index: ManagementCommand.noController) { [weak self] result in
      guard let bytes = self?.success(result) else { return }
      self?.choose(from: ControllerList.indices(bytes) ?? [])
    }
  }

  private func choose(from indices: [UInt16]) {
    present = indices.sorted().map { "hci\($0)" }
    let holders = AdapterHolder.find()
    let wanted = settings.name ?? present.first
    guard let wanted, present.contains(wanted), let index = UInt16(wanted.dropFirst(3)) else {
      return fail(missing(wanted, holders))
    }
    self.index = index
    if settings.refusesRivals, holders.contains(where: \.isRival) {
      return fail(.held(wanted, by: holders.filter(\.isRival)))
    }
    send(.readControllerInfo) { [weak self] result in
      guard let self, let bytes = success(result) else { return }
      guard let information = ControllerInformation(bytes) else {
        return fail(.refused(name, command: ManagementCommand.readControllerInfo.name, reason: "malformed answer"))
      }
      guard information.supported.contains(.lowEnergy) else { return fail(.noLowEnergy(name)) }
      configure(information, holders)
    }
  }

  /// There in the system, and not to be had: a program has it through a user channel.
  private func missing(_ wanted: String?, _ holders: [AdapterHolder]) -> AdapterProblem {
    let devices = ((try? Files.list("/sys/class/bluetooth")) ?? []).filter { $0.hasPrefix("hci") && !$0.contains(":") }
    if let held = wanted.flatMap({ devices.contains($0) ? $0 : nil }) ?? (wanted == nil ? devices.min() : nil),
      !holders.isEmpty
    {
      return .held(held, by: holders)
    }
    return wanted.map { .adapterMissing($0, present: present) } ?? .noAdapter
  }

  /// Off, set up, on: privacy can only be set while it is off, and what an earlier program left is gone.
  private func configure(_ information: ControllerInformation, _ holders: [AdapterHolder]) {
    let key = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
    var steps: [(ManagementCommand, isNeeded: Bool)] = []
    if information.current.contains(.powered) { steps.append((.setPowered(false), true)) }
    // A dual-mode controller refuses LE connections until LE is on.
    steps.append((.setLE(true), true))
    // Nobody pairs or calls over BR/EDR, and Flags say so.
    if information.supported.contains(.bredr) { steps.append((.setBREDR(false), false)) }
    steps.append((.setBondable(false), false))
    steps.append((.setConnectable(false), false))
    steps.append((.setPrivacy(key: key), false))
    let defaults =
      settings.parameters.defaults
      + ManagementCommand.DefaultParameter.advertising(interval: settings.advertisingInterval)
    steps.append((.setDefaultConfiguration(defaults), false))
    steps.append((.setPowered(true), true))
    steps.append((.removeAdvertising(instance: 0), false))
    run(steps[...], failed: []) { [weak self] failed in
      self?.openController(information, holders, hasFastConnections: !failed.contains(0x004c))
    }
  }

  /// Runs the steps in order; a step that is not needed may be refused, and then `completion` gets its opcode.
  private func run(
    _ steps: ArraySlice<(ManagementCommand, isNeeded: Bool)>, failed: Set<UInt16>,
    completion: @escaping (Set<UInt16>) -> Void
  ) {
    guard let (command, isNeeded) = steps.first else { return completion(failed) }
    var isPower = false
    if case .setPowered = command { isPower = true }
    send(command, limit: isPower ? Adapter.powerLimit : Adapter.answerLimit) { [weak self] result in
      guard let self else { return }
      var failed = failed
      if case .failure(.refused) = result, !isNeeded, case .preparing = phase {
        failed.insert(command.opcode)
      } else if success(result) == nil {
        return
      }
      run(steps.dropFirst(), failed: failed, completion: completion)
    }
  }

  private func openController(
    _ information: ControllerInformation, _ holders: [AdapterHolder], hasFastConnections: Bool
  ) {
    do throws(SystemError) {
      let socket = Descriptor(owning: try check("socket", "HCI") { bluetooth_hci_socket() })
      let raw = socket.raw
      _ = try check("bind", name) { bluetooth_hci_bind(raw, index, bluetooth_channel_raw) }
      // Command Complete, Command Status, Hardware Error, LE Meta.
      _ = try check("setsockopt", name) {
        bluetooth_hci_filter(raw, 1 << 0x0e | 1 << 0x0f | 1 << 0x10 | 1 << 0x3e)
      }
      controller = try CommandSocket(socket, name, on: loop) { [weak self] in
        self?.handleController($0)
      } onFailure: { [weak self] in
        self?.fail(.system($0))
      }
    } catch {
      return fail(Adapter.problem(error))
    }
    send(.readLocalCommands) { [weak self] result in
      guard let self, let commands = success(result) else { return }
      // Octet 37, bits 5 and 6: the kernel itself then scans with these, and the two kinds must not be mixed.
      let bits = commands.dropFirst(37).first ?? 0
      send(.leReadSupportedStates) { [weak self] result in
        guard let self, let bytes = success(result) else { return }
        send(.readControllerInfo) { [weak self] result in
          guard let self, let now = success(result).flatMap(ControllerInformation.init) else { return }
          become(
            AdapterFacts(
              name: name, present: present, information: information, settings: now.current,
              states: LEStates(bytes) ?? [], usesExtendedScan: bits & 0x60 == 0x60,
              hasFastConnections: hasFastConnections, holders: holders))
        }
      }
    }
  }

  private func become(_ facts: AdapterFacts) {
    attempts = 0
    phase = .ready(facts)
    handler(.ready(facts))
  }

  // MARK: Trouble

  /// The answer to a step of making it ready; nil ends the steps.
  private func success(_ result: Result<ByteView, CommandFailure>) -> ByteView? {
    // It may have failed while the answer was awaited: then it is begun anew after the pause, not gone on with.
    guard case .preparing = phase else { return nil }
    switch result {
    case .success(let bytes): return bytes
    case .failure(let failure):
      fail(problem(failure))
      return nil
    }
  }

  /// What a failed command says of the adapter.
  func problem(_ failure: CommandFailure) -> AdapterProblem {
    switch failure {
    case .refused(_, ManagementStatus.blockedByRFKill.rawValue, _): .blocked(name)
    // Some kernels only say that it failed.
    case .refused(ManagementCommand.setPowered(true).name, _, _) where isBlocked: .blocked(name)
    case .refused(let command, ManagementStatus.permissionDenied.rawValue, _): .notPermitted(call: command)
    case .refused(let command, _, let reason): .refused(name, command: command, reason: reason)
    case .noAnswer(let command): .silent(name, command: command)
    case .lost(let error): Adapter.problem(error)
    }
  }

  /// Whether rfkill has it switched off, by software or by a switch.
  private var isBlocked: Bool {
    let folder = "/sys/class/bluetooth/\(name)"
    let switches = ((try? Files.list(folder)) ?? []).filter { $0.hasPrefix("rfkill") }
    return switches.contains { entry in
      ["soft", "hard"].contains { kind in
        (try? Files.read("\(folder)/\(entry)/\(kind)", limit: 8192))?.first == UInt8(ascii: "1")
      }
    }
  }

  private static func problem(_ error: SystemError) -> AdapterProblem {
    switch error.code {
    case EAFNOSUPPORT, EPROTONOSUPPORT: .kernelLacksBluetooth
    case EPERM, EACCES: .notPermitted(call: error.call + " " + error.subject)
    default: .system(error)
    }
  }

  /// Gives up for now: what is under way is forgotten, and the adapter is made ready again after a pause.
  func fail(_ problem: AdapterProblem) {
    switch phase {
    case .stopped: return
    case .failed(let earlier):
      // An adapter that is unplugged is first said to be off.
      guard problem.explains(earlier) else { return }
      phase = .failed(problem)
      return handler(.failed(problem))
    case .preparing, .ready: break
    }
    phase = .failed(problem)
    // The management socket stays, so that an adapter that is plugged in is seen at once.
    controller?.close()
    controller = nil
    retry?.set(after: Adapter.pauses[min(max(attempts, 1), Adapter.pauses.count) - 1])
    handler(.failed(problem))
  }

  private func handleManagement(_ bytes: ByteView) {
    guard let event = ManagementEvent(bytes) else { return }
    switch event.content {
    case .commandComplete(let opcode, let status, let parameters):
      _ = management?.answer(opcode, status: status.rawValue, reason: status.description, parameters)
    case .commandStatus(let opcode, let status):
      _ = management?.answer(opcode, status: status.rawValue, reason: status.description, [])
    case .indexAdded:
      if case .failed = phase { retry?.set(after: .milliseconds(100)) }
    case .indexRemoved where event.index == index: fail(.removed(name))
    case .controllerError(let code) where event.index == index: fail(.hardwareError(name, code: code))
    case .newSettings(let settings) where event.index == index:
      if facts != nil, !settings.contains(.powered) { fail(.poweredOff(name)) }
    case .deviceDisconnected(let address, _) where event.index == index: handler(.disconnected(address))
    case .indexRemoved, .controllerError, .newSettings, .deviceDisconnected, .deviceFound, .other: break
    }
  }

  private func handleController(_ bytes: ByteView) {
    switch HCIEvent(bytes) {
    case .commandComplete(let opcode, let status, let parameters):
      let isOurs =
        controller?.answer(opcode, status: status.rawValue, reason: status.description, parameters) ?? false
      if !isOurs, Adapter.scanCommands.contains(opcode) { handler(.scanDisturbed) }
    case .commandStatus(let opcode, let status) where status != .success:
      _ = controller?.answer(opcode, status: status.rawValue, reason: status.description, [])
    case .advertisements(let heard): handler(.heard(heard))
    // The kernel resets the controller by itself; we begin anew.
    case .hardwareError(let code): fail(.hardwareError(name, code: code))
    case .commandStatus, .other, nil: break
    }
  }

  private static let scanCommands: Set<UInt16> = [0x200c, 0x2042]
}
