import Appliance
import Camera
import CivilTime
import Commands
import Crypto
import GPIO
import Glibc
import JSON
import Kernel
import KernelBluetooth
import ListCache
import TrustStore

/// `check`: configuration, trust, board and clock as a list of pass and fail, each fail with its remedy.
enum CheckCommand {
  static let verb = Verb(
    name: "check", summary: "Check configuration, board, trust, devices and clock; say what to do about each fault.",
    usage: "check [--config FILE] [--json]", options: [Site.option, .json], operandLimit: 0,
    run: { try run($0, console: $1) })

  private static func run(_ arguments: Arguments, console: Console) throws -> Int32 {
    var list = CheckList()
    do {
      let site = try Site(arguments)
      list.pass("configuration", site.path)
      list.pass("board", "\(site.board.name), \(site.boardPath)")
      checkTrust(site, &list)
      checkReaderAuthentication(site, &list)
      checkCamera(site, &list)
      try checkRadio(site, &list)
      checkPanel(site, &list)
      checkFolder("status", Files.folder(of: site.statusFile), "folder of the status file", &list)
      if case .file(let path) = site.events {
        checkFolder("events", Files.folder(of: path), "folder of the events", &list)
      }
      checkClock(site, &list)
    } catch let error as FileFaults {
      for fault in error.faults { list.fail("configuration", fault.text, fault.remedy) }
    }
    checkLibrary(&list)
    if arguments.has("--json") { console.data(list.document.text) } else { console.data(text: list.text) }
    return list.hasFailure ? 1 : 0
  }

  private static func checkTrust(_ site: Site, _ list: inout CheckList) {
    let lists = CachedListReader(ListCache(folder: site.cacheFolder)).load()
    let contents = site.trustContents(with: lists)
    let now = UnixTime.wallClock()
    for problem in contents.problems {
      problem.isMinor
        ? list.warn("trust", "\(problem)", problem.hint) : list.fail("trust", "\(problem)", problem.hint)
    }
    switch contents.state {
    case .missing, .empty:
      list.fail(
        "trust", "\(site.trustFolder): nobody is trusted", "add the root of your issuer: mdoc-reader trust add FILE")
    case .unreadable(let error):
      list.fail("trust", "\(site.trustFolder): \(error.reason)", "check the folder's owner and mode")
    case .loaded where contents.trustsNobody:
      list.fail(
        "trust", "\(site.trustFolder): nobody is trusted",
        "add the root of your issuer with mdoc-reader trust add FILE, or import a list of issuers")
    case .loaded:
      list.pass("trust", "\(contents.certificates.count) certificates in \(site.trustFolder)")
    }
    for stored in contents.lists {
      let name = "issuer list \(stored.name)"
      let text = "\(stored.list.entries.count) roots, issued \(stored.list.age(at: now)) days ago"
      if stored.list.isStale(at: now) {
        list.warn(
          "trust", "\(name): \(text), its provider has a newer one",
          stored.isFetched ? "mdoc-reader refresh" : "mdoc-reader trust import FILE")
      } else {
        list.pass("trust", "\(name): \(text)")
      }
    }
    for stored in contents.certificates {
      let name = "\(stored.fingerprint.prefix(16)) \(stored.certificate.subject)"
      let state = TrustCommand.state(of: stored, at: now)
      switch stored.validity(at: now) {
      case .valid(let days) where days > 60: break
      case .valid: list.warn("trust", "\(name): \(state)", "ask the issuer for its next root and add it in time")
      case .notYet, .expired: list.fail("trust", "\(name): \(state)", "remove it, and add the root that is valid now")
      }
    }
    checkLists(site, contents, lists, &list)
  }

  /// Reads certificate and key as the service would, and lints the certificate.
  private static func checkReaderAuthentication(_ site: Site, _ list: inout CheckList) {
    let what = "reader certificate"
    guard let authentication = site.configuration.readerAuthentication else {
      return list.pass(what, "none: requests are not signed")
    }
    do throws(ReaderCredentialProblem) {
      let credential = try site.readCredential(authentication)
      list.pass(what, "\(credential.certificate.subject), until \(credential.certificate.notAfter)")
      if case .file(let key) = authentication.key, geteuid() == 0,
        let facts = try? Files.facts(key.resolved(in: Files.folder(of: site.path))), facts.owner == 0,
        facts.mode & 0o040 == 0 || facts.group == 0
      {
        list.warn(
          what, "\(key.text): only root may read the key, and the service is another user",
          "chown root:mdoc-reader and chmod 0640, where the service runs as mdoc-reader")
      }
      for finding in credential.findings(at: .wallClock()) {
        let remedy = "ask the reader CA for a certificate of the right profile (README, Reader authentication)"
        if finding.isHard { list.fail(what, finding.text, remedy) } else { list.warn(what, finding.text, remedy) }
      }
    } catch {
      list.fail(what, "\(error)", error.remedy)
    }
  }

  /// Opens the camera as the service would, without starting it.
  private static func checkCamera(_ site: Site, _ list: inout CheckList) {
    switch site.camera {
    case .pictures(let folder): checkFolder("camera", folder, "pictures of the simulated board", &list)
    case .v4l2(let facts):
      let settings = CameraSettings(facts)
      do throws(CameraProblem) {
        let controls = try V4L2Camera.check(settings)
        list.pass("camera", "\(settings.camera)")
        for warning in controls.compactMap(\.warning) {
          list.warn("camera", warning, "correct or remove it in \(site.boardPath)")
        }
      } catch {
        list.fail("camera", "\(error)", error.remedy)
      }
    }
  }

