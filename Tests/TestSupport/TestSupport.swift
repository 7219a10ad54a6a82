/// What several test targets need: files of the reference data, and printed reasons for what was not run.
import Foundation

/// The folder of reference data beside the checkout (`../shared`), or nil on a plain clone.
///
/// `MDOC_SHARED` names another place. Tests that need it call `sharedFile` and return when it is nil; the
/// reason is printed once for each test, so that nothing is skipped in silence.
public let sharedFolder: URL? = {
  let named = ProcessInfo.processInfo.environment["MDOC_SHARED"].map { URL(fileURLWithPath: $0) }
  let beside = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("shared")
  let folder = named ?? beside
  return FileManager.default.fileExists(atPath: folder.appendingPathComponent("vectors").path) ? folder : nil
}()

/// One file or folder of the reference data; prints why and returns nil where it is absent.
public func shared(_ path: String, test: String = #function) -> URL? {
  guard let folder = sharedFolder else {
    print("skipped: \(test): no reference data beside this checkout (wanted \(path))")
    return nil
  }
  return folder.appendingPathComponent(path)
}

/// The bytes of one file of the reference data.
public func sharedBytes(_ path: String, test: String = #function) throws -> [UInt8]? {
  guard let url = shared(path, test: test) else { return nil }
  return [UInt8](try Data(contentsOf: url))
}

/// A JSON file of the reference data, as Foundation's property list types.
public func sharedJSON(_ path: String, test: String = #function) throws -> Any? {
  guard let url = shared(path, test: test) else { return nil }
  return try JSONSerialization.jsonObject(with: Data(contentsOf: url))
}

/// The names of the JSON files in a folder of the reference data, sorted, without PROVENANCE and index files.
public func sharedCases(in folder: String, test: String = #function) throws -> [String] {
  guard let url = shared(folder, test: test) else { return [] }
  return try FileManager.default.contentsOfDirectory(atPath: url.path)
    .filter { $0.hasSuffix(".json") && $0 != "index.json" }.sorted()
}
