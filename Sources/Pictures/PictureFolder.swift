import Kernel

/// The simulated camera: it sees the newest picture of a folder.
///
/// Files whose names end in `.png` or `.pgm` count, hidden ones do not. The newest wins: by time of change, then by
/// name. A file that comes while this runs is looked at once it is complete, that is when its writer has closed it
/// or has moved it here. When the newest file goes, the camera sees the next one; with none left it sees nothing.
package final class PictureFolder {
  /// What the camera sees.
  package struct Frame: Sendable {
    /// The file's name in the folder.
    package let name: String
    package let image: LumaImage
  }

  /// What the camera reports.
  package enum Event: Sendable {
    /// Another picture is the newest, or the newest was written or touched again.
    case frame(Frame)
    /// A file that is no picture was skipped; said once, until the file changes.
    case skipped(PictureFileError)
    /// The folder is gone: nothing more will come.
    case folderGone
  }

  private struct Entry {
    var modified: Int64
    /// Grows with each change that was seen: the time alone may be the same twice.
    var change: Int
    var isRefused = false
  }

  /// What the camera sees now, nil before the loop has turned and when there is no picture.
  package private(set) var current: Frame?

  private let folder: String
  private let handler: (Event) -> Void
  private var watch: FolderWatch?
  private var timer: EventLoop.Timer?
  private var entries: [String: Entry] = [:]
  private var lastChange = 0
  private var shown: (name: String, change: Int)?

  /// Watches a folder; what it holds already is seen in the loop's next turn.
  package init(_ folder: String, on loop: EventLoop, handler: @escaping (Event) -> Void) throws(SystemError) {
    self.folder = folder
    self.handler = handler
    watch = try FolderWatch(folder, on: loop) { [weak self] in self?.folderChanged($0) }
    // Several files may come in one batch of events; only the newest is decoded, a turn later.
    timer = loop.timer("picture folder") { [weak self] in self?.look() }
    try listFolder()
  }

  deinit { cancel() }

  /// Ends it: no event comes any more.
  package func cancel() {
    watch?.cancel()
    watch = nil
    timer?.cancel()
  }

  private func listFolder() throws(SystemError) {
    entries = [:]
    for name in try Files.list(folder) { note(name) }
    timer?.set(after: .zero)
  }

  private func folderChanged(_ event: FolderWatch.Event) {
    switch event {
    case .written(let name), .movedIn(let name):
      note(name)
    case .created(let name), .removed(let name):
      entries[name] = nil
    case .touched(let name):
      // One that is being written is not known yet, and stays so.
      guard entries[name] != nil else { return }
      note(name)
    case .overflow:
      // A folder that cannot be listed any more will say so by itself.
      try? listFolder()
    case .folderGone:
      cancel()
      current = nil
      handler(.folderGone)
      return
    }
    timer?.set(after: .zero)
  }

  private func note(_ name: String) {
    let lower = name.lowercased()
    guard !name.hasPrefix("."), lower.hasSuffix(".png") || lower.hasSuffix(".pgm") else { return }
    guard let facts = try? Files.facts(path(name)), facts.kind == .file else {
      entries[name] = nil
      return
    }
    lastChange += 1
    entries[name] = Entry(modified: facts.modified, change: lastChange)
  }

  private func look() {
    while let (name, entry) = newest() {
      if let shown, shown == (name, entry.change) { return }
      do throws(PictureFileError) {
        let frame = Frame(name: name, image: try PictureFile.read(path(name)))
        shown = (name, entry.change)
        current = frame
        handler(.frame(frame))
        return
      } catch {
        entries[name]?.isRefused = true
        handler(.skipped(error))
        // The handler may have ended all this.
        guard watch != nil else { return }
      }
    }
    current = nil
    shown = nil
  }

  private func newest() -> (String, Entry)? {
    entries.lazy.filter { !$0.value.isRefused }
      .max { ($0.value.modified, $0.key) < ($1.value.modified, $1.key) }
      .map { ($0.key, $0.value) }
  }

  private func path(_ name: String) -> String { folder + "/" + name }
}
