import Foundation

/// A folder that is gone when the test is over.
public final class TemporaryFolder: Sendable {
  /// Where it is.
  public let path: String

  /// A new, empty one.
  public init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("mdoc-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
