/// Limits of one fetch.
package struct FetchLimits: Sendable {
  /// Most bytes of a body.
  package var size: Int
  /// For everything together, redirects included.
  package var time: Duration
  /// How often another address may be named instead.
  package var redirects = 4

  package init(size: Int, time: Duration = .seconds(60)) {
    self.size = size
    self.time = time
  }
}

/// What a server said a copy can be asked about by.
package struct Validators: Equatable, Sendable {
  package var entityTag: String?
  package var lastModified: String?

  package init(entityTag: String? = nil, lastModified: String? = nil) {
    self.entityTag = entityTag
    self.lastModified = lastModified
  }
}

/// What came of a request.
package enum FetchAnswer: Equatable, Sendable {
  case content([UInt8], Validators)
  /// The copy that the validators are of is still the latest.
  case unchanged(Validators)
}

/// Why nothing came. `code` is stable.
package enum FetchFailure: Error, Equatable, Sendable {
  /// The network, the name, or the connection.
  case unreachable(String)
  case timeout
  case tooLarge
  /// The server's certificate, or the connection that needs it.
  case tls(String)
  case status(Int)
  case redirectLimit
  /// To another scheme, or from https to http.
  case redirectScheme
  /// To a host that is not allowed.
  case redirectHost(String)
  /// A header of the request that must not be sent; its name, empty where the name itself is none.
  case header(String)
  case library(String)

  package var code: String {
    switch self {
    case .unreachable: "unreachable"
    case .timeout: "timeout"
    case .tooLarge: "tooLarge"
    case .tls: "tlsFailed"
    case .status(let status): "httpStatus(\(status))"
    case .redirectLimit: "redirectLimit"
    case .redirectScheme: "redirectScheme"
    case .redirectHost: "redirectHost"
    case .header: "headerRefused"
    case .library: "libraryMissing"
    }
  }

  /// More about it, for people; empty where the code says it all.
  package var detail: String {
    switch self {
    case .unreachable(let text), .tls(let text), .redirectHost(let text), .library(let text): text
    case .header(let name): name.isEmpty ? "a header's name is none" : "the header \(name)"
    case .timeout, .tooLarge, .status, .redirectLimit, .redirectScheme: ""
    }
  }
}
