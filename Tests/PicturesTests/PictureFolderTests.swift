import Foundation
import Kernel
import Pictures
import TestSupport
import Testing

/// A folder with a simulated camera on it, and what the camera reported.
private final class Scene {
  let path: String
  let loop: EventLoop
  private(set) var log: [String] = []
  var camera: PictureFolder?

  init() throws {
    path = NSTemporaryDirectory() + "pictures-" + UUID().uuidString
    try Files.makeFolder(path)
    loop = try EventLoop()
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func start() throws {
    camera = try PictureFolder(path, on: loop) { [weak self] event in
      guard let self else { return }
      switch event {
      case .frame(let frame): log.append("\(frame.name) \(frame.image.width)")
      case .skipped(let error): log.append("skipped \(error.description.replacingOccurrences(of: path, with: ""))")
      case .folderGone: log.append("gone")
      }
    }
  }

  /// What is reported within the time that the loop needs to come to rest.
  func reports() throws -> [String] {
    log = []
    _ = try loop.run(until: .now + .milliseconds(50))
    return log
  }

  /// A picture whose width tells it from others, with a time in seconds.
  func put(_ name: String, width: Int, at time: Int) throws {
    let hidden = path + "/.new"
    try AtomicFile.write(
      name.hasSuffix("png") ? PNG.encode(gradient(width, 2)) : PGM.encode(gradient(width, 2)), to: hidden)
    let stamp = [timeval(tv_sec: time, tv_usec: 0), timeval(tv_sec: time, tv_usec: 0)]
    #expect(utimes(hidden, stamp) == 0)
    #expect(rename(hidden, path + "/" + name) == 0)
  }
}

@Suite struct PictureFolderTests {
  @Test("the newest picture wins: by time, then by name")
  func newest() throws {
    let scene = try Scene()
    try scene.put("a.png", width: 1, at: 100)
    try scene.put("c.pgm", width: 2, at: 90)
    try scene.put("b.png", width: 3, at: 100)
    try scene.put("notes.txt", width: 4, at: 200)
    try scene.put(".hidden.png", width: 5, at: 200)
    try scene.start()
    #expect(scene.camera?.current == nil)
    #expect(try scene.reports() == ["b.png 3"])
    #expect(scene.camera?.current?.name == "b.png")
    try scene.put("old.png", width: 6, at: 50)
    #expect(try scene.reports() == [])
    try scene.put("d.PGM", width: 7, at: 101)
    #expect(try scene.reports() == ["d.PGM 7"])
  }

  @Test("several pictures of one moment give one frame")
  func batch() throws {
    let scene = try Scene()
    try scene.start()
    #expect(try scene.reports() == [])
    for index in 1...20 { try scene.put("\(index).pgm", width: index, at: index) }
    #expect(try scene.reports() == ["20.pgm 20"])
  }

  @Test("a picture is seen when its writer has closed it, not before")
  func halfWritten() throws {
    let scene = try Scene()
    try scene.start()
    let bytes = PGM.encode(try gradient(9, 9))
    do {
      let file = try Descriptor(opening: scene.path + "/x.pgm", flags: O_WRONLY | O_CREAT, mode: 0o644)
      _ = try file.write(bytes[..<20])
      #expect(try scene.reports() == [])
      #expect(utimes(scene.path + "/x.pgm", nil) == 0)
      #expect(try scene.reports() == [])
      _ = try file.write(bytes[20...])
      #expect(try scene.reports() == [])
    }
    #expect(try scene.reports() == ["x.pgm 9"])
  }

  @Test("what is no picture is named once with its reason, and the next newest is seen")
  func refused() throws {
    let scene = try Scene()
    try scene.put("good.png", width: 4, at: 10)
    try AtomicFile.write(Array("P5 2 2 255\nx".utf8), to: scene.path + "/bad.pgm")
    try scene.start()
    #expect(try scene.reports() == ["skipped /bad.pgm: ends at byte 12 in the samples", "good.png 4"])
    try scene.put("other.png", width: 5, at: 11)
    #expect(try scene.reports() == ["other.png 5"])
    try AtomicFile.write(Array("GIF".utf8), to: scene.path + "/bad.pgm")
    #expect(try scene.reports() == ["skipped /bad.pgm: neither PNG nor PGM"])
    try AtomicFile.write(PGM.encode(gradient(6, 1)), to: scene.path + "/bad.pgm")
    #expect(try scene.reports() == ["bad.pgm 6"])
  }

  @Test("a picture that is touched or written again is seen again, a removed one gives way to the next")
  func changes() throws {
    let scene = try Scene()
    try scene.put("a.png", width: 1, at: 10)
    try scene.put("b.png", width: 2, at: 20)
    try scene.start()
    #expect(try scene.reports() == ["b.png 2"])
    #expect(utimes(scene.path + "/a.png", nil) == 0)
    #expect(try scene.reports() == ["a.png 1"])
    try AtomicFile.write(PNG.encode(gradient(3, 1)), to: scene.path + "/a.png")
    #expect(try scene.reports() == ["a.png 3"])
    try Files.remove(scene.path + "/a.png")
    #expect(try scene.reports() == ["b.png 2"])
    try Files.remove(scene.path + "/b.png")
    #expect(try scene.reports() == [])
    #expect(scene.camera?.current == nil)
    try FileManager.default.removeItem(atPath: scene.path)
    #expect(try scene.reports() == ["gone"])
    #expect(scene.loop.watchCount == 0)
  }

  @Test("a camera without its folder is refused by name, and one that is ended says nothing more")
  func ends() throws {
    let scene = try Scene()
    try scene.start()
    try scene.put("a.png", width: 1, at: 10)
    scene.camera?.cancel()
    #expect(try scene.reports() == [])
    #expect(scene.loop.watchCount == 0)
    let missing = scene.path + "/none"
    #expect(throws: SystemError("inotify_add_watch", code: ENOENT, subject: missing)) {
      _ = try PictureFolder(missing, on: scene.loop) { _ in }
    }
  }

  @Test("pictures are written in the format that their name asks for")
  func writing() throws {
    let scene = try Scene()
    let image = try gradient(3, 3)
    try PictureFile.write(image, to: scene.path + "/a.PGM")
    try PictureFile.write(image, to: scene.path + "/a.png")
    #expect(try Files.read(scene.path + "/a.PGM", limit: 1000).starts(with: Array("P5".utf8)))
    #expect(try PictureFile.read(scene.path + "/a.png") == image)
    let error = thrown(PictureFileError.self) { _ = try PictureFile.read(scene.path + "/none.png") }
    #expect(error?.description == "open \(scene.path)/none.png: No such file or directory")
  }
}
