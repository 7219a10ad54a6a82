import Commands

/// The command line of `mdoc-reader`: verbs that each prove one part.
package enum ReaderCommands {
  private static let program = Program(
    name: "mdoc-reader",
    introduction: """
      A reader for mobile documents (ISO/IEC 18013-5): scans the code, asks, verifies, decides, opens.

      """,
    verbs: [
      RunCommand.verb, CheckCommand.verb, DemoCommand.verb, ScanCommand.verb, TrustCommand.verb, RefreshCommand.verb,
      VerifyCommand.verb, InspectCommand.verb, StatusCommand.verb, ClockCommand.verb, ProvisionCommand.verb,
      CameraCommand.verb, BluetoothCommand.verb,
      SignalCommand.verb,
    ])

  /// Runs the verb that the words name.
  ///
  /// - Parameter words: the arguments without the program's name.
  /// - Returns: the exit status: 0 success, 1 failure, 2 wrong usage or configuration.
  package static func run(_ words: [String], console: Console) -> Int32 { program.run(words, console: console) }
}
