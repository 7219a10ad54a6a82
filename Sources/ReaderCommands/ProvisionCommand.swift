import Bytes
import CivilTime
import Commands
import Configuration
import Crypto
import JSON
import Kernel
import Provisioning
import TrustStore

/// `provision`: applies a signed bundle from a USB stick, goes back to the state before, enrols a key, makes a bundle.
enum ProvisionCommand {
  static let siteFolder = "/var/lib/mdoc-reader/site"
  private static let site = CommandOption("--site", "DIR", "the folder of the provisioned site (default \(siteFolder))")

  static let verb = Verb(
    name: "provision", summary: "Apply a signed bundle of everything a site decides, or make one.",
    usage: "provision BUNDLE | rollback | enrol KEY | make FOLDER | show  [OPTIONS]",
    options: [
      site,
      CommandOption("--dry-run", "say what would change, and change nothing"),
      CommandOption("--serial-file", "FILE", "where this board's serial number is (default: the device tree)"),
      CommandOption("--key", "FILE", "make: the private provisioning key (PEM)"),
      CommandOption("--number", "N", "make: the number of the bundle; has to grow"),
      CommandOption("--serial", "TEXT", "make: for the board of this serial number only"),
      CommandOption("--out", "FILE", "make: where the bundle goes"),
    ], operandLimit: 2, run: { try run($0, console: $1) })

  private static func run(_ arguments: Arguments, console: Console) throws -> Int32 {
    let generations = SiteGenerations(folder: arguments["--site"] ?? siteFolder)
    guard let word = arguments.operands.first else {
      throw CommandError.usage("provision", "no bundle is named", hint: "mdoc-reader provision FILE")
    }
    let operand = arguments.operands.dropFirst().first
    switch (word, operand) {
    case ("make", let folder?): return try makeBundle(of: folder, arguments, console)
    case ("enrol", let key?): return try enrol(key, generations, console)
    case ("rollback", nil): return try rollBack(generations, console)
    case ("show", nil): return try show(generations, console)
    case ("make", nil), ("enrol", nil):
      throw CommandError.usage(word, "nothing is named", hint: "mdoc-reader provision --help")
    case (_, nil): return try apply(word, generations, arguments, console)
    default: throw CommandError.usage(operand ?? "", "one word too many", hint: "mdoc-reader provision --help")
    }
  }

  // MARK: Applying

  private static func apply(
    _ path: String, _ generations: SiteGenerations, _ arguments: Arguments, _ console: Console
  ) throws -> Int32 {
    let bytes = try Files.read(path, limit: ProvisioningBundle.maximumSize)
    let bundle: ProvisioningBundle
    do throws(ProvisioningBundle.Violation) {
      bundle = try ProvisioningBundle(bytes[...], signedByAnyOf: try keys(generations))
    } catch {
      throw CommandError.failure(path, error.explanation, hint: error.remedy)
    }
    if let serial = bundle.serial {
      let own = boardSerial(arguments["--serial-file"])
      guard serial == own else {
        throw CommandError.failure(
          path, "it is for the board with serial number \(quoted(serial)); this one has \(own.map(quoted) ?? "none")",
          hint: "take the bundle that was made for this board")
      }
    }
    let before = try generations.currentNumber()
    if let before, bundle.number <= before {
      throw CommandError.failure(
        path, "it is number \(bundle.number), and number \(before) is in force",
        hint: "an older state comes back with: mdoc-reader provision rollback")
    }
    let staged = try generations.stage(bundle.files.map { ($0.path, $0.contents) })
    let content: SiteContent
    do {
      content = try SiteContent(folder: staged)
    } catch {
      generations.discard(staged)
      throw error
    }
    let old = before.flatMap { try? SiteContent(folder: generations.path(of: $0)) }
    for line in content.differences(from: old) { console.data(line) }
    if arguments.has("--dry-run") {
      generations.discard(staged)
      console.remark("number \(bundle.number) of \(bundle.created) would be applied; nothing was changed")
      return 0
    }
    try generations.activate(staged, as: bundle.number)
    console.remark(
      "number \(bundle.number) of \(bundle.created) is in force; a reader that runs takes it after a restart")
    return 0
  }

  private static func rollBack(_ generations: SiteGenerations, _ console: Console) throws -> Int32 {
    guard let number = try generations.rollBack() else {
      throw CommandError.failure(
        "rollback", "there is no state before this one", hint: "mdoc-reader provision show says what is in force")
    }
    console.remark("number \(number) is in force again; a reader that runs takes it after a restart")
    return 0
  }

  private static func show(_ generations: SiteGenerations, _ console: Console) throws -> Int32 {
    guard let number = try generations.currentNumber() else {
      console.data("nothing was provisioned yet")
      return 0
    }
    console.data("number \(number), \(generations.current)")
    if let previous = try generations.previousNumber() { console.data("before: number \(previous)") }
    return 0
  }

