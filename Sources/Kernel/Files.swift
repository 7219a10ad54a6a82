import Glibc

/// What is known about a file without reading it.
package struct FileFacts: Equatable, Sendable {
  /// What a name stands for; devices and pipes are `other`.
  package enum Kind: Sendable { case file, folder, socket, other }
  package let kind: Kind
  /// In bytes.
  package let size: Int
  /// Last change of the contents, in nanoseconds since 1970.
  package let modified: Int64
  /// Permission bits.
  package let mode: UInt32
  /// The user it belongs to.
  package let owner: UInt32
  /// The group it belongs to.
  package let group: UInt32

  fileprivate init(_ facts: stat) {
    switch facts.st_mode & S_IFMT {
    case S_IFREG: kind = .file
    case S_IFDIR: kind = .folder
    case S_IFSOCK: kind = .socket
    default: kind = .other
    }
    size = Int(facts.st_size)
    modified = Int64(facts.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(facts.st_mtim.tv_nsec)
    mode = facts.st_mode & 0o7777
    owner = facts.st_uid
    group = facts.st_gid
  }
}

/// Files and folders by path. Every error names the call and the path.
package enum Files {
  /// The facts of a file; a symbolic link is followed.
  package static func facts(_ path: String) throws(SystemError) -> FileFacts {
    var facts = stat()
    _ = try check("stat", path) { stat(path, &facts) }
    return FileFacts(facts)
  }

  /// Whether something is there under this name that can be looked at.
  package static func exists(_ path: String) -> Bool { (try? facts(path)) != nil }

  /// The contents of a file of at most `limit` bytes; `EFBIG` when there is more, and then nothing is kept.
  ///
  /// A pipe or a terminal is read to its end, however long that takes.
  package static func read(_ path: String, limit: Int) throws(SystemError) -> [UInt8] {
    let descriptor = try Descriptor(opening: path, flags: O_RDONLY)
    var facts = stat()
    _ = try check("fstat", path) { fstat(descriptor.raw, &facts) }
    let isFile = facts.st_mode & S_IFMT == S_IFREG
    if isFile && Int(facts.st_size) > limit { throw SystemError("read", code: EFBIG, subject: path) }
    if !isFile {
      let flags = try check("fcntl", path) { fcntl(descriptor.raw, F_GETFL) }
      _ = try check("fcntl", path) { fcntl(descriptor.raw, F_SETFL, flags & ~O_NONBLOCK) }
    }
    var contents: [UInt8] = []
    // One byte more than the file has finds its end without growing; files of /proc claim to be empty.
    var portion = isFile && facts.st_size > 0 ? Int(facts.st_size) + 1 : 64 * 1024
    while let bytes = try descriptor.read(upTo: min(portion, limit - contents.count + 1), subject: path) {
      if bytes.isEmpty { break }
      if contents.isEmpty { contents = bytes } else { contents += bytes }
      if contents.count > limit { throw SystemError("read", code: EFBIG, subject: path) }
      portion = 64 * 1024
    }
    return contents
  }

  /// All of standard input, of at most `limit` bytes; `EFBIG` when there is more. It waits for the end, so that only
  /// short-lived verbs may ask.
  package static func readStandardInput(limit: Int) throws(SystemError) -> [UInt8] {
    var contents: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = try check("read", "standard input") { Glibc.read(STDIN_FILENO, &buffer, buffer.count) }
      if count == 0 { return contents }
      contents += buffer[..<count]
      if contents.count > limit { throw SystemError("read", code: EFBIG, subject: "standard input") }
    }
  }

  /// Removes a file and makes that last: the folder is written to the disk as well.
  package static func remove(_ path: String) throws(SystemError) {
    _ = try check("unlink", path) { unlink(path) }
    try synchronizeFolder(of: path)
  }

  /// The names in a folder without `.` and `..`, sorted by their bytes. Names that are no UTF-8 are left out: they
  /// could not be opened by a `String`.
  package static func list(_ folder: String) throws(SystemError) -> [String] {
    guard let stream = opendir(folder) else { throw .last("opendir", folder) }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw .last("readdir", folder) }
        break
      }
      // The record is the stream's, valid until the next readdir; the name ends with a zero.
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
          String(validatingCString: $0)
        }
      }
      if let name, name != ".", name != ".." { names.append(name) }
    }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Makes a folder and those above it that are missing; one that is there already is left as it is.
  package static func makeFolder(_ path: String, mode: UInt32 = 0o755) throws(SystemError) {
    if mkdir(path, mode) == 0 {
      // Whatever the umask is.
      _ = try check("chmod", path) { chmod(path, mode) }
      return
    }
    switch errno {
    case EEXIST:
      guard try facts(path).kind == .folder else { throw SystemError("mkdir", code: ENOTDIR, subject: path) }
    case ENOENT where folder(of: path) != path && folder(of: path) != ".":
      try makeFolder(folder(of: path), mode: mode)
      try makeFolder(path, mode: mode)
    default:
      throw .last("mkdir", path)
    }
  }

  /// The folder that a path is in: `.` for a bare name.
  package static func folder(of path: String) -> String {
    var text = Substring(path)
    while text.count > 1 && text.last == "/" { text.removeLast() }
    guard let slash = text.lastIndex(of: "/") else { return "." }
    return slash == text.startIndex ? "/" : String(text[..<slash])
  }

  /// The last part of a path.
  package static func name(of path: String) -> String {
    String(path.split(separator: "/").last ?? "")
  }

  /// Where a symbolic link leads; nil when there is none of this name.
  package static func target(ofLink path: String) throws(SystemError) -> String? {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink(path, &buffer, buffer.count)
    if count < 0, errno == ENOENT { return nil }
    guard count >= 0 else { throw .last("readlink", path) }
    return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Makes a name a symbolic link to `target`, or leads the one that is there elsewhere, in one step that lasts.
  package static func link(_ path: String, to target: String) throws(SystemError) {
    let temporary = "\(folder(of: path))/.\(name(of: path)).new"
    _ = unlink(temporary)
    _ = try check("symlink", temporary) { symlink(target, temporary) }
    _ = try check("rename", path) { rename(temporary, path) }
    try synchronizeFolder(of: path)
  }

  /// Gives a folder another name in one step that lasts. What is in it has to be on the disk already.
  package static func move(_ path: String, to newPath: String) throws(SystemError) {
    _ = try check("rename", newPath) { rename(path, newPath) }
    try synchronizeFolder(of: newPath)
  }

  /// Removes a folder with everything in it; none of this name is well too. Links are removed, not followed.
  package static func removeTree(_ path: String) throws(SystemError) {
    if unlink(path) == 0 || errno == ENOENT { return }
    guard errno == EISDIR || errno == EPERM else { throw .last("unlink", path) }
    for name in try list(path) { try removeTree("\(path)/\(name)") }
    if rmdir(path) != 0, errno != ENOENT { throw .last("rmdir", path) }
  }

  fileprivate static func synchronizeFolder(of path: String) throws(SystemError) {
    try synchronize(folder(of: path))
  }

  /// Writes the names in a folder to the disk, and those in every folder below it.
  package static func synchronizeTree(_ folder: String) throws(SystemError) {
    for name in try list(folder) {
      let path = "\(folder)/\(name)"
      if try facts(path).kind == .folder { try synchronizeTree(path) }
    }
    try synchronize(folder)
  }

  /// Writes the names in a folder to the disk.
  package static func synchronize(_ folder: String) throws(SystemError) {
    let descriptor = try Descriptor(opening: folder, flags: O_RDONLY | O_DIRECTORY)
    _ = try check("fsync", folder) { fsync(descriptor.raw) }
  }
}

