import Bluetooth
internal import CLinux
import Glibc
import Kernel
import Links

/// A service on the simulated air: a listening socket in the folder, under a fresh address.
package final class Advertisement {
  /// The address that this advertisement goes by.
  package let address: AirAddress

  private let loop: EventLoop
  private let path: String
  private let socket: Descriptor
  private let handler: (RecordSocket) -> Void
  private var watch: EventLoop.Watch?
  private var pause: EventLoop.Timer?

  /// Advertises a service until `stop`. Each link that comes is handed to `handler`,
  /// which starts and keeps it.
  package init(
    of uuid: UUID128, in folder: String, on loop: EventLoop, handler: @escaping (RecordSocket) -> Void
  ) throws(AirError) {
    let name = try AirName(folder: folder, uuid: uuid)
    address = .random()
    path = name.path(of: address)
    self.loop = loop
    self.handler = handler
    do throws(SystemError) {
      let socket = Descriptor(owning: try check("socket") { linux_seqpacket_socket() })
      let raw = socket.raw
      let hidden = name.hiddenPath(of: address)
      let path = path
      self.socket = socket
      _ = try check("bind", path) { linux_unix_bind(raw, hidden) }
      // It gets its name when it listens, so that nobody who sees the name is refused.
      do throws(SystemError) {
        _ = try check("listen", path) { listen(raw, 64) }
        _ = try check("rename", path) { rename(hidden, path) }
      } catch {
        _ = unlink(hidden)
        throw error
      }
    } catch {
      throw .system(error)
    }
    do throws(SystemError) {
      watch = try loop.watch(socket, for: .read) { [weak self] _ in self?.accept() }
    } catch {
      _ = unlink(path)
      throw .system(error)
    }
    pause = loop.timer("accept again") { [weak self] in
      guard let self, let watch = self.watch else { return }
      try? self.loop.change(watch, to: .read)
    }
  }

  deinit { stop() }

  /// Ends it: the name goes, and so do links that were not handed on yet. Those that were stay open.
  package func stop() {
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
        handler(RecordSocket(Descriptor(owning: raw), bufferSize: AirName.bufferSize, on: loop))
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
