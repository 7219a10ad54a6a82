import Commands
import Glibc

/// Where the holder's word comes from.
enum Consent {
  case ask
  case always(Bool)

  static let options = [
    CommandOption("--yes", "consent without asking"), CommandOption("--no", "refuse without asking"),
  ]

  static let question = "Share this? Type yes, or anything else to refuse:"

  init(_ arguments: Arguments) throws(CommandError) {
    switch (arguments.has("--yes"), arguments.has("--no")) {
    case (true, true): throw CommandError.usage("--no", "--yes says the opposite", hint: "give one of the two")
    case (false, false): self = .ask
    case (let isGranted, _): self = .always(isGranted)
    }
  }

  /// What somebody typed, as a word for or against.
  static func isGranted(_ line: some StringProtocol) -> Bool {
    ["yes", "y"].contains(line.lowercased().filter { !$0.isWhitespace })
  }

  /// The holder's word, waited for. The end of input is a no: nobody is there to say yes.
  func given(_ console: Console, question: String = Consent.question) -> Bool {
    if case .always(let isGranted) = self { return isGranted }
    console.remark(question)
    return Consent.isGranted(Consent.line(console.input))
  }

  /// A line, byte by byte, so that what follows it stays for who reads on.
  ///
  /// - Parameter limit: most bytes of it.
  static func line(_ descriptor: CInt, limit: Int = 1024) -> String {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while line.count < limit {
      let count = Glibc.read(descriptor, &byte, 1)
      if count < 0, errno == EINTR { continue }
      if count <= 0 || byte == UInt8(ascii: "\n") { break }
      line.append(byte)
    }
    return String(decoding: line, as: UTF8.self)
  }
}
