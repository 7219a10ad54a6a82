import Appliance
import Bytes
import CivilTime
import Commands
import HTTPFetch
import JSON
import Kernel
import ListCache

/// `refresh`: fetches the lists that are due. The only verb that opens IP sockets.
enum RefreshCommand {
  static let verb = Verb(
    name: "refresh",
    summary: "Fetch the lists that are due: revoked signers, status of documents, issuers; say what changed.",
    usage: "refresh [--config FILE] [--all] [--dry-run] [--json]",
    options: [
      Site.option, CommandOption("--all", "fetch also what is not due"),
      CommandOption("--dry-run", "say what would be fetched, and fetch nothing"), .json,
    ], operandLimit: 0, run: { try run($0, console: $1) })

  private static func run(_ arguments: Arguments, console: Console) throws -> Int32 {
    let site = try Site(arguments)
    let isJSON = arguments.has("--json")
    var clock = ClockWatch()
    if let doubt = clock.doubt(about: .wallClock(), at: .now, isSynchronized: Files.exists(site.synchronizedFile)) {
      throw CommandError.failure("clock", doubt, hint: "set the clock first: dates are compared with it")
    }
    let refresher = try refresher(site, arguments)
    var outcomes: [Refresher.Outcome] = []
    do throws(SystemError) {
      try refresher.run { outcome in
        outcomes.append(outcome)
        if !isJSON { console.data(line(outcome)) }
      }
    } catch {
      throw CommandError.failure(
        error.subject, error.reason,
        hint: "run it as the user that owns \(site.cacheFolder), or correct [refresh] folder")
    }
    if isJSON {
      console.data(JSONValue.array(outcomes.map(document)).text)
    } else if outcomes.isEmpty {
      console.remark(
        "nothing to fetch: no trusted root names a list, no document did, and [refresh] issuer_lists is empty")
    }
    return outcomes.contains { $0.kind == .failed } ? 1 : 0
  }

  private static func refresher(_ site: Site, _ arguments: Arguments) throws -> Refresher {
    var options = Refresher.Options()
    options.all = arguments.has("--all")
    options.isDry = arguments.has("--dry-run")
    options.interval = site.configuration.refresh.interval.components.seconds
    options.allowedHosts = Set(site.configuration.refresh.allowedHosts)
    options.issuerLists = site.configuration.refresh.issuerLists
    let client: HTTPClient
    do throws(FetchFailure) {
      client = try HTTPClient(agent: "mdoc-reader/\(Release.version)")
    } catch {
      throw CommandError.failure("libcurl", error.detail, hint: "install the package libcurl4")
    }
    return Refresher(
      cache: ListCache(folder: site.cacheFolder), loadTrust: { site.trustContents(with: $0) },
      learnt: ReaderNotes(file: site.notesFile).lists, options: options,
      fetch: { request throws(FetchFailure) in
        try client.fetch(
          request.address, accept: request.kind.mediaTypes, validators: request.validators,
          limits: FetchLimits(size: request.kind.maximumSize), mayFollow: { request.allowedHosts.contains($0) })
      }, clock: { .wallClock() })
  }

  private static func line(_ outcome: Refresher.Outcome) -> String {
    func padded(_ text: String, _ width: Int) -> String {
      text + String(repeating: " ", count: max(0, width - text.count))
    }
    var line =
      "\(padded(outcome.kind.rawValue, 10))  \(padded(outcome.source.kind.rawValue, 10))  \(outcome.source.address)"
    if !outcome.reason.isEmpty { line += "  \(outcome.reason)" }
    if !outcome.detail.isEmpty { line += "  \(outcome.detail)" }
    switch outcome.kind {
    case .failed, .waiting: line += outcome.due.map { "  again from \($0)" } ?? ""
    case .notAllowed:
      line +=
        "  add \(WebAddress(outcome.source.address)?.host ?? "its host") to [refresh] allowed_hosts if you know it"
    default: break
    }
    return line
  }

  private static func document(_ outcome: Refresher.Outcome) -> JSONValue {
    .object([
      "outcome": .string(outcome.kind.rawValue), "kind": .string(outcome.source.kind.rawValue),
      "address": .string(outcome.source.address), "reason": outcome.reason.isEmpty ? nil : .string(outcome.reason),
      "detail": outcome.detail.isEmpty ? nil : .string(outcome.detail),
      "due": outcome.due.map { .string($0.description) },
    ])
  }
}
