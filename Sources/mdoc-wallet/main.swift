import Commands
import Glibc
import Wallet

exit(WalletCommands.run(Array(CommandLine.arguments.dropFirst()), console: .standard(program: "mdoc-wallet")))
