import Foundation

/// A path in this checkout.
public func repositoryPath(_ path: String) -> String {
  let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  return folder.deletingLastPathComponent().appendingPathComponent(path).path
}

/// The text of a file in this checkout.
public func repositoryFile(_ path: String) throws -> String {
  try String(contentsOfFile: repositoryPath(path), encoding: .utf8)
}
