import Kernel

/// The states of a provisioned site: one folder each in `generations/`, named by its number, and `current`, a link to the
/// one that is in force.
///
/// A state is put together beside the others and comes into force by one rename of the link, so that a power cut leaves
/// the old one or the new one. The one before stays for a way back.
package struct SiteGenerations: Sendable {
  package let folder: String

  package init(folder: String) { self.folder = folder }

  /// The folder of the state in force; a link.
  package var current: String { folder + "/current" }

  private var generations: String { folder + "/generations" }

  package func path(of number: UInt64) -> String { "\(generations)/\(number)" }

  /// The number in force; nil before the first.
  package func currentNumber() throws(SystemError) -> UInt64? {
    try Files.target(ofLink: current).flatMap { UInt64(Files.name(of: $0)) }
  }

  /// The number that was in force before; nil when there is none to go back to.
  package func previousNumber() throws(SystemError) -> UInt64? {
    guard let current = try currentNumber() else { return nil }
    return try numbers().filter { $0 < current }.max()
  }

  private func numbers() throws(SystemError) -> [UInt64] {
    guard Files.exists(generations) else { return [] }
    return try Files.list(generations).compactMap { UInt64($0) }
  }

  /// Writes the files of a state that is not in force yet; gives back its folder. What a cut left there is removed.
  package func stage(_ files: [(path: String, contents: [UInt8])]) throws(SystemError) -> String {
    let staged = generations + "/.staged"
    try Files.makeFolder(generations)
    try Files.removeTree(staged)
    try Files.makeFolder(staged)
    for file in files {
      let path = "\(staged)/\(file.path)"
      try Files.makeFolder(Files.folder(of: path))
      try AtomicFile.write(file.contents, to: path)
    }
    return staged
  }

  /// Gives up what was staged.
  package func discard(_ staged: String) { try? Files.removeTree(staged) }

  /// Brings what was staged into force, and forgets all but it and the one before.
  package func activate(_ staged: String, as number: UInt64) throws(SystemError) {
    let before = try currentNumber()
    // One of this number that never came into force, or that was gone back from.
    if before != number { try Files.removeTree(path(of: number)) }
    try Files.move(staged, to: path(of: number))
    try Files.link(current, to: "generations/\(number)")
    // From here on it is in force: what cannot be tidied up is no failure.
    guard let numbers = try? numbers() else { return }
    for other in numbers where other != number && other != before { try? Files.removeTree(path(of: other)) }
  }

  /// Brings the state before into force again; gives back its number, nil when there is none.
  package func rollBack() throws(SystemError) -> UInt64? {
    guard let previous = try previousNumber() else { return nil }
    try Files.link(current, to: "generations/\(previous)")
    return previous
  }
}
