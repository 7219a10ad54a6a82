import Bluetooth
internal import CLinux
import Glibc
import Kernel
import Links

/// Looks for a service on the simulated air and connects to each advertisement of it, once.
package final class Discovery {
  /// What is found.
  package enum Event {
    /// A link to an advertisement; the handler starts and keeps it, or closes it.
    case connected(AirAddress, RecordSocket)
    /// An advertisement that nobody answers for: left behind by one who is gone. It is tried again when touched.
    case skipped(AirAddress, SystemError)
    /// The folder is gone: nothing more will come.
    case folderGone
  }

  private enum State {
    /// Connect to it in the next turn; so many attempts have failed.
    case waiting(failures: Int)
    case connected
    case skipped
  }

  /// A socket that refuses may be about to listen, one that is full about to accept: a few tries, then it is stale.
  private static let attempts = 4
  private static let pause = Duration.milliseconds(20)

  private let loop: EventLoop
  private let name: AirName
  private let handler: (Event) -> Void
  private var own: Set<AirAddress>
  private var states: [AirAddress: State] = [:]
  private var watch: FolderWatch?
  private var timer: EventLoop.Timer?
  /// The last one that was asked for, of each advertisement.
  private var channels: [AirAddress: Opening] = [:]

  private struct Opening {
    let timer: EventLoop.Timer
    let completion: (Result<RecordSocket, ChannelRefusal>) -> Void
  }

  /// Looks for a service until `stop`; what is there already is found in the loop's
  /// next turn. Advertisements of `own` addresses are not looked at: one reader may be on both sides.
  package init(
    of uuid: UUID128, in folder: String, except own: Set<AirAddress> = [], on loop: EventLoop,
    handler: @escaping (Event) -> Void
  ) throws(AirError) {
    name = try AirName(folder: folder, uuid: uuid)
    self.loop = loop
    self.own = own
    self.handler = handler
    do throws(SystemError) {
      watch = try FolderWatch(folder, on: loop) { [weak self] in self?.folderChanged($0) }
      timer = loop.timer("discovery") { [weak self] in self?.connectWaiting() }
      try listFolder()
    } catch {
      throw .system(error)
    }
  }

  deinit { stop() }

  /// Ends it. Links that were handed on stay open.
  package func stop() {
    watch?.cancel()
    watch = nil
    timer?.cancel()
    states = [:]
    for address in channels.keys { refuseChannel(to: address) }
  }

  /// Does not look at an advertisement of ours that began after this did.
  package func ignore(_ address: AirAddress) {
    own.insert(address)
    states[address] = nil
  }

  /// Connects again to an advertisement whose link is gone, when it is still there.
  package func connectAgain(to address: AirAddress) {
    guard watch != nil, states[address] != nil else { return }
    wait(for: address)
  }

  /// Connects to an advertisement that was found earlier, without looking for others.
  package static func connect(
    to address: AirAddress, of uuid: UUID128, in folder: String, on loop: EventLoop
  ) throws(AirError) -> RecordSocket {
    let name = try AirName(folder: folder, uuid: uuid)
    do throws(SystemError) {
      return RecordSocket(try connect(name.path(of: address)), bufferSize: AirName.bufferSize, on: loop)
    } catch {
      throw .system(error)
    }
  }

  /// Opens a channel to an advertisement that was connected to. `completion` is called once: in a later turn of the
  /// loop, or when this ends, or asks for another to the same advertisement, before.
  package func openChannel(
    _ psm: UInt16, to address: AirAddress, completion: @escaping (Result<RecordSocket, ChannelRefusal>) -> Void
  ) {
    refuseChannel(to: address)
    let timer = loop.timer("channel") { [weak self] in
      guard let self else { return }
      channels[address] = nil
      do throws(SystemError) {
        completion(.success(AirName.channel(try Discovery.connect(name.path(of: psm, at: address)), on: loop)))
      } catch {
        completion(.failure(.refused))
      }
    }
    channels[address] = Opening(timer: timer, completion: completion)
    timer.set(after: .zero)
  }

  private func refuseChannel(to address: AirAddress) {
    guard let opening = channels.removeValue(forKey: address) else { return }
    opening.timer.cancel()
    opening.completion(.failure(.refused))
  }

  private func listFolder() throws(SystemError) {
    let present = try Files.list(name.folder).compactMap(name.address)
    for address in states.keys where !present.contains(address) { states[address] = nil }
    for address in present where states[address] == nil { wait(for: address) }
  }

  private func wait(for address: AirAddress) {
    guard !own.contains(address) else { return }
    states[address] = .waiting(failures: 0)
    timer?.set(after: .zero)
  }

  private func folderChanged(_ event: FolderWatch.Event) {
    switch event {
    case .created(let text), .movedIn(let text):
      if let address = name.address(of: text) { wait(for: address) }
    case .touched(let text), .written(let text):
      if let address = name.address(of: text), case .skipped? = states[address] { wait(for: address) }
    case .removed(let text):
      if let address = name.address(of: text) { states[address] = nil }
    case .overflow:
      // A folder that cannot be listed any more will say so by itself.
      try? listFolder()
    case .folderGone:
      stop()
      handler(.folderGone)
    }
  }

  private func connectWaiting() {
    // Sorted, so that the same folder is worked through in the same order each time.
    for address in states.keys.sorted(by: { $0.value < $1.value }) {
      // The handler may have stopped all this, or removed the address.
      guard watch != nil else { return }
      guard case .waiting(let failures)? = states[address] else { continue }
      do throws(SystemError) {
        let connection = RecordSocket(
          try Discovery.connect(name.path(of: address)), bufferSize: AirName.bufferSize, on: loop)
        states[address] = .connected
        handler(.connected(address, connection))
      } catch {
        let mayPass = error.code == ECONNREFUSED || error.code == EAGAIN
        if error.code == ENOENT {
          states[address] = nil
        } else if mayPass && failures + 1 < Discovery.attempts {
          states[address] = .waiting(failures: failures + 1)
          if timer?.deadline == nil { timer?.set(after: Discovery.pause) }
        } else {
          states[address] = .skipped
          handler(.skipped(address, error))
        }
      }
    }
  }

  private static func connect(_ path: String) throws(SystemError) -> Descriptor {
    let socket = Descriptor(owning: try check("socket") { linux_seqpacket_socket() })
    let raw = socket.raw
    // In a UNIX socket this is done at once or refused: there is nothing to wait for.
    _ = try check("connect", path) { linux_unix_connect(raw, path) }
    return socket
  }
}
