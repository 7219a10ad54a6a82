import Bytes
import Commands
import JSON
import Mdoc
import Pictures
import QRScan
import ReaderCore

/// `scan`: looks for codes in a picture or through a camera, as the reader does, and says what they are.
enum ScanCommand {
  static let verb = Verb(
    name: "scan", summary: "Look for codes in a picture (PNG or PGM), or through a camera, and say what they are.",
    usage: "scan [FILE] [--camera DEVICE] [--seconds N] [--size WIDTHxHEIGHT] [--json]",
    options: [
      CommandOption("--camera", "DEVICE", "without FILE: a node, a link to it, or a part of the camera's name")
    ] + LiveScan.options + [.json], operandLimit: 1, run: { try run($0, console: $1) })

  private static func run(_ arguments: Arguments, console: Console) throws -> Int32 {
    guard let path = arguments.operands.first else { return try live(arguments, console: console) }
    if let option = ["--camera", "--seconds", "--size"].first(where: { arguments.has($0) }) {
      throw CommandError.usage(option, "a picture is given as well", hint: "give a picture or a camera")
    }
    let image: LumaImage
    do throws(PictureFileError) {
      image = try PictureFile.read(path)
    } catch {
      throw CommandError.failure("scan", "\(error)", hint: "give a PNG or PGM picture that shows the code")
    }
    let clock = ContinuousClock()
    let start = clock.now
    guard let found = try QRDecoder().decodeStill(image) else {
      throw CommandError.failure(
        path, "no code found in \(image.width) x \(image.height) pixels",
        hint: "the code should be sharp, whole, and at least 3 pixels a module")
    }
    let took = clock.now - start
    console.remark("found by \(found.attempt.rawValue) in \(took.formatted)")
    let readings = found.codes.map(CodeReading.init)
    for reading in readings { show(reading, arguments, console: console) }
    guard readings.contains(where: \.isUsable) else {
      throw CommandError.failure(
        path, "no engagement this reader can use (\(readings.map(\.verdict).joined(separator: ", ")))",
        hint: "the wallet should show the code for presenting a document in person")
    }
    return 0
  }

  /// Until a usable code is seen. Others are told, each once.
  private static func live(_ arguments: Arguments, console: Console) throws -> Int32 {
    let seconds = try arguments.integer("--seconds", in: 1...3600) ?? 30
    var seen: Set<[UInt8]> = []
    var verdicts: [String] = []
    var isFound = false
    let start = ContinuousClock.now
    let live = try LiveScan(LiveScan.settings(arguments["--camera"], arguments), console: console) { codes in
      for code in codes where seen.insert(code).inserted {
        let reading = CodeReading(code)
        show(reading, arguments, console: console)
        verdicts.append(reading.verdict)
        isFound = isFound || reading.isUsable
      }
      return isFound
    }
    try live.run(seconds: seconds)
    guard isFound else {
      let pictures = "in \(live.frames) pictures of \(live.facts?.title ?? "the camera")"
      throw CommandError.failure(
        "scan",
        verdicts.isEmpty
          ? "no code found \(pictures)"
          : "no engagement this reader can use \(pictures) (\(verdicts.joined(separator: ", ")))",
        hint: "hold the wallet's code before the camera; mdoc-reader camera --snapshot shows what the camera sees")
    }
    console.remark("found after \((ContinuousClock.now - start).formatted) in \(live.facts?.title ?? "?")")
    return 0
  }

  private static func show(_ reading: CodeReading, _ arguments: Arguments, console: Console) {
    if arguments.has("--json") {
      console.data(reading.document.text)
    } else {
      for line in reading.lines { console.data(line) }
    }
  }
}

/// What `scan` says of a code.
private struct CodeReading {
  private let text: String
  private let engagement: DeviceEngagement?
  let isUsable: Bool
  /// "usable", or the code of the reason it is not.
  let verdict: String

  init(_ content: [UInt8]) {
    text = quoted(String(decoding: content.prefix(60), as: UTF8.self))
    switch ScannedCode(content) {
    case .usable(let engagement): (isUsable, verdict, self.engagement) = (true, "usable", engagement)
    case .refused(let reason, let engagement): (isUsable, verdict, self.engagement) = (false, reason, engagement)
    }
  }

  private var modes: [(name: String, uuid: String)] {
    var modes: [(String, String)] = []
    if let uuid = engagement?.bluetooth?.centralClient { modes.append(("centralClient", uuid.description)) }
    if let server = engagement?.bluetooth?.peripheralServer {
      modes.append(("peripheralServer", server.uuid.description))
    }
    return modes
  }

  var lines: [String] {
    guard let engagement else { return ["code \(text): \(verdict)"] }
    var lines = [
      "engagement 1.\(engagement.minorVersion), key on \(engagement.eDeviceKey.curve.rawValue), \(engagement.encoded.count) bytes"
    ]
    lines += modes.map { "  \($0.name) \($0.uuid)" }
    lines.append("  ident \(engagement.bleIdent.hex)")
    lines += engagement.warnings.map { "  remark: \($0)" }
    return lines
  }

  var document: JSONValue {
    .object([
      "verdict": .string(verdict), "version": engagement.map { .string("1.\($0.minorVersion)") },
      "curve": engagement.map { .string($0.eDeviceKey.curve.rawValue) },
      "modes": .object(modes.map { .init($0.name, .string($0.uuid)) }),
      "ident": engagement.map { .string($0.bleIdent.hex) },
    ])
  }
}

extension Duration {
  /// Milliseconds with one digit: `12.3 ms`.
  var formatted: String {
    let tenths = components.seconds * 10_000 + components.attoseconds / 100_000_000_000_000
    return "\(tenths / 10).\(tenths % 10) ms"
  }
}