  /// Makes the adapter ready as the service would, advertises and listens for a second.
  private static func checkRadio(_ site: Site, _ list: inout CheckList) throws {
    switch site.radio {
    case .air(let folder): checkFolder("radio", folder, "sockets of the simulated board", &list)
    case .bluetooth(let adapter):
      var settings = AdapterSettings()
      settings.name = adapter
      list.add(try AdapterTest.run(settings, listeningFor: .seconds(1)))
    }
  }

  /// Looks for the lines without touching any.
  private static func checkPanel(_ site: Site, _ list: inout CheckList) {
    guard case .gpio(let facts) = site.panel else { return list.pass("panel", "the terminal") }
    do throws(PanelError) {
      let found = try GPIOPanel.find(LineSettings(facts))
      let held = (Array(found.outputs.values) + found.inputs.values).filter(\.isUsed)
      list.pass("panel", "\(found.outputs.count + found.inputs.count) lines, \(GPIOPanel.library)")
      if found.outputs[.relay] == nil {
        list.warn("panel", "no line is the relay: no door opens", "add relay to [panel.lines] of \(site.boardPath)")
      }
      for line in held {
        list.warn(
          "panel", "\(line.title) is held by \(line.consumer.isEmpty ? "the kernel" : line.consumer)",
          "well if that is the running reader; otherwise end it")
      }
    } catch {
      list.fail("panel", "\(error)", error.remedy)
    }
  }

  private static func checkFolder(_ what: String, _ path: String, _ purpose: String, _ list: inout CheckList) {
    do throws(SystemError) {
      guard try Files.facts(path).kind == .folder else {
        return list.fail(what, "\(path): not a folder", "make it: \(purpose)")
      }
      _ = try Files.list(path)
      list.pass(what, path)
    } catch {
      list.fail(what, "\(path): \(error.reason)", "make it, readable for the reader's user: \(purpose)")
    }
  }

  private static func checkClock(_ site: Site, _ list: inout CheckList) {
    let now = UnixTime.wallClock()
    var state = ClockState(file: site.clockFile, synchronizedFile: site.synchronizedFile)
    if let problem = state.problem {
      list.warn("clock", problem, "mdoc-reader clock accept, once the clock is right")
    }
    if !Files.exists(Files.folder(of: site.clockFile)) {
      list.warn(
        "clock", "\(Files.folder(of: site.clockFile)): no such folder: the time is not kept over power cuts",
        "make it, writable for the reader's user, or name another as file in [clock]")
    }
    if let doubt = state.doubtWithoutKeeping(about: now) {
      return list.fail(
        "clock", doubt, "set the clock, or let it synchronise; a battery clock keeps it over power cuts")
    }
    list.pass("clock", "\(now), \(state.isSynchronized ? "set by a time server" : "not set by a time server")")
  }

  private static func checkLibrary(_ list: inout CheckList) {
    if let fault = CryptoLibrary.fault(of: openSSLVersion) {
      list.fail("library", fault, CryptoLibrary.remedy)
    } else {
      list.pass("library", CryptoLibrary.title(openSSLVersion))
    }
  }
}

/// The one library in which a known fault stops the reader: it parses what strangers send.
enum CryptoLibrary {
  typealias Version = (major: Int, minor: Int, patch: Int)
  static let remedy = "install the security updates"

  static func title(_ version: Version) -> String { "OpenSSL \(version.major).\(version.minor).\(version.patch)" }

  /// What is wrong with a version, for people; nil for one that will do.
  static func fault(of version: Version) -> String? {
    // Before 3.0.7, names in certificates could overrun a buffer (CVE-2022-3602, CVE-2022-3786).
    (version.major, version.minor, version.patch) < (3, 0, 7)
      ? "\(title(version)) has known faults with names in certificates" : nil
  }
}

/// The findings of `check`, in order.
struct CheckList {
  enum Outcome: String {
    case pass
    case warn
    case fail
  }

  private struct Row {
    let outcome: Outcome
    let what: String
    let detail: String
    let remedy: String?
  }

  private var rows: [Row] = []

  var hasFailure: Bool { rows.contains { $0.outcome == .fail } }

  mutating func pass(_ what: String, _ detail: String) {
    rows.append(Row(outcome: .pass, what: what, detail: detail, remedy: nil))
  }

  mutating func warn(_ what: String, _ detail: String, _ remedy: String) {
    rows.append(Row(outcome: .warn, what: what, detail: detail, remedy: remedy))
  }

  mutating func fail(_ what: String, _ detail: String, _ remedy: String) {
    rows.append(Row(outcome: .fail, what: what, detail: detail, remedy: remedy))
  }

  var text: String {
    let width = rows.map(\.what.count).max() ?? 0
    return rows.map { row in
      let padding = String(repeating: " ", count: width - row.what.count)
      let line = "\(row.outcome.rawValue)  \(row.what)\(padding)  \(row.detail)\n"
      return line + (row.remedy.map { String(repeating: " ", count: width + 8) + $0 + "\n" } ?? "")
    }.joined()
  }

  var document: JSONValue {
    .array(
      rows.map { row in
        .object([
          "outcome": .string(row.outcome.rawValue), "what": .string(row.what), "detail": .string(row.detail),
          "remedy": row.remedy.map(JSONValue.string),
        ])
      })
  }
}
