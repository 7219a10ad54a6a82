import Bluetooth
internal import CLinux
import Glibc
import Kernel
import Links

/// The random address of one advertisement: 48 bits, fresh each time, as a phone's is.
package struct AirAddress: Hashable, Sendable, CustomStringConvertible {
  /// 48 bits.
  package let value: UInt64

  /// A fresh one.
  package static func random() -> AirAddress { AirAddress(value: .random(in: 0..<1 << 48)) }

  private init(value: UInt64) { self.value = value }

  /// Twelve lower-case hexadecimal digits, or nil.
  package init?(_ text: some StringProtocol) {
    guard text.utf8.count == 12, text.utf8.allSatisfy(isLowerHex), let value = UInt64(text, radix: 16) else {
      return nil
    }
    self.value = value
  }

  /// Twelve lower-case hexadecimal digits.
  package var description: String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 12 - digits.utf8.count) + digits
  }
}

private func isLowerHex(_ byte: UInt8) -> Bool {
  (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
}

/// Why something does not get on the air.
package enum AirError: Error, Equatable, Sendable {
  /// A socket's path does not fit its address: choose a folder with a shorter path.
  case pathTooLong(String, byteCount: Int, limit: Int)
  case system(SystemError)
}

extension AirError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .pathTooLong(let path, let count, let limit):
      "\(path): \(count) bytes, but a socket's path has at most \(limit): use a folder with a shorter path"
    case .system(let error): error.description
    }
  }
}

/// The names of sockets in the folder: `<uuid>.<address>`, both in lower case.
struct AirName {
  /// What the kernel keeps of each link in each direction, in bytes.
  static let bufferSize: CInt = 1 << 20

  let folder: String
  /// With its dashes and the dot: what all advertisements of this service begin with.
  let prefix: String

  init(folder: String, uuid: UUID128) throws(AirError) {
    self.folder = folder
    prefix = "\(uuid)."
    let path = path(of: .random())
    guard path.utf8.count <= linux_unix_path_capacity() else {
      throw .pathTooLong(path, byteCount: path.utf8.count, limit: linux_unix_path_capacity())
    }
  }

  func path(of address: AirAddress) -> String { "\(folder)/\(prefix)\(address)" }

  /// Shorter than any advertised name, and hidden: for a socket that does not listen yet.
  func hiddenPath(of address: AirAddress) -> String { "\(folder)/.\(address)" }

  /// Where a channel is opened: hidden too, for nobody looks for one.
  func path(of psm: UInt16, at address: AirAddress) -> String { "\(folder)/.\(address).\(psm)" }

  /// A channel over a connected socket.
  static func channel(_ socket: consuming Descriptor, on loop: EventLoop) -> RecordSocket {
    RecordSocket(socket, maximumRecord: RecordSocket.maximumSDU, bufferSize: bufferSize, on: loop)
  }

  func address(of name: String) -> AirAddress? {
    name.hasPrefix(prefix) ? AirAddress(name.dropFirst(prefix.count)) : nil
  }
}
