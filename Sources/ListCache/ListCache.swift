import Bytes
import CivilTime
import Crypto
import JSON
import Kernel

/// The folder of copies: what `refresh` writes and the reader reads.
///
/// Of each source there are two files, named by the SHA-256 of its address: the body as received, whose name has the
/// beginning of its own digest, and an entry that says which body counts. The entry comes last and by one rename, so that
/// whatever stops the writer, a reader finds the old copy or the new one.
package struct ListCache: Sendable {
  package let folder: String

  package init(folder: String) { self.folder = folder }

  /// Most sources that are looked at.
  package static let mostEntries = 4096
  private static let entrySuffix = ".json"
  private static let entrySize = 16 << 10
  /// How old a file that nobody names must be to be taken for a leftover, in seconds.
  private static let leftoverAge: Int64 = 600

  /// What is in the folder.
  package struct Listing: Sendable {
    /// Sorted by kind and address.
    package var entries: [CacheEntry] = []
    /// A line for each file that could not be used.
    package var problems: [String] = []
  }

  /// The entries. A folder that is not there is an empty one: nothing was fetched yet.
  package func list() -> Listing {
    var listing = Listing()
    let names: [String]
    do throws(SystemError) {
      names = try Files.list(folder)
    } catch {
      if error.name != "ENOENT" { listing.problems.append("\(folder): \(error.reason)") }
      return listing
    }
    for name in names where ListCache.isEntry(name) {
      guard listing.entries.count < ListCache.mostEntries else {
        listing.problems.append("\(folder): more than \(ListCache.mostEntries) lists")
        break
      }
      let bytes: [UInt8]
      do throws(SystemError) {
        bytes = try Files.read("\(folder)/\(name)", limit: ListCache.entrySize)
      } catch {
        // Between the listing and now it may have gone.
        if error.name != "ENOENT" { listing.problems.append("\(name): \(error.reason)") }
        continue
      }
      guard let entry = JSONValue(reading: bytes).flatMap(CacheEntry.init),
        entry.source.fileName + ListCache.entrySuffix == name
      else {
        listing.problems.append("\(name): not an entry of a list")
        continue
      }
      listing.entries.append(entry)
    }
    listing.entries.sort { $0.source < $1.source }
    return listing
  }

  /// The body of a copy; throws `EBADMSG` where its bytes are not those that the entry is about.
  package func body(of source: ListSource, _ copy: CacheEntry.Copy, limit: Int) throws(SystemError) -> [UInt8] {
    let path = self.path(source, copy)
    let bytes = try Files.read(path, limit: limit)
    guard digest(.sha256, bytes).hex == copy.digest else {
      throw SystemError("read", code: ListCache.badMessage, subject: path)
    }
    return bytes
  }

  private static let badMessage: CInt = 74

  /// Writes an entry, and before it the body where there is a new one. The body it replaces goes last.
  package func write(_ entry: CacheEntry, body: [UInt8]? = nil) throws(SystemError) {
    if let body, let copy = entry.copy { try AtomicFile.write(body, to: path(entry.source, copy)) }
    let name = entry.source.fileName
    try AtomicFile.write((entry.document.text + "\n").utf8, to: "\(folder)/\(name)\(ListCache.entrySuffix)")
    guard body != nil else { return }
    let kept = entry.copy.map { Files.name(of: path(entry.source, $0)) }
    for other in try Files.list(folder) where other.hasPrefix(name + ".") && !ListCache.isEntry(other) && other != kept
    {
      try Files.remove("\(folder)/\(other)")
    }
  }

  /// Forgets a source. The entry goes first.
  package func remove(_ source: ListSource) throws(SystemError) {
    let name = source.fileName
    if Files.exists("\(folder)/\(name)\(ListCache.entrySuffix)") {
      try Files.remove("\(folder)/\(name)\(ListCache.entrySuffix)")
    }
    for other in try Files.list(folder) where other.hasPrefix(name + ".") { try Files.remove("\(folder)/\(other)") }
  }

  /// Removes what a writer that was stopped has left: bodies that no entry names, and temporary files.
  package func removeLeftovers(at now: UnixTime) {
    let named = Set(list().entries.compactMap { entry in entry.copy.map { Files.name(of: path(entry.source, $0)) } })
    for name in (try? Files.list(folder)) ?? [] where !ListCache.isEntry(name) && !named.contains(name) {
      let bare = name.hasPrefix(".") ? name.dropFirst() : name[...]
      guard ListKind.allCases.contains(where: { bare.hasPrefix($0.rawValue + "-") }),
        let facts = try? Files.facts("\(folder)/\(name)"), facts.kind == .file,
        facts.modified / 1_000_000_000 < now.seconds - ListCache.leftoverAge
      else { continue }
      try? Files.remove("\(folder)/\(name)")
    }
  }

  /// Whether a change of this name in the folder can change what is here.
  package static func isEntry(_ name: String) -> Bool { !name.hasPrefix(".") && name.hasSuffix(entrySuffix) }

  private func path(_ source: ListSource, _ copy: CacheEntry.Copy) -> String {
    "\(folder)/\(source.fileName).\(copy.digest.prefix(16))"
  }
}
