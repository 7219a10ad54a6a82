import Glibc
import Kernel

/// A program, other than this one, that has a Bluetooth management or controller socket.
package struct AdapterHolder: Hashable, Sendable, CustomStringConvertible {
  /// As in /proc/PID/comm.
  package let name: String
  package let pid: Int

  package init(name: String, pid: Int) {
    self.name = name
    self.pid = pid
  }

  /// `bluetoothd (812)`.
  package var description: String { "\(name) (\(pid))" }

  /// Speaks ATT and scans by itself: two of them on one adapter spoil each other's connections.
  package var isDaemon: Bool { AdapterHolder.daemons.contains(name) }
  /// Works on the adapter as this program does: one of them has to go.
  var isRival: Bool { isDaemon || name == "mdoc-reader" }
  /// Only listens.
  var isMonitor: Bool { name == "btmon" || name == "hcidump" }

  private static let daemons: Set = ["bluetoothd", "bluetooth-meshd", "bthelper"]

  /// What one search looks at: it is made in the event loop's thread, which must not be kept however many processes there
  /// are. A board has some hundred processes, with a few thousand descriptors.
  package struct Limits: Sendable {
    package var processes = 2048
    package var descriptors = 8192

    package init() {}
  }

  /// Looks through /proc. Sockets of other users' programs can only be seen with CAP_SYS_PTRACE, so a daemon is also
  /// known by its name alone.
  package static func find(in proc: String = "/proc", limits: Limits = Limits()) -> [AdapterHolder] {
    let sockets = hciSockets(proc)
    let own = Int(getpid())
    var left = limits.descriptors
    var holders: [AdapterHolder] = []
    for pid in ((try? Files.list(proc)) ?? []).compactMap({ Int($0) }).prefix(limits.processes) where pid != own {
      guard let name = processName("\(proc)/\(pid)") else { continue }
      let holder = AdapterHolder(name: name, pid: pid)
      if holder.isDaemon || (!sockets.isEmpty && hasSocket("\(proc)/\(pid)/fd", of: sockets, &left)) {
        holders.append(holder)
      }
    }
    return holders.sorted { $0.pid < $1.pid }.filter { !$0.isMonitor }
  }

  /// The inodes of all HCI sockets: the sixth column of /proc/net/hci.
  private static func hciSockets(_ proc: String) -> Set<String> {
    guard let bytes = try? Files.read("\(proc)/net/hci", limit: 1 << 20) else { return [] }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").dropFirst()
    return Set(
      lines.compactMap { line in
        let columns = line.split(separator: " ", omittingEmptySubsequences: true)
        return columns.count > 5 ? String(columns[5]) : nil
      })
  }

  private static func processName(_ folder: String) -> String? {
    guard let bytes = try? Files.read("\(folder)/comm", limit: 64) else { return nil }
    return String(decoding: bytes.prefix { $0 != 0x0a }, as: UTF8.self)
  }

  private static func hasSocket(_ folder: String, of inodes: Set<String>, _ left: inout Int) -> Bool {
    guard left > 0 else { return false }
    for entry in ((try? Files.list(folder)) ?? []).prefix(left) {
      left -= 1
      guard let target = try? Files.linkTarget("\(folder)/\(entry)"), target.hasPrefix("socket:["),
        target.hasSuffix("]")
      else { continue }
      if inodes.contains(String(target.dropFirst(8).dropLast())) { return true }
    }
    return false
  }
}

extension Files {
  /// What a symbolic link says; 255 bytes at most.
  fileprivate static func linkTarget(_ path: String) throws(SystemError) -> String {
    var buffer = [UInt8](repeating: 0, count: 256)
    let capacity = buffer.count
    let count = try check("readlink", path) {
      // The array's own storage, valid for this call.
      buffer.withUnsafeMutableBytes { bytes in
        bytes.withMemoryRebound(to: CChar.self) { characters in
          characters.baseAddress.map { readlink(path, $0, capacity) } ?? -1
        }
      }
    }
    return String(decoding: buffer.prefix(count), as: UTF8.self)
  }
}
