import Commands
import Testing
import Wallet

private let options = [
  CommandOption("--type", "KIND", repeatable: true, "kind"), CommandOption("--age", "N", "age"),
  CommandOption("--yes", "consent"),
]

@Suite("Arguments")
struct ArgumentsTests {
  @Test("take values after a space or an equals sign, flags, repeated options and operands")
  func accepted() throws {
    let arguments = try Arguments(
      ["--type", "mdl", "file", "--type=age", "--yes", "--age", "18", "--", "--odd"], options: options, operandLimit: 2)
    #expect(arguments.values("--type") == ["mdl", "age"])
    #expect(arguments.has("--yes") && arguments["--age"] == "18")
    #expect(try arguments.integer("--age", in: 0...120) == 18)
    #expect(arguments.operands == ["file", "--odd"])
  }

  @Test("take an empty value and one with an equals sign in it")
  func values() throws {
    #expect(try Arguments(["--age="], options: options)["--age"] == "")
    #expect(try Arguments(["--age=a=b"], options: options)["--age"] == "a=b")
  }

  @Test(
    "are refused with the reason",
    arguments: [
      (["--tpye", "x"], UsageError("'--tpye'", "no such option", hint: "did you mean --type?")),
      (["--unheard-of"], UsageError("'--unheard-of'", "no such option", hint: "see --help for the options")),
      (["--age", "1", "--age", "2"], UsageError("--age", "given twice", hint: "give it once")),
      (["--yes", "--yes"], UsageError("--yes", "given twice", hint: "give it once")),
      (["--yes=1"], UsageError("--yes", "takes no value", hint: "write --yes alone")),
      (["--age"], UsageError("--age", "its value is missing", hint: "write --age N")),
      (["one"], UsageError("'one'", "one argument too many", hint: "see --help for what this verb takes")),
      (["-x"], UsageError("'-x'", "no such option", hint: "see --help for the options")),
      (["--a\u{1b}[2J"], UsageError("'--a?[2J'", "no such option", hint: "see --help for the options")),
    ])
  func refused(words: [String], error: UsageError) {
    #expect(throws: error) { try Arguments(words, options: options) }
  }

  @Test(
    "are refused as numbers outside the range, or none",
    arguments: ["-1", "121", "x", "", "1.5", "99999999999999999999"])
  func numbers(text: String) throws {
    let arguments = try Arguments(["--age", text], options: options)
    #expect(throws: UsageError("--age '\(text)'", "not a whole number from 0 to 120", hint: "write --age N")) {
      try arguments.integer("--age", in: 0...120)
    }
  }

  @Test("name the nearest choice, or all of them")
  func choices() {
    #expect(throws: UsageError("--quirk 'wrong-conter'", "no such value", hint: "did you mean wrong-counter?")) {
      try Arguments.choice("wrong-conter", of: Quirk.self, for: "--quirk")
    }
    #expect(throws: UsageError("--x 'zzzz'", "no such value", hint: "one of low, medium, quartile, high")) {
      try Arguments.choice("zzzz", of: QRCode.Correction.self, for: "--x")
    }
  }
}

@Suite("Quirk names")
struct QuirkNameTests {
  @Test("take a number where the quirk has one, and have aliases")
  func parameters() throws {
    var quirks = Quirks()
    try quirks.insert(argument: "early-disconnect=30")
    try quirks.insert(argument: "oversized-answer")
    try quirks.insert(argument: "wrong-digest")
    #expect(quirks.parameter(of: .earlyDisconnect) == 30 && quirks.parameter(of: .oversizedAnswer) == 5 << 20)
    #expect(quirks.all == [.earlyDisconnect, .oversizedAnswer, .digestMismatch])
  }

  @Test(
    "are refused with the reason",
    arguments: [
      ("early-disconnect=101", "not a whole number from 0 to 100"),
      ("early-disconnect=", "not a whole number from 0 to 100"),
      ("silent=1", "this quirk takes no number"), ("nonsense", "no such value"),
    ])
  func refused(argument: String, why: String) {
    var quirks = Quirks()
    var found: String?
    do throws(UsageError) { try quirks.insert(argument: argument) } catch { found = error.why }
    #expect(found == why)
  }
}
