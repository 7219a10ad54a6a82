import Glibc
import ReaderCommands
import Wallet

exit(ReaderCommands.run(Array(CommandLine.arguments.dropFirst()), console: .standard(program: "mdoc-reader")))
