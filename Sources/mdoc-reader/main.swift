import Commands
import Glibc
import ReaderCommands

exit(ReaderCommands.run(Array(CommandLine.arguments.dropFirst()), console: .standard(program: "mdoc-reader")))
