import Foundation
import Kernel
import Testing

@testable import KernelBluetooth

@Suite("Who holds the adapter")
struct AdapterHolderTests {
  private let proc = NSTemporaryDirectory() + "proc-\(UInt32.random(in: 0 ... .max))"
  private let files = FileManager.default

  private func process(_ pid: Int, _ name: String, sockets: [Int] = []) throws {
    try files.createDirectory(atPath: "\(proc)/\(pid)/fd", withIntermediateDirectories: true)
    try Data((name + "\n").utf8).write(to: URL(fileURLWithPath: "\(proc)/\(pid)/comm"))
    for (number, inode) in sockets.enumerated() {
      try files.createSymbolicLink(atPath: "\(proc)/\(pid)/fd/\(number)", withDestinationPath: "socket:[\(inode)]")
    }
    try files.createSymbolicLink(atPath: "\(proc)/\(pid)/fd/99", withDestinationPath: "/dev/null")
  }

  private func sockets(_ inodes: [Int]) throws {
    try files.createDirectory(atPath: "\(proc)/net", withIntermediateDirectories: true)
    let lines = inodes.map { "0000000000000000 2      0      0      0      \($0)  0     " }
    let text = "sk               RefCnt Rmem   Wmem   User   Inode  Parent\n" + lines.joined(separator: "\n") + "\n"
    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(proc)/net/hci"))
  }

  @Test("programs with an HCI socket are found, monitors and this program are not")
  func holders() throws {
    defer { try? files.removeItem(atPath: proc) }
    try sockets([1001, 1002, 1003])
    try process(20, "hcitool", sockets: [7, 1001])
    try process(21, "btmon", sockets: [1002])
    try process(22, "sh", sockets: [1004])
    try process(Int(getpid()), "mdoc-reader", sockets: [1003])
    #expect(AdapterHolder.find(in: proc) == [AdapterHolder(name: "hcitool", pid: 20)])
    #expect(AdapterHolder.find(in: proc).map(\.description) == ["hcitool (20)"])
  }

  @Test("a daemon is known by its name, also when its sockets cannot be seen")
  func daemon() throws {
    defer { try? files.removeItem(atPath: proc) }
    try process(30, "bluetoothd")
    try process(31, "bluetoothd2")
    let found = AdapterHolder.find(in: proc)
    #expect(found == [AdapterHolder(name: "bluetoothd", pid: 30)])
    #expect(found.allSatisfy { $0.isDaemon && $0.isRival })
  }

  @Test("another reader is a rival and no daemon")
  func reader() {
    let holder = AdapterHolder(name: "mdoc-reader", pid: 5)
    #expect(holder.isRival)
    #expect(!holder.isDaemon)
  }

  @Test("a search has an end, however many processes and descriptors there are")
  func limits() throws {
    defer { try? files.removeItem(atPath: proc) }
    try sockets([1001])
    for pid in 40..<60 { try process(pid, "many", sockets: [1001]) }
    try process(70, "bluetoothd")
    var limits = AdapterHolder.Limits()
    #expect(AdapterHolder.find(in: proc, limits: limits).count == 21)
    // A name costs no descriptor.
    limits.descriptors = 0
    #expect(AdapterHolder.find(in: proc, limits: limits).map(\.pid) == [70])
    limits.descriptors = 6
    #expect(AdapterHolder.find(in: proc, limits: limits).count < 8)
    limits = AdapterHolder.Limits()
    limits.processes = 3
    #expect(AdapterHolder.find(in: proc, limits: limits).count == 3)
  }

  @Test("where /proc cannot be read, nobody is found")
  func nothing() {
    #expect(AdapterHolder.find(in: "/nonexistent") == [])
  }
}
