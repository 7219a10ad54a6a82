import Commands
import Crypto
import HTTPFetch
import Kernel
import Web

/// The way to servers, and whom they have to be known by.
enum WebOptions {
  static let authorities = CommandOption(
    "--tls-authority", "FILE", "certificates (PEM) by which servers are known, instead of the system's")

  /// Requests go out over HTTP from here on.
  static func exchange(_ arguments: Arguments) throws -> WebExchange {
    if let path = arguments[authorities.name], !Files.exists(path) {
      throw CommandError.usage("\(authorities.name) \(quoted(path))", "no such file", hint: "give a file in PEM form")
    }
    do throws(FetchFailure) {
      return WebExchange(http: try HTTPClient(agent: "mdoc-wallet", authorities: arguments[authorities.name]))
    } catch {
      throw CommandError.failure("HTTP", error.detail, hint: "install libcurl: apt-get install libcurl4")
    }
  }

  /// Certificates of an option that takes files in PEM form.
  static func certificates(_ arguments: Arguments, _ option: String) throws -> [Certificate] {
    var found: [Certificate] = []
    for path in arguments.values(option) {
      let bytes = try Files.read(path, limit: 1 << 20)
      guard let blocks = try? PEM.blocks(in: bytes), let first = try? blocks.map({ try Certificate($0.bytes) }),
        !first.isEmpty
      else {
        throw CommandError.usage("\(option) \(quoted(path))", "no certificate in it", hint: "give it as a PEM file")
      }
      found += first
    }
    return found
  }
}
