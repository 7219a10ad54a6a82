internal import CGPIOD
import Glibc
import Kernel

/// Where lines are had from: the kernel, through libgpiod, or what a test puts in its place.
protocol LineSource {
  /// All chips with all lines.
  func chips() throws(SystemError) -> ChipList
  /// Outputs of one chip and one polarity, inactive from the first instant.
  func outputs(_ path: String, _ offsets: [UInt32], isActiveLow: Bool, consumer: String)
    throws(SystemError) -> any HeldLines
  func input(
    _ path: String, _ offset: UInt32, isActiveLow: Bool, bias: LineSettings.Bias, consumer: String
  ) throws(SystemError) -> any HeldLines
}

/// Lines that this process holds until they are released. Levels are logical.
protocol HeldLines: AnyObject {
  /// Of inputs: readable after an edge.
  var descriptor: CInt { get }
  func set(_ levels: [Bool]) throws(SystemError)
  func get() throws(SystemError) -> [Bool]
  /// Takes the edges that wait.
  func drain() throws(SystemError)
  func release()
}

/// The kernel's chips.
struct GPIODevices: LineSource {
  /// The library at work: `libgpiod 1.6.3`.
  static var library: String { "libgpiod \(String(cString: cgpiod_version()))" }

  func chips() throws(SystemError) -> ChipList {
    var list = ChipList(chips: [])
    for file in try Files.list("/dev") where file.hasPrefix("gpiochip") {
      let path = "/dev/\(file)"
      do throws(SystemError) {
        let chip = try GPIODevices.facts(path)
        // Some systems give a chip a second name by a link.
        if chip.name == file { list.chips.append(chip) }
      } catch {
        switch error.code {
        case EACCES, EPERM: list.denied.append(path)
        // It went away between the list and the look, or is something else by that name.
        case ENOENT, ENODEV, ENXIO, ENOTTY: continue
        default: throw error
        }
      }
    }
    return list
  }

  private static func facts(_ path: String) throws(SystemError) -> ChipFacts {
    guard let chip = cgpiod_chip_open(path) else { throw .last("open", path) }
    defer { cgpiod_chip_close(chip) }
    var facts = ChipFacts(
      path: path, name: String(cString: cgpiod_chip_name(chip)), label: String(cString: cgpiod_chip_label(chip)),
      lines: [])
    for offset in 0..<cgpiod_chip_line_count(chip) {
      guard cgpiod_chip_look_at(chip, offset) == 0 else { throw .last("line info", "\(path) line \(offset)") }
      facts.lines.append(
        LineFacts(
          name: String(cString: cgpiod_line_name(chip)), isUsed: cgpiod_line_is_used(chip) != 0,
          consumer: String(cString: cgpiod_line_consumer(chip))))
    }
    return facts
  }

  func outputs(
    _ path: String, _ offsets: [UInt32], isActiveLow: Bool, consumer: String
  ) throws(SystemError) -> any HeldLines {
    let inactive = offsets.map { _ in CInt(0) }
    guard
      let lines = cgpiod_request_outputs(path, consumer, offsets, inactive, offsets.count, isActiveLow ? 1 : 0)
    else { throw .last("request", path) }
    return GPIODLines(lines, count: offsets.count, path: path)
  }

  func input(
    _ path: String, _ offset: UInt32, isActiveLow: Bool, bias: LineSettings.Bias, consumer: String
  ) throws(SystemError) -> any HeldLines {
    let number: CInt =
      switch bias {
      case .asIs: 0
      case .none: 1
      case .pullUp: 2
      case .pullDown: 3
      }
    var lines = cgpiod_request_input(path, consumer, offset, isActiveLow ? 1 : 0, number)
    // A kernel before 5.5 knows no bias; a board for it has resistors of its own.
    if lines == nil, errno == EINVAL, bias != .asIs {
      lines = cgpiod_request_input(path, consumer, offset, isActiveLow ? 1 : 0, 0)
    }
    guard let lines else { throw .last("request", path) }
    return GPIODLines(lines, count: 1, path: path)
  }
}

/// One request of libgpiod; released when this object goes, at the latest.
final class GPIODLines: HeldLines {
  /// Owned: nil once released.
  private var lines: OpaquePointer?
  private let count: Int
  private let path: String

  fileprivate init(_ lines: OpaquePointer, count: Int, path: String) {
    self.lines = lines
    self.count = count
    self.path = path
  }

  deinit { release() }

  func release() {
    if let lines { cgpiod_release(lines) }
    lines = nil
  }

  var descriptor: CInt { lines.map { cgpiod_descriptor($0) } ?? -1 }

  func set(_ levels: [Bool]) throws(SystemError) {
    guard let lines, levels.count == count else { throw SystemError("set", code: EBADF, subject: path) }
    guard cgpiod_set(lines, levels.map { $0 ? 1 : 0 }) == 0 else { throw .last("set", path) }
  }

  func get() throws(SystemError) -> [Bool] {
    guard let lines else { throw SystemError("get", code: EBADF, subject: path) }
    var levels = [CInt](repeating: 0, count: count)
    guard cgpiod_get(lines, &levels) == 0 else { throw .last("get", path) }
    return levels.map { $0 != 0 }
  }

  func drain() throws(SystemError) {
    guard let lines else { return }
    guard cgpiod_drain(lines) >= 0 else { throw .last("read", path) }
  }
}
