internal import CLinux
import Glibc
import Kernel

/// A listening TCP socket (IPv4), non-blocking. A class, since the optimizer of Swift 6.0.3 crashes over a value that cannot be
/// copied in the initializer of a server, which may throw after it has it.
final class Listener {
  let descriptor: Descriptor
  /// Where it listens: the one that was asked for, or the one that the system chose.
  let port: UInt16

  private init(descriptor: consuming Descriptor, port: UInt16) {
    self.descriptor = descriptor
    self.port = port
  }

  /// - Parameters:
  ///   - port: 0 for any that is free.
  ///   - isLoopback: on 127.0.0.1 alone; else on every address of the machine.
  static func open(port: UInt16, isLoopback: Bool) throws(HTTPServerFailure) -> Listener {
    do throws(SystemError) {
      let flags = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
      let descriptor = Descriptor(owning: try check("socket") { socket(AF_INET, flags, 0) })
      let given = try listen(descriptor.raw, port: port, isLoopback: isLoopback)
      return Listener(descriptor: descriptor, port: given)
    } catch {
      throw error.code == EADDRINUSE ? .portInUse(port) : .system(error)
    }
  }

  /// The port that was given.
  private static func listen(_ raw: CInt, port: UInt16, isLoopback: Bool) throws(SystemError) -> UInt16 {
    let subject = "port \(port)"
    // Connections of a server that has just ended may linger; a listener that is there still refuses.
    var on: CInt = 1
    _ = try check("setsockopt", subject) {
      setsockopt(raw, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<CInt>.size))
    }
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = port.bigEndian
    name.sin_addr.s_addr = (isLoopback ? INADDR_LOOPBACK : INADDR_ANY).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    // An IPv4 name is read as a name of any kind, as these calls want it, for the time of each call.
    _ = try check("bind", subject) {
      withUnsafePointer(to: &name) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(raw, $0, length) }
      }
    }
    _ = try check("listen", subject) { Glibc.listen(raw, SOMAXCONN) }
    _ = try check("getsockname", subject) {
      withUnsafeMutablePointer(to: &name) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(raw, $0, &length) }
      }
    }
    return UInt16(bigEndian: name.sin_port)
  }

  /// The next connection, non-blocking and close-on-exec; nil when none waits. The caller closes it.
  func accept() throws(SystemError) -> CInt? {
    let raw = descriptor.raw
    return try checkNonBlocking("accept") { linux_accept(raw) }
  }
}
