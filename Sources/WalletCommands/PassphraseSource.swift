import Commands
import Crypto
import Glibc
import Kernel
import Wallet

/// Where a verb takes the passphrase of a wallet from: a file, the environment or the person in front of it. Never an
/// argument, which everybody on the machine can read.
enum PassphraseSource {
  static let variable = "MDOC_WALLET_PASSPHRASE"

  static let options = [
    CommandOption(
      "--passphrase-file", "FILE", "the wallet's passphrase is the first line of this file (or \(variable) is set)"),
    CommandOption("--ask-passphrase", "ask for the wallet's passphrase"),
  ]

  /// What to do where a passphrase is wanted.
  static let hint = "give --passphrase-file FILE or --ask-passphrase, or set \(variable)"

  /// The passphrase, or nil when none is given. Throws for one that is empty or cannot be read.
  ///
  /// - Parameter isNew: whether documents may be written under it for the first time: then it is asked for twice.
  static func read(
    _ arguments: Arguments, console: Console, isNew: Bool = false,
    environment: (String) -> String? = { name in getenv(name).map { String(cString: $0) } }
  ) throws -> Passphrase? {
    if let path = arguments["--passphrase-file"] {
      if arguments.has("--ask-passphrase") {
        throw CommandError.usage("--ask-passphrase", "--passphrase-file gives it", hint: "give one of the two")
      }
      let line = firstLine(of: try Files.read(path, limit: 1 << 16))
      guard !line.isEmpty else {
        throw CommandError.usage(
          "--passphrase-file \(quoted(path))", "no passphrase in it", hint: "write it on the first line")
      }
      return Passphrase(line)
    }
    if arguments.has("--ask-passphrase") {
      let given = try ask("passphrase: ", console)
      if isNew, try ask("the same again: ", console) != given {
        throw CommandError.failure("passphrase", "two different ones", hint: "nothing was written; try again")
      }
      return Passphrase(given)
    }
    guard let text = environment(variable) else { return nil }
    guard !text.isEmpty else {
      throw CommandError.usage(variable, "empty", hint: "unset it where documents are not to be encrypted")
    }
    return Passphrase(text.utf8)
  }

  private static func firstLine(of bytes: [UInt8]) -> [UInt8] {
    Array(bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") })
  }

  /// A line of the console's input; a terminal does not show it.
  private static func ask(_ prompt: String, _ console: Console) throws -> [UInt8] {
    console.remark(prompt)
    let line = try withoutEcho(console.input) { try readLine(console.input) }
    guard !line.isEmpty else {
      throw CommandError.failure("passphrase", "none given", hint: "write it, and then Enter")
    }
    return line
  }

  /// Byte by byte, so that what follows the line stays for who reads on.
  private static func readLine(_ descriptor: CInt) throws -> [UInt8] {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while line.count < 1 << 16 {
      let count = Glibc.read(descriptor, &byte, 1)
      if count < 0 {
        if errno == EINTR { continue }
        throw SystemError.last("read", "passphrase")
      }
      if count == 0 || byte == UInt8(ascii: "\n") { break }
      line.append(byte)
    }
    return firstLine(of: line)
  }

  /// Signals wait, so that nobody is left with a terminal that shows nothing.
  private static func withoutEcho(_ descriptor: CInt, _ body: () throws -> [UInt8]) throws -> [UInt8] {
    var before = termios()
    guard isatty(descriptor) == 1, tcgetattr(descriptor, &before) == 0 else { return try body() }
    var waiting = sigset_t()
    var formerly = sigset_t()
    sigemptyset(&waiting)
    for signal in [SIGINT, SIGTERM, SIGTSTP, SIGQUIT, SIGHUP] { sigaddset(&waiting, signal) }
    pthread_sigmask(SIG_BLOCK, &waiting, &formerly)
    var quiet = before
    quiet.c_lflag &= ~tcflag_t(ECHO)
    tcsetattr(descriptor, TCSAFLUSH, &quiet)
    defer {
      tcsetattr(descriptor, TCSAFLUSH, &before)
      pthread_sigmask(SIG_SETMASK, &formerly, nil)
    }
    return try body()
  }
}

extension CredentialStore.Entry.Failure {
  /// What to do about it.
  var hint: String {
    switch self {
    case .violation(.locked), .violation(.otherPassphrase): PassphraseSource.hint
    case .violation(.keyDerivation): "try again when less is running"
    case .system: "check the file's owner and mode"
    default: "delete the file, or put an intact copy in its place"
    }
  }
}
