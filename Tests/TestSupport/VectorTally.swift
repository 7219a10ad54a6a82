/// What came of the cases of one collection of reference data: how many ran and passed, and why others could not.
public struct VectorTally: CustomStringConvertible {
  private let collection: String
  /// Cases that were compared.
  public private(set) var run = 0
  /// Of these, the ones that came out as declared.
  public private(set) var passed = 0
  /// Cases that our faces cannot express, by reason.
  public private(set) var notApplicable: [String: Int] = [:]
  /// The cases that came out otherwise than declared, each with what was wrong.
  public private(set) var failures: [String] = []

  /// - Parameter collection: what is printed before the counts.
  public init(_ collection: String) { self.collection = collection }

  /// Every case, whatever became of it.
  public var cases: Int { run + notApplicable.values.reduce(0, +) }

  /// A case that ran.
  public mutating func count(_ name: String, passes: Bool) { count(name, ["": passes]) }

  /// A case that ran, by the facts that have to hold for it.
  public mutating func count(_ name: String, _ facts: KeyValuePairs<String, Bool>) {
    run += 1
    let wrong = facts.filter { !$0.value }.map(\.key)
    if wrong.isEmpty { passed += 1 } else { failures.append("\(name): \(wrong.joined(separator: ", "))") }
  }

  /// A case that cannot run, and why.
  public mutating func leaveOut(_ reason: String) { notApplicable[reason, default: 0] += 1 }

  /// One line.
  public var description: String {
    let reasons = notApplicable.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
    let left = cases - run
    return "\(collection): run \(run), passed \(passed), not applicable \(left)"
      + (reasons.isEmpty ? "" : " (\(reasons.joined(separator: "; ")))")
  }
}
