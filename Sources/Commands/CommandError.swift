/// Why a verb did not do what it was asked, as people read it: what, why, and one line saying what to do.
package struct CommandError: Error, Equatable, Sendable {
  /// What did not work, such as a path or an option.
  package let what: String
  package let why: String
  /// What to do about it.
  package let hint: String
  /// What the program then exits with.
  package let exitStatus: Int32

  /// It was asked rightly, and did not work: exit status 1.
  package static func failure(_ what: String, _ why: String, hint: String) -> CommandError {
    CommandError(what: what, why: why, hint: hint, exitStatus: 1)
  }

  /// It was asked wrongly: exit status 2.
  package static func usage(_ what: String, _ why: String, hint: String) -> CommandError {
    CommandError(what: what, why: why, hint: hint, exitStatus: 2)
  }
}

/// The faults of a file that a verb cannot go on with, such as the configuration: exit status 2.
package struct FileFaults: Error, Equatable, Sendable {
  /// One fault: where and what, and what to do about it.
  package struct Fault: Equatable, Sendable {
    /// Where it is and what is wrong: `FILE:LINE: …`.
    package let text: String
    package let remedy: String

    package init(_ text: String, remedy: String) {
      self.text = text
      self.remedy = remedy
    }
  }

  /// In the order of the file, at least one.
  package let faults: [Fault]

  package init(_ faults: [Fault]) { self.faults = faults }
}
