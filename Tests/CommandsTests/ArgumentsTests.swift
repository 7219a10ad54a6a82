import Testing

@testable import Commands

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
      (["--tpye", "x"], CommandError.usage("'--tpye'", "no such option", hint: "did you mean --type?")),
      (["--unheard-of"], CommandError.usage("'--unheard-of'", "no such option", hint: "see --help for the options")),
      (["--age", "1", "--age", "2"], CommandError.usage("--age", "given twice", hint: "give it once")),
      (["--yes", "--yes"], CommandError.usage("--yes", "given twice", hint: "give it once")),
      (["--yes=1"], CommandError.usage("--yes", "takes no value", hint: "write --yes alone")),
      (["--age"], CommandError.usage("--age", "its value is missing", hint: "write --age N")),
      (["one"], CommandError.usage("'one'", "one argument too many", hint: "see --help for what this verb takes")),
      (["-x"], CommandError.usage("'-x'", "no such option", hint: "see --help for the options")),
      (["--a\u{1b}[2J"], CommandError.usage("'--a?[2J'", "no such option", hint: "see --help for the options")),
    ])
  func refused(words: [String], error: CommandError) {
    #expect(throws: error) { try Arguments(words, options: options) }
  }

  @Test(
    "are refused as numbers outside the range, or none",
    arguments: ["-1", "121", "x", "", "1.5", "99999999999999999999"])
  func numbers(text: String) throws {
    let arguments = try Arguments(["--age", text], options: options)
    #expect(throws: CommandError.usage("--age '\(text)'", "not a whole number from 0 to 120", hint: "write --age N")) {
      try arguments.integer("--age", in: 0...120)
    }
  }

  @Test("name the nearest choice, or all of them")
  func choices() {
    #expect(throws: CommandError.usage("--x 'mediun'", "no such value", hint: "did you mean medium?")) {
      try Arguments.choice("mediun", of: Level.self, for: "--x")
    }
    #expect(throws: CommandError.usage("--x 'zzzz'", "no such value", hint: "one of low, medium, quartile, high")) {
      try Arguments.choice("zzzz", of: Level.self, for: "--x")
    }
  }
}

private enum Level: String, CaseIterable {
  case low
  case medium
  case quartile
  case high
}

@Suite("A program of verbs")
struct ProgramTests {
  private struct Odd: Error {}

  private let program = Program(
    name: "prog", introduction: "Does things.\n",
    verbs: [
      Verb(name: "add", summary: "Add.", usage: "add N", options: [.json], operandLimit: 1) { arguments, console in
        console.data("sum \(arguments.operands.first ?? "")")
        return 0
      },
      Verb(name: "fail", summary: "Fail.", usage: "fail", options: [], operandLimit: 0) { _, _ in
        throw CommandError.failure("disk", "full", hint: "make room")
      },
      Verb(name: "odd", summary: "Odd.", usage: "odd", options: [], operandLimit: 0) { _, _ in throw Odd() },
    ], explain: { $0 is Odd ? CommandError.failure("odd", "strange", hint: "look") : nil })

  @Test(
    "prints data on one stream, failures with a hint on the other, and says how it went",
    arguments: [
      (["add", "2"], 0, "sum 2\n", ""),
      (["fail"], 1, "", "prog: disk: full\nmake room\n"),
      (["odd"], 1, "", "prog: odd: strange\nlook\n"),
      (["ad"], 2, "", "prog: 'ad': no such verb\ndid you mean add?\n"),
      ([], 2, "", "prog: verb: missing\none of add, fail, odd; see --help\n"),
      (["add", "1", "2"], 2, "", "prog: '2': one argument too many\nsee --help for what this verb takes\n"),
      (
        ["add", "--help"], 0,
        "usage: prog add N\n\nAdd.\n\n  --json  print JSON for tools: one object, or one a line for each event\n  --help  print this help\n",
        ""
      ),
    ] as [([String], Int32, String, String)])
  func streams(words: [String], status: Int32, out: String, err: String) {
    var data = ""
    var remarks = ""
    let console = Console(program: "prog") { if $1 { data += $0 } else { remarks += $0 } }
    #expect(program.run(words, console: console) == status)
    #expect(data == out)
    #expect(remarks == err)
  }
}
