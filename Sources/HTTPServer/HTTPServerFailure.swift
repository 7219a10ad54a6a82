import Kernel

/// Why a server did not start.
package enum HTTPServerFailure: Error, Equatable, Sendable {
  /// Another program has it, or another server of this one.
  case portInUse(UInt16)
  case system(SystemError)
  /// libmicrohttpd cannot serve TLS with this certificate and key.
  case identity
  /// The installed libmicrohttpd was built without TLS.
  case noTLS
  /// libmicrohttpd does not start, and says no more.
  case library
}

extension HTTPServerFailure: CustomStringConvertible {
  /// `port 8080 is in use`.
  package var description: String {
    switch self {
    case .portInUse(let port): "port \(port) is in use"
    case .system(let error): error.description
    case .identity: "certificate and key are none that TLS can be served with"
    case .noTLS: "the installed libmicrohttpd serves no TLS"
    case .library: "libmicrohttpd does not start"
    }
  }
}
