import Camera
import Commands
import JSON
import Kernel
import Pictures

/// `camera`: proves the camera alone.
enum CameraCommand {
  static let verb = Verb(
    name: "camera", summary: "Show which cameras there are, or what one of them delivers.",
    usage: "camera [DEVICE] [--list] [--snapshot FILE] [--seconds N] [--size WIDTHxHEIGHT] [--json]",
    options: [
      CommandOption("--list", "list all nodes, with formats and controls"),
      CommandOption("--snapshot", "FILE", "write the last picture as PNG (PGM when the name ends so)"),
    ] + LiveScan.options + [.json], operandLimit: 1, run: { try run($0, console: $1) })

  private static func run(_ arguments: Arguments, console: Console) throws -> Int32 {
    if arguments.has("--list") { return try list(arguments, console: console) }
    let settings = try LiveScan.settings(arguments.operands.first, arguments)
    let live = try LiveScan(settings, console: console)
    try live.run(seconds: arguments.integer("--seconds", in: 1...3600) ?? 5)
    if let path = arguments["--snapshot"], let picture = live.picture {
      do throws(PictureFileError) {
        try PictureFile.write(picture, to: path)
      } catch {
        throw CommandError.failure("--snapshot", "\(error)", hint: "name a file in a folder that can be written")
      }
      console.remark("snapshot written to \(path)")
    }
    if arguments.has("--json") {
      console.data(document(live).text)
    } else {
      for line in lines(live) { console.data(line) }
    }
    return 0
  }

  private static func lines(_ live: LiveScan) -> [String] {
    let statistics = live.statistics
    var lines: [String] = []
    if let facts = live.facts {
      lines += ["camera    \(facts.title)", "format    \(facts.stream)"]
      for case .set(let id, let value) in facts.controls { lines.append("control   \(id) \(value)") }
    }
    lines += [
      "pictures  \(live.frames), \(LiveScan.thousandths(live.rate)) a second, \(live.age.formatted) old on arrival",
      "dropped   \(statistics.bad) bad, \(statistics.replaced) replaced by newer ones, \(statistics.stale) too old",
      "decoding  \(live.decoding.formatted) a picture",
      "codes     \(live.codes.count), in \(live.finds) pictures",
    ]
    return lines
  }

  private static func document(_ live: LiveScan) -> JSONValue {
    let facts = live.facts
    let statistics = live.statistics
    return .object([
      "node": facts.map { .string($0.node) }, "card": facts.map { .string($0.card) },
      "driver": facts.map { .string($0.driver) }, "format": facts.map { .string($0.format.description) },
      "width": facts.map { .integer($0.size.width) }, "height": facts.map { .integer($0.size.height) },
      "pictures": .integer(live.frames), "millihertz": .integer(live.rate), "bad": .integer(statistics.bad),
      "replaced": .integer(statistics.replaced), "stale": .integer(statistics.stale),
      "openings": .integer(statistics.openings), "codes": .integer(live.codes.count),
      "pictures_with_code": .integer(live.finds), "fault": live.lastProblem.map { .string($0.code) },
    ])
  }

  // MARK: --list

  private static func list(_ arguments: Arguments, console: Console) throws -> Int32 {
    let listings = CameraListing.all()
    if arguments.has("--json") {
      for listing in listings { console.data(document(listing).text) }
    } else {
      for listing in listings { for line in lines(listing) { console.data(line) } }
    }
    guard listings.contains(where: { $0.problem == nil }) else {
      throw CommandError.failure(
        "camera", listings.isEmpty ? "none found" : "none that can be used",
        hint: listings.first?.problem?.remedy ?? "plug in a USB camera; see the kernel's log (dmesg)")
    }
    return 0
  }

  private static func lines(_ listing: CameraListing) -> [String] {
    var lines = ["\(listing.node)  " + (listing.facts.map { "\($0.card) (\($0.driver), \($0.bus))" } ?? "?")]
    lines += listing.links.map { "  link     \($0)" }
    lines.append("  use      " + (listing.problem.map { "no: \($0.reason)" } ?? "yes"))
    lines += listing.formats.map {
      "  format   \($0.format) \($0.sizes.text)\($0.format.isUsable ? "" : " (not used)")"
    }
    lines += listing.controls.map { facts, value in
      let range = "\(facts.range.lowerBound) to \(facts.range.upperBound)"
      return "  control  \(facts.id) \(value.map(String.init) ?? "?") (\(range), step \(facts.step))"
    }
    return lines
  }

  private static func document(_ listing: CameraListing) -> JSONValue {
    .object([
      "node": .string(listing.node), "card": listing.facts.map { .string($0.card) },
      "driver": listing.facts.map { .string($0.driver) }, "bus": listing.facts.map { .string($0.bus) },
      "links": .array(listing.links.map { .string($0) }), "usable": .bool(listing.problem == nil),
      "problem": listing.problem.map { .string($0.code) },
      "formats": .array(listing.formats.map { .string($0.format.description) }),
      "controls": .array(listing.controls.map { .string($0.facts.id.description) }),
    ])
  }
}

extension OfferedFormat.Sizes {
  fileprivate var text: String {
    switch self {
    case .discrete(let sizes): sizes.map { "\($0.width)x\($0.height)" }.joined(separator: " ")
    case .range(let smallest, let largest, let step):
      "\(smallest.width)x\(smallest.height) to \(largest.width)x\(largest.height) in steps of \(step.width)x\(step.height)"
    }
  }
}
