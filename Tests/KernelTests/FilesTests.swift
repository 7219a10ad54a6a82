import Foundation
import Testing

@testable import Kernel

@Suite struct FilesTests {
  @Test("an error names the call, the path and the reason")
  func missing() {
    #expect(throws: SystemError("open", code: ENOENT, subject: "/nonexistent/x")) {
      try Files.read("/nonexistent/x", limit: 10)
    }
    let error = SystemError("open", code: ENOENT, subject: "/nonexistent/x")
    #expect(error.description == "open /nonexistent/x: No such file or directory")
    #expect(SystemError("eventfd", code: EMFILE).description == "eventfd: Too many open files")
    #expect(SystemError("x", code: 9999).description == "x: error 9999")
    #expect(error.name == "ENOENT")
  }

  @Test("a file is read up to its limit and refused above it", arguments: [0, 1, 100, 70_000])
  func limit(size: Int) throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/file"
    let contents = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
    try AtomicFile.write(contents, to: path)
    #expect(try Files.read(path, limit: size) == contents)
    #expect(try Files.read(path, limit: 1_000_000) == contents)
    if size > 0 {
      #expect(throws: SystemError("read", code: EFBIG, subject: path)) { try Files.read(path, limit: size - 1) }
    }
  }

  @Test("a file that claims to be empty is read, and limited all the same")
  func proc() throws {
    #expect(try !Files.read("/proc/self/status", limit: 100_000).isEmpty)
    #expect(throws: SystemError("read", code: EFBIG, subject: "/proc/self/status")) {
      try Files.read("/proc/self/status", limit: 20)
    }
    #expect(throws: SystemError("read", code: EISDIR, subject: "/proc")) { try Files.read("/proc", limit: 20) }
  }

  @Test("a file is replaced with its mode, and no temporary file stays")
  func atomic() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/file"
    try AtomicFile.write([1, 2], to: path, mode: 0o666)
    #expect(try Files.facts(path).mode == 0o666)
    try AtomicFile.write([3], to: path, mode: 0o600)
    #expect(try Files.read(path, limit: 10) == [3])
    #expect(try Files.facts(path).mode == 0o600)
    try AtomicFile.write([4], to: path, waitsForDisk: false)
    #expect(try Files.read(path, limit: 10) == [4])
    #expect(try Files.list(folder.path) == ["file"])
  }

  @Test("a failed write leaves the old contents and no temporary file")
  func atomicFailure() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/taken"
    try Files.makeFolder(path)  // a folder cannot be replaced by a file
    #expect(throws: SystemError("rename", code: EISDIR, subject: path)) { try AtomicFile.write([1], to: path) }
    #expect(try Files.list(folder.path) == ["taken"])
    #expect(throws: SystemError.self) { try AtomicFile.write([1], to: folder.path + "/none/file") }
  }

  @Test("a full device is reported and leaves nothing behind")
  func full() throws {
    let descriptor = try Descriptor(opening: "/dev/full", flags: O_WRONLY)
    #expect(throws: SystemError("write", code: ENOSPC, subject: "x")) { try descriptor.write([1], subject: "x") }
  }

  @Test("files are listed in byte order, and removed")
  func listing() throws {
    let folder = try TemporaryFolder()
    for name in ["b", "a", "Z", ".hidden"] { try AtomicFile.write([], to: folder.path + "/" + name) }
    #expect(try Files.list(folder.path) == [".hidden", "Z", "a", "b"])
    try Files.remove(folder.path + "/a")
    #expect(rename(folder.path + "/Z", folder.path + "/b") == 0)
    #expect(try Files.list(folder.path) == [".hidden", "b"])
    #expect(throws: SystemError("unlink", code: ENOENT, subject: folder.path + "/a")) {
      try Files.remove(folder.path + "/a")
    }
    #expect(throws: SystemError("opendir", code: ENOTDIR, subject: folder.path + "/b")) {
      try Files.list(folder.path + "/b")
    }
  }

  @Test("folders are made with those above them; a file in the way is named")
  func folders() throws {
    let folder = try TemporaryFolder()
    try Files.makeFolder(folder.path + "/a/b/c")
    try Files.makeFolder(folder.path + "/a/b/c")
    #expect(try Files.facts(folder.path + "/a/b/c").kind == .folder)
    try AtomicFile.write([], to: folder.path + "/file")
    #expect(throws: SystemError("mkdir", code: ENOTDIR, subject: folder.path + "/file")) {
      try Files.makeFolder(folder.path + "/file")
    }
    #expect(Files.exists(folder.path + "/file"))
    #expect(!Files.exists(folder.path + "/other"))
  }

  @Test(
    "a path is split into folder and name",
    arguments: [
      ("/a/b", "/a", "b"), ("/a", "/", "a"), ("a", ".", "a"), ("a/b/", "a", "b"), ("/", "/", ""), ("", ".", ""),
    ])
  func paths(path: String, folder: String, name: String) {
    #expect(Files.folder(of: path) == folder)
    #expect(Files.name(of: path) == name)
  }

  @Test("a descriptor is closed when its value ends, and is close-on-exec and non-blocking")
  func descriptors() throws {
    var raw: CInt = -1
    do {
      let descriptor = try Descriptor(opening: "/dev/zero", flags: O_RDONLY)
      raw = descriptor.raw
      #expect(fcntl(raw, F_GETFD) & FD_CLOEXEC != 0)
      #expect(fcntl(raw, F_GETFL) & O_NONBLOCK != 0)
      #expect(try descriptor.read(upTo: 3) == [0, 0, 0])
      let other = dup(raw)
      let released = Descriptor(owning: other).release()
      #expect(fcntl(released, F_GETFD) >= 0)
      close(released)
    }
  }
}

