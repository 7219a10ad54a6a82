import Commands
import Glibc
import WalletCommands

exit(WalletCommands.run(Array(CommandLine.arguments.dropFirst()), console: .standard(program: "mdoc-wallet")))