/// A lock that one process at a time can have, by a file that stays.
package final class FileLock {
  private let descriptor: Descriptor

  /// Nil while another process has it.
  package init?(_ path: String) throws(SystemError) {
    let descriptor = try Descriptor(opening: path, flags: O_RDWR | O_CREAT, mode: 0o600)
    if flock(descriptor.raw, LOCK_EX | LOCK_NB) != 0 {
      if errno == EWOULDBLOCK { return nil }
      throw .last("flock", path)
    }
    self.descriptor = descriptor
  }

  /// Gives it back; so does the end of this object, or of the process.
  package func unlock() { _ = flock(descriptor.raw, LOCK_UN) }
}

/// Writing a file so that its name has the old contents or the new ones, whatever happens.
package enum AtomicFile {
  /// Writes a temporary file beside `path` (`.NAME.` and eight digits), writes it to the disk and renames it.
  ///
  /// `mode` holds whatever the umask is. On failure the temporary file is removed and `path` is as it was; when the
  /// very last step fails (writing the folder to the disk), the new contents are in place, but may not last.
  ///
  /// - Parameter waitsForDisk: false for what nobody misses after a power cut, so that nothing waits for the disk.
  package static func write(
    _ bytes: some Collection<UInt8>, to path: String, mode: UInt32 = 0o644, waitsForDisk: Bool = true
  ) throws(SystemError) {
    let suffix = String(UInt32.random(in: 0x1000_0000...UInt32.max), radix: 16)
    let folder = Files.folder(of: path)
    let temporary = (folder == "/" ? "" : folder) + "/.\(Files.name(of: path)).\(suffix)"
    let descriptor = try Descriptor(opening: temporary, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
    do throws(SystemError) {
      var rest = ArraySlice(bytes)
      while !rest.isEmpty {
        // A regular file never has to wait; nil would mean that it is none.
        guard let count = try descriptor.write(rest, subject: path) else {
          throw SystemError("write", code: EAGAIN, subject: path)
        }
        rest = rest.dropFirst(count)
      }
      _ = try check("fchmod", path) { fchmod(descriptor.raw, mode) }
      if waitsForDisk { _ = try check("fsync", path) { fsync(descriptor.raw) } }
      _ = try check("rename", path) { rename(temporary, path) }
    } catch {
      _ = unlink(temporary)
      throw error
    }
    if waitsForDisk { try Files.synchronizeFolder(of: path) }
  }
}
