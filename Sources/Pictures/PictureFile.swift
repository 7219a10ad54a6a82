import Kernel

/// Pictures in files. The first bytes say what a file is, not its name.
package enum PictureFile {
  /// The largest file that is read, in bytes: an uncompressed picture of 16 bits with room for its header.
  package static let maximumBytes = 2 * LumaImage.maximumSide * LumaImage.maximumSide + 65536

  /// Reads a PNG or a PGM.
  package static func read(_ path: String) throws(PictureFileError) -> LumaImage {
    let bytes: [UInt8]
    do throws(SystemError) { bytes = try Files.read(path, limit: maximumBytes) } catch { throw .unreadable(error) }
    do throws(PictureError) { return try decode(bytes) } catch { throw .refused(path, error) }
  }

  /// A picture from the contents of a file.
  package static func decode(_ bytes: [UInt8]) throws(PictureError) -> LumaImage {
    if PNG.isPNG(bytes) { return try PNG.decode(bytes) }
    if PGM.isPGM(bytes) { return try PGM.decode(bytes) }
    throw .unknownFormat
  }

  /// Writes a picture atomically: as PGM when the name ends so, otherwise as PNG.
  package static func write(_ image: LumaImage, to path: String) throws(PictureFileError) {
    let bytes: [UInt8]
    do throws(PictureError) {
      bytes = try path.lowercased().hasSuffix(".pgm") ? PGM.encode(image) : PNG.encode(image)
    } catch {
      throw .refused(path, error)
    }
    do throws(SystemError) { try AtomicFile.write(bytes, to: path) } catch { throw .unreadable(error) }
  }
}

/// Why a file gave no picture, and which file.
package enum PictureFileError: Error, Equatable, Sendable {
  /// The system could not read or write it.
  case unreadable(SystemError)
  /// Its contents are no picture that is accepted.
  case refused(String, PictureError)
}

extension PictureFileError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unreadable(let error): error.description
    case .refused(let path, let error): "\(path): \(error)"
    }
  }
}
