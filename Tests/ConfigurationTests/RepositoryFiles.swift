import Foundation

/// A path in this checkout.
func repositoryPath(_ path: String) -> String {
  let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  return folder.deletingLastPathComponent().appendingPathComponent(path).path
}

func repositoryFile(_ path: String) throws -> String {
  try String(contentsOfFile: repositoryPath(path), encoding: .utf8)
}
