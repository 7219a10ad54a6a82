// TerminalPanel
