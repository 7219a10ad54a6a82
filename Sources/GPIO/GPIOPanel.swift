import Glibc
import Kernel
import Panel

/// The panel on the lines of a gpiochip: lamps, buzzer, relay, and inputs.
///
/// All lines are requested when it opens, each once, with direction, polarity and the inactive level in one call, and held
/// until `close`. So no line is ever active that `apply` did not make active; `close` makes them inactive before it lets
/// them go. What a pin does after that, or after a crash, is a matter of the kernel and the board (see board/).
///
/// Used on the loop's thread only. Events come in a turn of the loop of their own, never from inside a call.
package final class GPIOPanel {
  /// What happened to it.
  package enum Event: Equatable, Sendable {
    /// It cannot be used any more. Every line was made inactive, as far as that worked, and released: open a new one.
    case unavailable(PanelError)
    /// These lamps (or the buzzer) are not there, everything else is. Said for each change; tried again by itself.
    case lampsUnavailable([PanelError])
    /// All lamps are there again.
    case lampsRestored
    /// An input has a new level, debounced.
    case input(InputRole, isActive: Bool)
  }

  /// From one look at the lines, and one try at those that are missing, to the next.
  package static let probeInterval = Duration.seconds(2)

  private struct Group {
    let roles: [OutputRole]
    var lines: (any HeldLines)?
    /// Why there are none.
    var problem: PanelError?
  }

  private final class Input {
    let role: InputRole
    let lines: any HeldLines
    var debounce: Debounce
    var watch: EventLoop.Watch?
    var timer: EventLoop.Timer?

    init(_ role: InputRole, _ lines: any HeldLines, _ debounce: Debounce) {
      self.role = role
      self.lines = lines
      self.debounce = debounce
    }
  }

  private let settings: LineSettings
  private let source: any LineSource
  private let loop: EventLoop
  private let handler: (Event) -> Void
  private var groups: [Group] = []
  private var inputs: [Input] = []
  private var sequence = OutputSequence([])
  private var wanted = PanelLines()
  private var events: [Event] = []
  private var reportTimer: EventLoop.Timer?
  private var probeTimer: EventLoop.Timer?
  private var isClosed = false
  /// Where each role's line was found.
  package private(set) var found: FoundLines

  /// Finds and requests all lines. A lamp that somebody else holds keeps it from opening only where the settings say so.
  package convenience init(
    _ settings: LineSettings, on loop: EventLoop, handler: @escaping (Event) -> Void
  ) throws(PanelError) {
    try self.init(settings, source: GPIODevices(), on: loop, handler: handler)
  }

  init(
    _ settings: LineSettings, source: any LineSource, on loop: EventLoop, handler: @escaping (Event) -> Void
  ) throws(PanelError) {
    self.settings = settings
    self.source = source
    self.loop = loop
    self.handler = handler
    found = try GPIOPanel.find(settings, source: source)
    do throws(PanelError) {
      try requestOutputs()
      try requestInputs()
    } catch {
      close()
      throw error
    }
    sequence = OutputSequence(groups.map(\.roles))
    reportTimer = loop.timer("panel events") { [weak self] in self?.report() }
    probeTimer = loop.timer("panel lines") { [weak self] in self?.probe() }
    probeTimer?.set(after: GPIOPanel.probeInterval)
    reportLamps()
  }

  deinit { close() }

  /// Where the lines are and who holds them, without requesting any.
  package static func find(_ settings: LineSettings) throws(PanelError) -> FoundLines {
    try find(settings, source: GPIODevices())
  }

  /// The library at work: `libgpiod 1.6.3`.
  package static var library: String { GPIODevices.library }

  /// Brings every line to its level of this state, with one call for each group that changes: the relay first when it
  /// goes inactive, last when it goes active. The relay is active only after a state in which it is not: whoever opens a
  /// panel again in the middle of a pulse does not open the door again. After `close`, or once it is unavailable,
  /// nothing happens.
  package func apply(_ state: PanelState) {
    wanted = state.lines
    applyWanted()
  }

  /// The debounced level of an input; nil where there is none.
  package func isActive(_ role: InputRole) -> Bool? { inputs.first { $0.role == role }?.debounce.level }

  /// Why lamps are missing now.
  package var missingLamps: [PanelError] { groups.compactMap(\.problem) }

  /// Makes every output inactive, the relay first, and releases all lines. Doing it twice is harmless.
  package func close() {
    guard !isClosed else { return }
    isClosed = true
    reportTimer?.cancel()
    probeTimer?.cancel()
    for input in inputs {
      if let watch = input.watch { loop.remove(watch) }
      input.timer?.cancel()
      input.lines.release()
    }
    inputs = []
    // The relay's group is the first. A line whose device is gone cannot be set, and need not be.
    for group in groups { try? group.lines?.set(group.roles.map { _ in false }) }
    for group in groups { group.lines?.release() }
    groups = []
  }

  // MARK: Opening

  private static func find(_ settings: LineSettings, source: any LineSource) throws(PanelError) -> FoundLines {
    let list: ChipList
    do throws(SystemError) { list = try source.chips() } catch { throw .failed(fact: "panel", error) }
    return try LineResolution.find(settings, in: list)
  }

  private struct LampKind: Hashable {
    let path: String
    let isActiveLow: Bool
  }

  private func requestOutputs() throws(PanelError) {
    if found.outputs[.relay] != nil {
      groups.append(Group(roles: [.relay], lines: try request([.relay])))
      try checkRelay()
    }
    var lamps: [(kind: LampKind, roles: [OutputRole])] = []
    for role in OutputRole.allCases where role != .relay {
      guard let line = found.outputs[role], let wish = settings.outputs[role] else { continue }
      let kind = LampKind(path: line.path, isActiveLow: wish.isActiveLow)
      if let index = lamps.firstIndex(where: { $0.kind == kind }) {
        lamps[index].roles.append(role)
      } else {
        lamps.append((kind, [role]))
      }
    }
    for (_, roles) in lamps { try requestLamps(roles) }
  }

  /// All in one request; each alone when that fails, so that one line in use does not darken the others.
  private func requestLamps(_ roles: [OutputRole]) throws(PanelError) {
    do throws(PanelError) {
      groups.append(Group(roles: roles, lines: try request(roles)))
    } catch {
      if roles.count > 1 {
        for role in roles { try requestLamps([role]) }
      } else {
        guard settings.busyLamp == .goOn else { throw error }
        groups.append(Group(roles: roles, problem: error))
      }
    }
  }

  /// Throws when the relay's line is active and must not be, also after it was set once more.
  private func checkRelay() throws(PanelError) {
    guard !sequence.isRelayActive, let lines = groups.first(where: { $0.roles == [.relay] })?.lines,
      let line = found.outputs[.relay]
    else { return }
    do throws(SystemError) {
      guard try lines.get().contains(true) else { return }
      try lines.set([false])
      // A filter on the line takes its time to follow.
      for _ in 0..<5 {
        guard try lines.get().contains(true) else { return }
        usleep(1000)
      }
    } catch {
      throw .failed(fact: OutputRole.relay.fact, error)
    }
    throw .relayStuck(fact: OutputRole.relay.fact, line: line.title)
  }

  /// Requests lines of one chip and one polarity.
  private func request(_ roles: [OutputRole]) throws(PanelError) -> any HeldLines {
    let lines = roles.compactMap { found.outputs[$0] }
    guard let role = roles.first, let line = lines.first, let wish = settings.outputs[role] else {
      throw .failed(fact: "panel", SystemError("request", code: EINVAL))
    }
    do throws(SystemError) {
      return try source.outputs(
        line.path, lines.map(\.offset), isActiveLow: wish.isActiveLow, consumer: settings.consumer)
    } catch {
      throw refusal(error, fact: role.fact, line)
    }
  }

  private func requestInputs() throws(PanelError) {
    for role in InputRole.allCases {
      guard let line = found.inputs[role], let wish = settings.inputs[role] else { continue }
      do throws(SystemError) {
        let lines = try source.input(
          line.path, line.offset, isActiveLow: wish.isActiveLow, bias: wish.bias, consumer: settings.consumer)
        let level = try lines.get().first ?? false
        let input = Input(role, lines, Debounce(level: level, interval: wish.debounce))
        inputs.append(input)
        input.timer = loop.timer("panel \(role.rawValue)") { [weak self, weak input] in
          if let input { self?.look(at: input, isEdge: false) }
        }
        input.watch = try loop.watch(raw: lines.descriptor, for: .read) { [weak self, weak input] _ in
          if let input { self?.look(at: input, isEdge: true) }
        }
      } catch {
        throw refusal(error, fact: role.fact, line)
      }
    }
  }

  private func refusal(_ error: SystemError, fact: String, _ line: FoundLine) -> PanelError {
    switch error.code {
    case EBUSY: .lineBusy(fact: fact, line: line.title, consumer: consumer(of: line))
    case EACCES, EPERM: .chipDenied(fact: fact, path: line.path)
    default: .failed(fact: fact, error)
    }
  }

  /// Who holds the line now: it may have been taken since it was found.
  private func consumer(of line: FoundLine) -> String {
    let chip = try? source.chips().chips.first { $0.path == line.path }
    guard let chip, chip.lines.indices.contains(Int(line.offset)) else { return line.consumer }
    return chip.lines[Int(line.offset)].consumer
  }

  // MARK: Outputs

  private func applyWanted() {
    guard !isClosed else { return }
    for step in sequence.steps(to: wanted) {
      guard let lines = groups[step.group].lines else { continue }
      do throws(SystemError) {
        try lines.set(step.levels)
      } catch {
        lose(step.group, error)
        if isClosed { return }
      }
    }
  }

  /// A group failed at work: without a lamp the panel may go on, without the relay it does not.
  private func lose(_ index: Int, _ error: SystemError) {
    let roles = groups[index].roles
    let problem = PanelError.failed(fact: roles.first?.fact ?? "panel", error)
    guard settings.busyLamp == .goOn, roles != [.relay] else { return fail(problem) }
    groups[index].lines?.release()
    groups[index].lines = nil
    groups[index].problem = problem
    reportLamps()
  }

  private func fail(_ error: PanelError) {
    guard !isClosed else { return }
    close()
    events = [.unavailable(error)]
    reportTimer?.set(after: .zero)
  }

  // MARK: Inputs

  private func look(at input: Input, isEdge: Bool) {
    guard !isClosed else { return }
    do throws(SystemError) {
      if isEdge { try input.lines.drain() }
      let level = try input.lines.get().first ?? false
      let isNew = isEdge ? input.debounce.edge(to: level, at: .now) : input.debounce.look(at: level, .now)
      if isNew { tell(.input(input.role, isActive: level)) }
      if let deadline = input.debounce.deadline { input.timer?.set(at: deadline) } else { input.timer?.cancel() }
    } catch {
      fail(.failed(fact: input.role.fact, error))
    }
  }

  // MARK: Looking after it

  /// A chip that went away says so only when it is asked. Of the relay it matters as well what the line says.
  private func probe() {
    guard !isClosed else { return }
    probeTimer?.set(after: GPIOPanel.probeInterval)
    for index in groups.indices {
      guard let lines = groups[index].lines else { continue }
      do throws(SystemError) { _ = try lines.get() } catch { lose(index, error) }
      if isClosed { return }
    }
    do throws(PanelError) { try checkRelay() } catch { return fail(error) }
    if groups.contains(where: { $0.problem != nil }) { retryLamps() }
  }

  private func retryLamps() {
    // The chip may have come back under another number.
    if let found = try? GPIOPanel.find(settings, source: source) { self.found = found }
    let before = missingLamps
    for index in groups.indices where groups[index].problem != nil {
      do throws(PanelError) {
        groups[index].lines = try request(groups[index].roles)
        groups[index].problem = nil
        sequence.reset(index)
      } catch {
        groups[index].problem = error
      }
    }
    if missingLamps != before { reportLamps(isRestored: missingLamps.isEmpty) }
    applyWanted()
  }

  private func reportLamps(isRestored: Bool = false) {
    if isRestored { tell(.lampsRestored) } else if !missingLamps.isEmpty { tell(.lampsUnavailable(missingLamps)) }
  }

  private func tell(_ event: Event) {
    events.append(event)
    reportTimer?.set(after: .zero)
  }

  private func report() {
    let events = self.events
    self.events = []
    for event in events { handler(event) }
  }
}
