internal import CLinux
import Glibc
import Kernel

/// A listening socket under a name in the folder.
final class AirListener {
  private let loop: EventLoop
  private let path: String
  private let socket: Descriptor
  private let handler: (consuming Descriptor) -> Void
  private var watch: EventLoop.Watch?
  private var pause: EventLoop.Timer?

  /// Listens until `stop`; each connection is handed to `handler`. The socket gets its name when it listens, so that
  /// nobody who sees the name is refused; `hidden` is what it is called before.
  init(
    _ path: String, hidden: String, on loop: EventLoop, handler: @escaping (consuming Descriptor) -> Void
  ) throws(SystemError) {
    self.path = path
    self.loop = loop
    self.handler = handler
    let socket = Descriptor(owning: try check("socket") { linux_seqpacket_socket() })
    let raw = socket.raw
    self.socket = socket
    _ = try check("bind", path) { linux_unix_bind(raw, hidden) }
    do throws(SystemError) {
      _ = try check("listen", path) { listen(raw, 64) }
      _ = try check("rename", path) { rename(hidden, path) }
    } catch {
      _ = unlink(hidden)
      throw error
    }
    do throws(SystemError) {
      watch = try loop.watch(raw: raw, for: .read) { [weak self] _ in self?.accept() }
    } catch {
      _ = unlink(path)
      throw error
    }
    pause = loop.timer("accept again") { [weak self] in
      guard let self, let watch = self.watch else { return }
      try? self.loop.change(watch, to: .read)
    }
  }

  deinit { stop() }

  /// Ends it: the name goes, and so do links that were not handed on yet. Those that were stay open.
  func stop() {
    guard let watch else { return }
    _ = unlink(path)
    loop.remove(watch)
    self.watch = nil
    pause?.cancel()
    // Refuses what waits and what comes; the descriptor itself goes with this object.
    _ = shutdown(socket.raw, CInt(SHUT_RDWR))
    while case let waiting = linux_accept(socket.raw), waiting >= 0 { _ = close(waiting) }
  }

  private func accept() {
    while watch != nil {
      let raw = linux_accept(socket.raw)
      if raw >= 0 {
        handler(Descriptor(owning: raw))
        continue
      }
      switch errno {
      case EINTR, ECONNABORTED: continue
      case EAGAIN: return
      default:
        // No descriptor is free: the link waits in the socket and would be reported in every turn. Later, then.
        if let watch { try? loop.change(watch, to: []) }
        pause?.set(after: .milliseconds(100))
        return
      }
    }
  }
}