  // MARK: Keys

  private static func keysPath(_ generations: SiteGenerations) -> String { generations.folder + "/provisioning.pem" }

  private static func keys(_ generations: SiteGenerations) throws(ProvisioningBundle.Violation) -> [PublicKey] {
    guard let text = try? Files.read(keysPath(generations), limit: 1 << 16) else { return [] }
    return publicKeys(text)
  }

  private static func publicKeys(_ text: [UInt8]) -> [PublicKey] {
    ((try? PEM.blocks(in: text)) ?? []).filter { $0.label == "PUBLIC KEY" }
      .compactMap { try? PublicKey(pem: PEM.encode($0.label, $0.bytes)) }
  }

  /// The first key of a board. Another one takes the place of none: who can write here could change the site itself.
  private static func enrol(_ path: String, _ generations: SiteGenerations, _ console: Console) throws -> Int32 {
    let text = try Files.read(path, limit: 1 << 16)
    let keys = publicKeys(text)
    guard !keys.isEmpty else {
      throw CommandError.failure(
        path, "there is no public key in it that can be used", hint: "make it with: openssl pkey -in KEY -pubout")
    }
    guard !Files.exists(keysPath(generations)) else {
      throw CommandError.failure(
        keysPath(generations), "this board has its provisioning key already",
        hint: "remove the file as root, if another organisation takes over the board")
    }
    try Files.makeFolder(generations.folder)
    try AtomicFile.write(text, to: keysPath(generations))
    console.remark(
      "bundles signed by \(keys.count == 1 ? "this key" : "these \(keys.count) keys") are applied from now on")
    return 0
  }

  /// The serial number that the board's firmware gives, without the zero at its end.
  private static func boardSerial(_ path: String?) -> String? {
    let path = path ?? "/sys/firmware/devicetree/base/serial-number"
    guard let bytes = try? Files.read(path, limit: 256) else { return nil }
    let text = String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
    return text.isEmpty ? nil : text
  }

  // MARK: Making

  private static func makeBundle(of folder: String, _ arguments: Arguments, _ console: Console) throws -> Int32 {
    guard let keyPath = arguments["--key"], let out = arguments["--out"], let text = arguments["--number"] else {
      throw CommandError.usage(
        "make", "--key, --number and --out are needed",
        hint: "mdoc-reader provision make FOLDER --key KEY.pem --number 1 --out FILE")
    }
    guard let number = UInt64(text), number <= Int64.max else {
      throw CommandError.usage("--number \(quoted(text))", "no whole number", hint: "write 1, and one more each time")
    }
    guard let key = try? PrivateKey(pem: String(decoding: try Files.read(keyPath, limit: 1 << 16), as: UTF8.self))
    else {
      throw CommandError.failure(
        keyPath, "there is no private key in it", hint: "openssl ecparam -name prime256v1 -genkey -noout -out KEY.pem")
    }
    // What a board would refuse is refused here.
    _ = try SiteContent(folder: folder)
    let files = try SiteContent.files(of: folder)
    let bundle: ProvisioningBundle
    do throws(ProvisioningBundle.Violation) {
      bundle = try ProvisioningBundle(
        number: number, created: UnixTime(seconds: UnixTime.wallClock().seconds), serial: arguments["--serial"],
        files: files)
    } catch {
      throw CommandError.failure(folder, error.explanation, hint: error.remedy)
    }
    guard let encoded = try? bundle.encoded(signedBy: key), encoded.count <= ProvisioningBundle.maximumSize else {
      throw CommandError.failure(
        folder, "it makes no bundle", hint: "the key has to sign, and the bundle may have 32 MiB")
    }
    try AtomicFile.write(encoded, to: out)
    console.remark("\(out): number \(number), \(files.count) files, \(encoded.count) bytes")
    return 0
  }
}

extension ProvisioningBundle.Violation {
  var explanation: String {
    switch self {
    case .tooLarge: "longer than \(ProvisioningBundle.maximumSize >> 20) MiB: that is no bundle"
    case .malformed(let member): "no bundle\(member.isEmpty ? "" : ", or a damaged one (\(member))")"
    case .formatUnsupported(let format): "format \(format) is unknown to this version"
    case .signatureInvalid: "no provisioning key of this board signed it"
    case .path(let path): "it has a file that is none of a site: \(quoted(path))"
    }
  }

  var remedy: String {
    switch self {
    case .tooLarge, .malformed: "copy it to the stick again, and compare the sizes"
    case .formatUnsupported: "update the reader first"
    case .signatureInvalid:
      "sign it with the enrolled key; a new board enrols one with: mdoc-reader provision enrol KEY.pem"
    case .path: "make it again with: mdoc-reader provision make FOLDER"
    }
  }
}
