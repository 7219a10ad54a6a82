import CivilTime
import Camera
import Configuration
import Crypto
import GPIO
import Glibc
import JSON
import Kernel
import KernelBluetooth
import ListCache
import MdocVerification
import Panel
import Pictures
import Policy
import QRScan
import ReaderCore
import SimulatedAir
import TerminalPanel

/// The reader on its board: builds the edges, turns the loop, and carries what the state machine asks for.
///
/// One thread and one loop; pictures are decoded by one worker. Nothing here decides anything about a visitor.
package final class Appliance {
  /// From one look at what is wrong to the next.
  package static let recoveryInterval = Duration.seconds(2)

  private let parts: Parts
  private let loadTrust: @Sendable () -> TrustMaterial
  /// For what has to happen in the reader's own thread.
  package let loop: EventLoop
  private let log: EventLog
  private var reader: Reader
  private var assessor: Assessor
  private var panel: PanelEngine
  private var output: (any PanelOutput)?
  private var radio: (any Radio)?
  private var sight: Sight?
  private var signals: SignalWatch?
  private var deadline: EventLoop.Timer?
  private var panelDeadline: EventLoop.Timer?
  private var recovery: EventLoop.Timer?
  /// Devices that have not said yet how they are, by the fault they would have.
  private var unsettled: Set<Fault> = [.cameraUnavailable, .radioUnavailable]
  private var isStarted = false
  /// Why it ended by itself.
  private var failure: ApplianceError?
  private var trustLoader: TrustLoader?
  private var trustProblems: Set<String> = []
  /// Copies of lists, what they are worth, and what is noted about them.
  private var lists: ListsUnderWatch
  private var listsWatch: FolderWatch?
  private var listsDelay: EventLoop.Timer?
  private var status = ApplianceStatus()
  private var clock: ClockState
  /// Whether the doubt about the clock was recorded.
  private var isClockDoubted = false
  private var clockProblem: String?
  private var pending: [Reader.Input] = []
  private var isDraining = false
  /// Whether calls have left an answer, or pieces of one, on the stack.
  private var isResidueLeft = false
  /// Called after each transaction; the demo and the tests count on it.
  package var onReport: ((TransactionReport) -> Void)?
  /// Called whenever a code may be shown.
  package var onReady: (() -> Void)?
  /// Called with each state of the panel.
  package var onPanel: ((PanelState) -> Void)?

  /// Throws when the log or the loop cannot be had. Cameras and radios that fail are faults, not errors.
  ///
  /// - Parameter loadTrust: gives certificates and lists as they are now: at the start in this thread, later in another.
  package init(_ parts: Parts, loadTrust: @escaping @Sendable () -> TrustMaterial) throws(SystemError) {
    self.parts = parts
    self.loadTrust = loadTrust
    lists = ListsUnderWatch(parts.lists)
    clock = ClockState(file: parts.clockFile, synchronizedFile: parts.synchronizedFile)
    loop = try EventLoop()
    log = try EventLog(parts.events)
    reader = Reader(
      settings: Reader.Settings(
        requests: parts.template.itemsRequests, timeouts: parts.timeouts,
        messageSize: parts.messageSize, display: parts.signals.display, signer: parts.signer)
    ) { curve throws(CryptoError) in try PrivateKey.generate(curve) }
    panel = PanelEngine(relayPulse: parts.signals.relayPulse, hasBuzzer: parts.signals.hasBuzzer)
    assessor = Assessor(
      verifier: Verifier(anchors: [], policy: parts.verification), template: parts.template)
  }

  // MARK: Running

  /// Throws where the board's facts are wrong: no waiting makes them right. Devices that fail are faults; a gpiochip that is
  /// not there is one too, for a while (`LinePanel.patience`).
  ///
  /// Serves until SIGTERM, SIGINT or `stop`; SIGHUP loads the trusted certificates again.
  package func run() throws(ApplianceError) {
    ProcessFacts.boundKeptMemory()
    do throws(SystemError) {
      signals = try SignalWatch(on: loop) { [weak self] number in
        if number == SIGHUP { self?.trustLoader?.load() } else { self?.stop() }
      }
    } catch {
      throw .system(error)
    }
    deadline = loop.timer("reader") { [weak self] in self?.feed(.tick) }
    panelDeadline = loop.timer("panel") { [weak self] in self?.advancePanel() }
    recovery = loop.timer("recovery") { [weak self] in self?.lookAfterFaults() }
    record("starting")
    for remark in parts.remarks { record("remark", [.init("detail", .string(remark))]) }
    try openPanel()
    show(.starting)
    checkClock()
    do throws(SystemError) {
      trustLoader = try TrustLoader(on: loop, load: loadTrust) { [weak self] in self?.take($0) }
    } catch {
      throw .system(error)
    }
    listsDelay = loop.timer("lists") { [weak self] in self?.trustLoader?.load() }
    watchLists()
    // What comes from now on is heard of; what is there is loaded at once.
    listsDelay?.cancel()
    // Before the devices: those that answer at once would start a reader that trusts nobody.
    take(loadTrust())
    openDevices()
    recovery?.set(after: Appliance.recoveryInterval)
    // Whatever ends the loop, the relay is inactive when this returns.
    defer { close() }
    do throws(SystemError) {
      try loop.run()
    } catch {
      throw .system(error)
    }
    if let failure { throw failure }
  }

  /// Ends the service in an orderly way: the relay is inactive before this returns.
  package func stop() {
    feed(.stop)
    loop.stop()
  }

  /// The reader starts once each device has said how it is: until then `starting` is shown, not a fault.
  private func settled(_ device: Fault) {
    unsettled.remove(device)
    startWhenSettled()
  }

  private func startWhenSettled() {
    guard !isStarted, unsettled.isEmpty else { return }
    isStarted = true
    feed(.started)
  }

  /// Every device that fails is a fault, looked at again until it is well.
  private func openDevices() {
    let sight = Sight(parts.camera, on: loop) { [weak self] in
      self?.reader.isReady ?? false
    } handler: { [weak self] in
      self?.sightEvent($0)
    }
    self.sight = sight
    sight.openDecoder()
    switch parts.radio {
    case .air(let folder):
      radio = SimulatedRadio(
        folder: folder, messageLimit: parts.messageSize, usesChannels: parts.usesL2CAP, on: loop
      ) { [weak self] in
        self?.radioEvent($0)
      }
    case .bluetooth(let adapter):
      var settings = AdapterSettings()
      settings.name = adapter
      settings.usesChannels = parts.usesL2CAP
      radio = BluetoothRadio(settings, messageLimit: parts.messageSize, on: loop) { [weak self] in
        self?.radioEvent($0)
      }
    }
    radio?.start()
    sight.openCamera()
  }

  private func openPanel() throws(ApplianceError) {
    switch parts.panel {
    case .terminal(let descriptor): output = TerminalOutput(descriptor: descriptor)
    case .gpio(let facts):
      do throws(PanelError) {
        output = try LinePanel(LineSettings(facts), on: loop) { [weak self] in self?.panelEvent($0) }
      } catch {
        throw ApplianceError(error)
      }
    }
  }

  private func panelEvent(_ event: PanelEvent) {
    switch event {
    case .fault(let reason): raise(.panelUnavailable, reason)
    case .recovered: clear(.panelUnavailable)
    case .hopeless(let error):
      failure = ApplianceError(error)
      stop()
    case .note(let event, let detail): record(event, [.init("detail", .string(detail))])
    case .input(let name, let isActive):
      record("input", [.init("name", .string(name)), .init("active", .bool(isActive))])
    }
  }

  /// Looks now and then whether what is wrong is well again: a clock that was set, a folder that came back.
  private func lookAfterFaults() {
    recovery?.set(after: Appliance.recoveryInterval)
    checkClock()
    if status.faults[.radioUnavailable] != nil { radio?.lookAgain() }
    output?.lookAgain()
    if status.faults[.trustEmpty] != nil { trustLoader?.load() }
    sight?.lookAgain()
    watchLists()
    judgeHealth()
  }

  /// The door first. Decoder and camera last: a thread of theirs that does not come back holds up nothing but the end of the
  /// process, and a second signal ends that.
  private func close() {
    output?.close()
    radio?.stop()
    // What is doubted is not in it.
    clock.keepAtEnd()
    record("stopped")
    status.state = "stopped"
    writeStatus()
    signals?.cancel()
    listsWatch?.cancel()
    noteLists()
    trustLoader?.stop()
    sight?.close()
    log.close()
  }

  /// One snapshot takes the place of the one before as a whole, between two answers.
  private func take(_ material: TrustMaterial) {
    // Looked at again every few seconds while nobody is trusted: said once.
    let isNews = !(material.isEmpty && status.faults[.trustEmpty] != nil)
    if isNews {
      // A reader whose lists are refreshed loads often: what was said is not said again.
      for problem in material.problems where !trustProblems.contains(problem) {
        record("trustProblem", [.init("problem", .string(problem))])
      }
      record(
        "trustLoaded",
        [
          .init("anchors", .integer(material.anchors.count)), .init("signers", .integer(material.signers.count)),
          .init("lists", .integer(material.lists.count { $0.copy != nil })),
        ])
    }
    trustProblems = Set(material.problems)
    assessor = Assessor(
      verifier: Verifier(
        anchors: material.anchors, trustedSigners: material.signers, policy: parts.verification,
        revocation: material.revocation, statuses: material.statuses),
      template: parts.template)
    status.anchors = material.anchors.count
    if material.isEmpty {
      raise(.trustEmpty, "nobody is trusted")
    } else {
      clear(.trustEmpty)
    }
    lists.take(material)
    judgeHealth()
  }

  // MARK: Lists

  /// The folder may come late, or be made anew.
  private func watchLists() {
    guard listsWatch == nil, let folder = parts.lists.folder else { return }
    listsWatch = try? FolderWatch(folder, on: loop) { [weak self] event in
      switch event {
      case .folderGone:
        self?.listsWatch = nil
        self?.listsChanged()
      case .overflow: self?.listsChanged()
      case .movedIn(let name), .written(let name), .removed(let name):
        if ListCache.isEntry(name) { self?.listsChanged() }
      case .created, .touched: break
      }
    }
    // What came before the watch
    if listsWatch != nil { listsChanged() }
  }

  /// A refresh changes one file after another: they are loaded together.
  private func listsChanged() { listsDelay?.set(after: .milliseconds(250)) }

  /// How old everything is, and what that costs.
  private func judgeHealth() {
    let now = UnixTime.wallClock()
    // A wrong clock makes everything old.
    guard status.faults[.clockUntrusted] == nil, !isClockDoubted else { return }
    for event in lists.judge(at: now) { record(event.name, event.members) }
    status.lists = lists.members
    if let detail = lists.fault { raise(.listsStale, detail) } else { clear(.listsStale) }
    noteLists()
  }

  /// Writes down what was learnt, beside the loop.
  private func noteLists() {
    guard let file = parts.lists.notesFile, let notes = lists.unwrittenNotes() else { return }
    trustLoader?.perform { try? notes.write(to: file) }
  }

  /// A clock before this version was made, or one that went back, cannot be right; nothing can be verified by it.
  private func checkClock() {
    let now = UnixTime.wallClock()
    let doubt = clock.doubt(about: now, at: .now)
    if clock.problem != clockProblem {
      clockProblem = clock.problem
      if let problem = clock.problem { record("clockProblem", [.init("problem", .string(problem))]) }
    }
    guard let doubt else {
      isClockDoubted = false
      return clear(.clockUntrusted)
    }
    // The doubt names the time of now: said once, not at each look.
    guard !isClockDoubted else { return }
    isClockDoubted = true
    switch parts.clock {
    case .fault: raise(.clockUntrusted, doubt)
    case .warn: record(Fault.clockUntrusted.rawValue, [.init("detail", .string(doubt))])
    }
  }

  // MARK: Devices

  private func sightEvent(_ event: Sight.Event) {
    switch event {
    case .code(let code, let captured): feed(.code(code, capturedAt: captured))
    case .problem(let problem?): raise(.cameraUnavailable, problem)
    case .problem(nil): clear(.cameraUnavailable)
    case .settled: settled(.cameraUnavailable)
    case .note(let event, let detail): record(event, [.init("detail", .string(detail))])
    }
  }

  private func radioEvent(_ event: RadioEvent) {
    switch event {
    case .link(let id, let event): feed(.link(id, event))
    case .fault(let reason):
      raise(.radioUnavailable, reason)
      settled(.radioUnavailable)
    case .ready:
      clear(.radioUnavailable)
      settled(.radioUnavailable)
    }
  }

  // MARK: The state machine

  private func feed(_ input: Reader.Input) {
    pending.append(input)
    // What an output causes at once waits for the outputs before it.
    guard !isDraining else { return }
    isDraining = true
    defer { isDraining = false }
    while !pending.isEmpty {
      reader.handle(pending.removeFirst(), at: .now)
      while let output = reader.nextOutput() { perform(output) }
    }
    // An answer has been judged, in calls of this one.
    if isResidueLeft {
      isResidueLeft = false
      ProcessFacts.wipeStack()
    }
  }

  private func perform(_ output: Reader.Output) {
    switch output {
    case .openRadio(let plan): radio?.open(plan)
    case .keep(let link): radio?.keep(link)
    case .send(let link, let message): radio?.send(message, on: link)
    case .finish(let link): radio?.finish(link)
    case .closeRadio: radio?.close()
    case .evaluate(let evaluation):
      // A doubt is fed before the assessment.
      checkClock()
      pending.append(.assessed(assess(evaluation)))
    case .show(let signal): show(signal)
    case .report(let report): take(report)
    case .codeRefused(let reason):
      status.lastRefusal = reason
      record("codeRefused", [.init("reasons", .array([.string(reason)]))])
    case .ready:
      checkClock()
      record("ready")
      onReady?()
      sight?.lookAtCurrent()
    case .wake(let instant): deadline?.set(at: instant)
    }
  }

  private func assess(_ evaluation: Evaluation) -> Assessment {
    isResidueLeft = true
    let now = UnixTime.wallClock()
    let (assessment, named) = assessor.assess(evaluation, at: now, utcOffsetSeconds: Assessor.localOffset(at: now))
    // Written down at the next look at what is wrong, when nobody waits.
    lists.note(named)
    return lists.refusing(assessment)
  }

  private func take(_ report: TransactionReport) {
    record("transaction", report.members)
    status.count(report)
    writeStatus()
    onReport?(report)
  }

  // MARK: Faults, panel, records

  private func raise(_ fault: Fault, _ detail: String) {
    // Another reason for a fault that stands is news for the technician, not for the machine.
    guard status.faults[fault] != detail else { return }
    status.faults[fault] = detail
    record("fault", [.init("reasons", .array([.string(fault.rawValue)])), .init("detail", .string(detail))])
    writeStatus()
    feed(.fault(fault))
  }

  private func clear(_ fault: Fault) {
    guard status.faults.removeValue(forKey: fault) != nil else { return }
    record("faultCleared", [.init("reasons", .array([.string(fault.rawValue)]))])
    writeStatus()
    feed(.faultCleared(fault))
  }

  private func show(_ signal: Signal) {
    status.state = signal.rawValue
    panel.show(signal, at: .now)
    applyPanel()
    writeStatus()
  }

  private func advancePanel() {
    panel.advance(to: .now)
    applyPanel()
  }

  private func applyPanel() {
    output?.show(panel.state)
    onPanel?(panel.state)
    if let next = panel.deadline { panelDeadline?.set(at: next) } else { panelDeadline?.cancel() }
  }

  private func record(_ event: String, _ members: [JSONValue.Member] = []) {
    log.write(event, at: .wallClock(), members)
  }

  private func writeStatus() {
    guard let path = parts.statusFile else { return }
    let text = status.document(at: .wallClock()).text + "\n"
    do throws(SystemError) {
      // What the reader is doing is lost with a power cut anyway.
      try AtomicFile.write(text.utf8, to: path, waitsForDisk: false)
    } catch {
      guard !status.isUnwritable else { return }
      status.isUnwritable = true
      record("statusUnwritable", [.init("problem", .string(error.description))])
    }
  }
}
