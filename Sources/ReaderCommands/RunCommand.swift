import Appliance
import Commands
import Crypto
import Glibc
import Kernel

/// `run`: serves visitors until it is told to stop.
enum RunCommand {
  static let verb = Verb(
    name: "run", summary: "Serve visitors until SIGTERM or SIGINT; SIGHUP loads the trusted certificates again.",
    usage: "run [--config FILE]", options: [Site.option], operandLimit: 0, run: { try run($0, console: $1) })

  private static func run(_ arguments: Arguments, console: Console) throws -> Int32 {
    if let fault = CryptoLibrary.fault(of: openSSLVersion) {
      throw CommandError.failure("run", fault, hint: CryptoLibrary.remedy)
    }
    let site = try Site(arguments)
    // Keys and answers are in this process's memory: no copy of it may reach a disk.
    try ProcessFacts.disableCoreDumps()
    // Who reads the events may end before the reader does: that is no reason to end too.
    signal(SIGPIPE, SIG_IGN)
    let folder = site.trustFolder
    let ageLimit = site.issuerListAgeLimit
    let appliance = try Appliance(try site.parts()) { Appliance.TrustMaterial(folder: folder, ageLimit: ageLimit) }
    let manager = try ServiceManager(on: appliance.loop)
    do throws(ApplianceError) {
      try appliance.run()
    } catch {
      switch error {
      case .system(let error): throw error
      case .wrongBoard(let problem, let remedy):
        throw CommandError.usage(site.boardPath, problem, hint: remedy)
      }
    }
    manager.stopping()
    return 0
  }
}
