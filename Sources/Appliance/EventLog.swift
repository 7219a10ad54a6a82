import CivilTime
import Glibc
import JSON
import Kernel
import ReaderCore

/// Events as JSON lines: what happened, with reason codes and times, never an element value.
package struct EventLog {
  /// Where the lines go.
  package enum Destination: Equatable, Sendable {
    case none
    case standardOutput
    /// Appended to; made with permissions for its owner alone.
    case file(String)
  }

  private let descriptor: CInt?
  private let isOwned: Bool

  /// Opens the destination. Throws when a file cannot be opened or made.
  package init(_ destination: Destination) throws(SystemError) {
    switch destination {
    case .none:
      descriptor = nil
      isOwned = false
    case .standardOutput:
      descriptor = STDOUT_FILENO
      isOwned = false
    case .file(let path):
      let file = try Descriptor(opening: path, flags: O_WRONLY | O_CREAT | O_APPEND, mode: 0o600)
      descriptor = file.release()
      isOwned = true
    }
  }

  /// Writes one line. A line that cannot be written is lost: a full disk must not keep a door from working, and whoever
  /// reads the lines too slowly must not hold the loop, which has a relay to end.
  package func write(_ kind: String, at now: UnixTime, _ members: [JSONValue.Member] = []) {
    guard let descriptor, EventLog.takes(descriptor) else { return }
    let head = [JSONValue.Member("time", .string(now.millisecondText)), .init("event", .string(kind))]
    let line = Array((JSONValue.object(head + members).text + "\n").utf8)
    _ = Glibc.write(descriptor, line, line.count)
  }

  /// Whether a line can be written without waiting: a pipe or socket says so while it has room for one.
  static func takes(_ descriptor: CInt) -> Bool {
    var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&state, 1, 0) == 1 && state.revents == Int16(POLLOUT)
  }

  /// Closes a file that was opened here.
  package func close() {
    if isOwned, let descriptor { _ = Glibc.close(descriptor) }
  }
}

extension UnixTime {
  /// RFC 3339 in UTC with milliseconds, for people and logs.
  package var millisecondText: String {
    let digits = String(nanoseconds / 1_000_000)
    return String(description.dropLast()) + "." + String(repeating: "0", count: 3 - digits.count) + digits + "Z"
  }
}

extension TransactionReport {
  /// The report as members of an event, the same facts as on the terminal.
  package var members: [JSONValue.Member] {
    var members: [JSONValue.Member] = [
      .init("transaction", .integer(Int(number))), .init("outcome", .string(outcome.rawValue)),
      .init("reasons", .array(reasons.map(JSONValue.string))), .init("remarks", .array(remarks.map(JSONValue.string))),
    ]
    if let docType { members.append(.init("docType", .string(docType))) }
    if let issuingCountry { members.append(.init("issuingCountry", .string(issuingCountry))) }
    if let link { members.append(.init("link", .object(link.members))) }
    if let responseSize { members.append(.init("responseBytes", .integer(responseSize))) }
    let times = Span.allCases.compactMap { span in
      spans[span].map { JSONValue.Member(span.rawValue, .double($0.milliseconds)) }
    }
    members.append(.init("milliseconds", .object(times)))
    return members
  }
}

extension LinkFacts {
  fileprivate var members: [JSONValue.Member] {
    var members: [JSONValue.Member] = [
      .init("mode", .string(mode.rawValue)), .init("transport", .string(transport.rawValue)),
      .init("mtu", .integer(mtu)), .init("roundTrips", .integer(roundTrips)),
    ]
    if let fallback { members.append(.init("fallback", .string(fallback.code))) }
    return members
  }
}

extension Duration {
  /// Milliseconds, to the microsecond.
  package var milliseconds: Double {
    let microseconds = components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    return Double(microseconds) / 1000
  }
}
