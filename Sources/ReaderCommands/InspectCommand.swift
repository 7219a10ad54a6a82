import CBOR
import Commands

/// `inspect FILE`: what is in a recorded message, an engagement or a certificate, without verifying anything.
enum InspectCommand {
  static let verb = Verb(
    name: "inspect",
    summary: "Show what is in a recorded message, an mdoc: code or a certificate; nothing is verified.",
    usage: "inspect FILE|mdoc:TEXT [--show-values] [--json]",
    options: [
      CommandOption("--show-values", "show element values and all other contents, which may be somebody's data"),
      .json,
    ], operandLimit: 1, run: { try run($0, console: $1) })

  private static func run(_ arguments: Arguments, console: Console) throws -> Int32 {
    guard let operand = arguments.operands.first else {
      throw CommandError.usage("inspect", "the file is missing", hint: "write inspect FILE, or inspect mdoc:TEXT")
    }
    let isURI = operand.utf8.prefix(5).map { $0 | 0x20 }.elementsEqual("mdoc:".utf8)
    let input = isURI ? InspectionInput(content: Array(operand.utf8)) : try InspectionInput.read(operand)
    let inspection = Inspection(input, showsValues: arguments.has("--show-values"))
    if arguments.has("--json") {
      console.data(inspection.json(form: input.form).visibleText)
    } else if inspection.problems.isEmpty || inspection.diagnostic != nil || !inspection.facts.isEmpty {
      for line in inspection.lines(form: input.form) { console.data(line) }
    }
    let source = isURI ? "mdoc:" : quoted(operand)
    for problem in inspection.problems {
      console.remark("mdoc-reader: \(source): \(CBORDiagnostic.escaped(problem, keepingQuotes: true))")
    }
    guard !inspection.problems.isEmpty else { return 0 }
    console.remark("taken for \(inspection.subject), from \(input.form.rawValue)")
    return 1
  }
}
