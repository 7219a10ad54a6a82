internal import CLinux
import Glibc

/// What happens to the names in one folder, as events of a loop (inotify).
package final class FolderWatch {
  /// What happened to one name, or to the folder.
  package enum Event: Equatable, Sendable {
    /// A name is new. A file may still be empty; a socket may not listen yet.
    case created(String)
    /// A file was closed by one who could write it: it is complete.
    case written(String)
    /// A name was moved here from another one: it is complete.
    case movedIn(String)
    /// A file's times or permissions were changed (`touch`).
    case touched(String)
    /// A name is gone: deleted, or moved away.
    case removed(String)
    /// Events were lost: look at the whole folder again.
    case overflow
    /// The folder itself was deleted or moved, or its file system is gone. Nothing more will come. The system says
    /// so of a deleted folder only when the sockets that were bound in it are closed as well.
    case folderGone
  }

  private let loop: EventLoop
  private let descriptor: Descriptor
  private let folder: String
  private let handler: (Event) -> Void
  private var watch: EventLoop.Watch?

  /// Calls `handler` with each event from now on. Start it before listing the folder, so that nothing is missed
  /// between the two.
  package init(_ folder: String, on loop: EventLoop, handler: @escaping (Event) -> Void) throws(SystemError) {
    self.loop = loop
    self.folder = folder
    self.handler = handler
    let raw = try check("inotify_init1") { linux_inotify() }
    descriptor = Descriptor(owning: raw)
    let mask =
      linux_in_create | linux_in_close_write | linux_in_moved_to | linux_in_moved_from | linux_in_delete
      | linux_in_attrib | linux_in_delete_self | linux_in_move_self | linux_in_onlydir
    _ = try check("inotify_add_watch", folder) { inotify_add_watch(raw, folder, mask) }
    watch = try loop.watch(raw: raw, for: .read) { [weak self] _ in self?.readEvents() }
  }

  deinit { cancel() }

  /// Ends it: no event comes any more, not even one that has been read already.
  package func cancel() {
    guard let watch else { return }
    loop.remove(watch)
    self.watch = nil
  }

  private func readEvents() {
    // 16 KiB hold dozens of events; what is left is reported in the next turn.
    let bytes: [UInt8]
    do throws(SystemError) {
      guard let read = try descriptor.read(upTo: 16 * 1024, subject: folder), !read.isEmpty else { return }
      bytes = read
    } catch {
      cancel()
      handler(.folderGone)
      return
    }
    for event in FolderWatch.parse(bytes) {
      guard watch != nil else { return }
      if event == .folderGone { cancel() }
      handler(event)
    }
  }

  /// The records of inotify(7): descriptor, mask, cookie, name length, name padded with zeros.
  static func parse(_ bytes: [UInt8]) -> [Event] {
    var events: [Event] = []
    var rest = bytes[...]
    func word(_ index: Int) -> UInt32 {
      let start = rest.startIndex + 4 * index
      return rest.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start - rest.startIndex, as: UInt32.self) }
    }
    while rest.count >= 16 {
      let mask = word(1)
      let length = Int(word(3))
      guard rest.count - 16 >= length else { break }
      let name = rest.dropFirst(16).prefix(length).prefix { $0 != 0 }
      rest = rest.dropFirst(16 + length)
      guard let event = event(mask, String(decoding: name, as: UTF8.self)), events.last != .folderGone else { continue }
      events.append(event)
    }
    return events
  }

  private static func event(_ mask: UInt32, _ name: String) -> Event? {
    func has(_ bit: UInt32) -> Bool { mask & bit != 0 }
    if has(linux_in_q_overflow) { return .overflow }
    if has(linux_in_delete_self | linux_in_move_self | linux_in_ignored) { return .folderGone }
    guard !name.isEmpty else { return nil }  // the folder's own times and permissions
    if has(linux_in_create) { return .created(name) }
    if has(linux_in_close_write) { return .written(name) }
    if has(linux_in_moved_to) { return .movedIn(name) }
    if has(linux_in_attrib) { return .touched(name) }
    if has(linux_in_delete | linux_in_moved_from) { return .removed(name) }
    return nil
  }
}
