import Appliance
import Commands
import Configuration
import Glibc
import Kernel
import Mdoc
import Policy
import Trust
import TrustStore

/// The site as configured: the file, what it says, and the board it names.
struct Site {
  /// The configuration file that was read.
  let path: String
  let configuration: ReaderConfiguration
  let board: BoardFacts
  /// The board file that was read.
  let boardPath: String

  static let option = CommandOption(
    "--config", "FILE",
    "the configuration (default: the provisioned one, /etc/mdoc-reader/reader.toml, config/reader.toml)")

  /// The provisioned site where there is one, whatever may be wrong with it: a start with another configuration than the
  /// provisioned one would be a surprise. The state in force is looked up once, so that nothing of the next one mixes in.
  private static func defaultPath() throws -> String {
    let generations = SiteGenerations(folder: ProvisionCommand.siteFolder)
    let target: String?
    do throws(SystemError) {
      target = try Files.target(ofLink: generations.current)
    } catch {
      throw FileFaults([
        .init(
          "\(generations.current): \(error.reason)",
          remedy: "the reader's user must be able to read the provisioned site")
      ])
    }
    if let target { return "\(generations.folder)/\(target)/\(SiteContent.configurationName)" }
    let paths = ["/etc/mdoc-reader/reader.toml", "config/reader.toml"]
    return paths.first(where: Files.exists) ?? paths[0]
  }

  private static let sizeLimit = 1 << 20

  /// Reads both files. Throws `FileFaults` with every fault of the first that has some.
  init(_ arguments: Arguments) throws {
    let path = try arguments["--config"] ?? Site.defaultPath()
    try self.init(path: path)
  }

  init(path: String) throws {
    self.path = path
    let bytes = try Site.read(path, hint: "name the file with --config; config/reader.toml of the source is a start")
    do {
      configuration = try ReaderConfiguration(bytes: bytes)
    } catch {
      throw FileFaults(error, in: path)
    }
    if configuration.template.retainsAnything {
      throw FileFaults([
        .init(
          "\(path): request: retaining elements is not built yet in this version",
          remedy: "write retain = false, or leave it out")
      ])
    }
    let candidates = Site.boardPaths(configuration.board, configurationFolder: Files.folder(of: path))
    guard let boardPath = candidates.first(where: Files.exists) else {
      throw FileFaults([
        .init(
          "\(path): board: there is no board \"\(configuration.board)\"",
          remedy: "make one of these files: \(candidates.joined(separator: ", "))")
      ])
    }
    self.boardPath = boardPath
    do {
      board = try BoardFacts(bytes: try Site.read(boardPath, hint: "the board's file has to be readable"))
    } catch let errors as ConfigurationErrors {
      throw FileFaults(errors, in: boardPath)
    }
  }

  private static func read(_ path: String, hint: String) throws -> [UInt8] {
    do throws(SystemError) {
      return try Files.read(path, limit: sizeLimit)
    } catch {
      throw FileFaults([.init("\(path): \(error.reason)", remedy: hint)])
    }
  }

  /// Beside the configuration, as in the source tree, or where the package puts them.
  private static func boardPaths(_ board: String, configurationFolder folder: String) -> [String] {
    [folder + "/board", Files.folder(of: folder) + "/board", folder + "/../board", "/usr/share/mdoc-reader/board"]
      .map { "\($0)/\(board)/board.toml" }
  }

  private var folder: String { Files.folder(of: path) }

  var trustFolder: String { configuration.trustFolder.resolved(in: folder) }
  var pictures: String { configuration.simulated.pictures.resolved(in: folder) }
  var air: String { configuration.simulated.air.resolved(in: folder) }
  var statusFile: String { configuration.statusFile.resolved(in: folder) }

  var clockFile: String { configuration.clock.file.resolved(in: folder) }
  var synchronizedFile: String { configuration.clock.synchronizedFile.resolved(in: folder) }

  var events: EventLog.Destination {
    switch configuration.events {
    case .standardOutput: .standardOutput
    case .none: .none
    case .file(let path): .file(path.resolved(in: folder))
    }
  }

  var camera: Appliance.CameraPart {
    switch board.camera {
    case .pictures: .pictures(pictures)
    case .v4l2(let facts): .v4l2(facts)
    }
  }

  var radio: Appliance.RadioPart {
    switch board.radio {
    case .air: .air(air)
    case .bluetooth(let adapter): .bluetooth(adapter: adapter)
    }
  }

  var panel: Appliance.PanelPart {
    switch board.panel {
    case .terminal: .terminal(descriptor: STDERR_FILENO)
    case .gpio(let facts): .gpio(facts)
    }
  }

  /// What the appliance is made from. Throws `FileFaults` when the reader is to say who it is and cannot.
  func parts() throws -> Appliance.Parts {
    var parts = Appliance.Parts(
      template: configuration.template, verification: configuration.verification, timeouts: configuration.timeouts,
      signals: configuration.signals, camera: camera, radio: radio, usesL2CAP: board.usesL2CAP, panel: panel,
      events: events, statusFile: statusFile, clock: configuration.clock.doubtful)
    parts.clockFile = clockFile
    parts.synchronizedFile = synchronizedFile
    if let authentication = configuration.readerAuthentication {
      let credential: ReaderCredential
      do throws(ReaderCredentialProblem) {
        credential = try readCredential(authentication)
      } catch {
        throw FileFaults([.init("\(path): reader_authentication: \(error)", remedy: error.remedy)])
      }
      parts.signer = ReaderSigner(
        key: credential.key, certificates: credential.chain.map { $0.encoded },
        wholeRequest: authentication.wholeRequest)
      parts.remarks = credential.findings(at: .wallClock()).map { "reader certificate: \($0.text)" }
    }
    return parts
  }

  func readCredential(
    _ authentication: ConfiguredReaderAuthentication
  ) throws(ReaderCredentialProblem) -> ReaderCredential {
    let place: ReaderCredential.KeyPlace =
      switch authentication.key {
      case .file(let path): .file(path.resolved(in: folder))
      case .store(let address, let provider): .store(address, provider: provider)
      }
    return try ReaderCredential(certificates: authentication.certificate.resolved(in: folder), key: place)
  }
}

extension FileFaults {
  fileprivate init(_ errors: ConfigurationErrors, in path: String) {
    self.init(errors.errors.map { Fault($0.description(in: path), remedy: $0.remedy) })
  }
}