@Suite struct FolderWatchTests {
  @Test("names that come, are written, moved in, touched and removed are reported")
  func events() throws {
    let loop = try EventLoop()
    let folder = try TemporaryFolder()
    let inside = folder.path + "/watched"
    try Files.makeFolder(inside)
    var events: [FolderWatch.Event] = []
    let watch = try FolderWatch(inside, on: loop) { events.append($0) }
    do { _ = try Descriptor(opening: inside + "/a", flags: O_WRONLY | O_CREAT, mode: 0o600) }
    try AtomicFile.write([1], to: folder.path + "/b")
    #expect(rename(folder.path + "/b", inside + "/b") == 0)
    #expect(utimes(inside + "/a", nil) == 0)
    try Files.remove(inside + "/a")
    while try loop.run(until: .now + .milliseconds(2)) {}
    #expect(events.contains(.movedIn("b")))
    #expect(events.filter { $0 == .created("a") }.count == 1)
    #expect(events.contains(.written("a")))
    #expect(events.contains(.touched("a")))
    #expect(events.contains(.removed("a")))
    events = []
    try FileManager.default.removeItem(atPath: inside)
    while try loop.run(until: .now + .milliseconds(2)) {}
    #expect(events == [.removed("b"), .folderGone])
    #expect(loop.watchCount == 0)
    watch.cancel()
  }

  @Test("a file written atomically is seen as moved in, once complete")
  func atomicFile() throws {
    let loop = try EventLoop()
    let folder = try TemporaryFolder()
    var names: [String] = []
    let watch = try FolderWatch(folder.path, on: loop) { if case .movedIn(let name) = $0 { names.append(name) } }
    try AtomicFile.write([1], to: folder.path + "/x")
    _ = try loop.run(until: .now + .milliseconds(2))
    #expect(names == ["x"])
    watch.cancel()
  }

  @Test("a watch that is ended in its handler gives nothing more, and one of no folder is refused")
  func cancelled() throws {
    let loop = try EventLoop()
    let folder = try TemporaryFolder()
    var count = 0
    var watch: FolderWatch?
    watch = try FolderWatch(folder.path, on: loop) { _ in
      count += 1
      watch?.cancel()
    }
    try AtomicFile.write([1], to: folder.path + "/x")
    _ = try loop.run(until: .now + .milliseconds(2))
    #expect(count == 1)
    let file = folder.path + "/x"
    #expect(throws: SystemError("inotify_add_watch", code: ENOTDIR, subject: file)) {
      _ = try FolderWatch(file, on: loop) { _ in }
    }
  }

  @Test("an overflow is an event, and a record cut short ends the reading")
  func records() {
    func record(_ mask: UInt32, _ name: [UInt8]) -> [UInt8] {
      [1, mask, 0, UInt32(name.count)].flatMap { word in withUnsafeBytes(of: word) { [UInt8]($0) } } + name
    }
    let bytes = record(0x4000, []) + record(0x100, [97, 0, 0, 0]) + record(0x8, [98, 0, 0, 0])
    #expect(FolderWatch.parse(bytes) == [.overflow, .created("a"), .written("b")])
    #expect(FolderWatch.parse(bytes.dropLast()) == [.overflow, .created("a")])
    #expect(FolderWatch.parse([]) == [])
  }
}

@Suite struct ProcessFactsTests {
  @Test("memory and descriptors of this process are known")
  func memory() throws {
    #expect(try ProcessFacts.residentBytes() > 1_000_000)
    #expect(try ProcessFacts.openDescriptors() >= 3)
  }

  @Test("the wall clock agrees with Foundation's")
  func clock() {
    let now = WallClock.now()
    #expect(abs(Double(now.seconds) - Date().timeIntervalSince1970) < 5)
    #expect((0..<1_000_000_000).contains(now.nanoseconds))
  }
}
