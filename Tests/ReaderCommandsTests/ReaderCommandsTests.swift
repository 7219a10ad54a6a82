// ReaderCommands
