import Bluetooth
import Kernel
import Links

/// A service on the simulated air: a listening socket in the folder, under a fresh address.
package final class Advertisement {
  /// The address that this advertisement goes by.
  package let address: AirAddress

  private let loop: EventLoop
  private let name: AirName
  private var listener: AirListener?
  private var channel: AirListener?

  /// Advertises a service until `stop`. Each link that comes is handed to `handler`,
  /// which starts and keeps it.
  package init(
    of uuid: UUID128, in folder: String, on loop: EventLoop, handler: @escaping (RecordSocket) -> Void
  ) throws(AirError) {
    name = try AirName(folder: folder, uuid: uuid)
    let address = AirAddress.random()
    self.address = address
    self.loop = loop
    do throws(SystemError) {
      listener = try AirListener(name.path(of: address), hidden: name.hiddenPath(of: address), on: loop) {
        (socket: consuming Descriptor) in
        handler(RecordSocket(socket, bufferSize: AirName.bufferSize, on: loop))
      }
    } catch {
      throw .system(error)
    }
  }

  deinit { stop() }

  /// Takes channels of a PSM until `stop`: whoever connected may open one. Each is handed to `handler`, which starts and
  /// keeps it.
  package func offerChannel(psm: UInt16, handler: @escaping (RecordSocket) -> Void) throws(AirError) {
    let loop = loop
    do throws(SystemError) {
      channel = try AirListener(name.path(of: psm, at: address), hidden: name.hiddenPath(of: .random()), on: loop) {
        (socket: consuming Descriptor) in
        handler(AirName.channel(socket, on: loop))
      }
    } catch {
      throw .system(error)
    }
  }

  /// Ends it: the name goes, and so do links that were not handed on yet. Those that were stay open.
  package func stop() {
    listener?.stop()
    listener = nil
    channel?.stop()
    channel = nil
  }
}
