internal import CMicroHTTPD
import Glibc

/// A server of libmicrohttpd that works only while `run` is called: it has no thread, and no socket to listen on.
final class Daemon {
  private let daemon: OpaquePointer
  private let service: Service
  /// Readable when `run` has something to do. It is the daemon's, and closed with it.
  let epoll: CInt

  init(_ service: Service, limits: HTTPServer.Limits, identity: HTTPServer.Identity?) throws(HTTPServerFailure) {
    if identity != nil, MHD_is_feature_supported(cmhd_tls) != cmhd_yes { throw .noTLS }
    // The service is kept by this object, which stops the daemon before it goes: the context holds in every call.
    var calls = cmhd_calls()
    calls.context = Unmanaged.passUnretained(service).toOpaque()
    calls.begin = { context, target, _ in
      // Retained for the request, and released at its end.
      Daemon.service(context).map { Unmanaged.passRetained($0.begin(target)).toOpaque() }
    }
    calls.take = { context, connection, _, method, _, bytes, size, request in
      guard let service = Daemon.service(context), let connection, let size, let arrival = request?.pointee else {
        return cmhd_no
      }
      // The bytes are the connection's during this call; the size says afterwards how many were left.
      let piece = UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : size.pointee)
      size.pointee = 0
      return service.take(
        Unmanaged<Arrival>.fromOpaque(arrival).takeUnretainedValue(), method: method, bytes: piece, of: connection)
    }
    calls.end = { context, connection, request, _ in
      if let arrival = request?.pointee { Unmanaged<Arrival>.fromOpaque(arrival).release() }
      request?.pointee = nil
      if let connection { Daemon.service(context)?.exchanged(cmhd_socket(connection)) }
    }
    calls.connection = { context, connection, _, event in
      guard let service = Daemon.service(context), let connection else { return }
      let socket = cmhd_socket(connection)
      if event == cmhd_started { service.opened(socket) } else { service.closed(socket) }
    }
    // Certificate and key are read while the daemon starts.
    guard
      let daemon = cmhd_start(
        &calls, UInt32(limits.connections), limits.memory, identity?.certificate, identity?.key)
    else { throw identity == nil ? .library : .identity }
    self.daemon = daemon
    self.service = service
    epoll = cmhd_epoll(daemon)
  }

  deinit { MHD_stop_daemon(daemon) }

  private static func service(_ context: UnsafeMutableRawPointer?) -> Service? {
    context.map { Unmanaged<Service>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Takes over a connection; it is closed if that fails.
  func add(_ socket: CInt) { _ = MHD_add_connection(daemon, socket, nil, 0) }

  /// Does what is to do now, and says whether there is more that the epoll descriptor does not tell of.
  func run() -> Bool {
    _ = MHD_run(daemon)
    var milliseconds: UInt64 = 0
    return MHD_get_timeout(daemon, &milliseconds) == cmhd_yes
  }
}
