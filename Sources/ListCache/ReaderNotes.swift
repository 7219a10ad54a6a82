import Bytes
import JSON
import Kernel

/// What a running reader writes down for the next refresh and the next start: addresses of lists that documents named, and
/// certificates whose end was announced. Nothing about anybody.
package struct ReaderNotes: Equatable, Sendable {
  /// Most addresses that are remembered; the one not met for longest goes.
  package static let mostSources = 256
  private static let mostAnnounced = 20_000
  private static let sizeLimit = 4 << 20

  /// Met last at the end.
  package private(set) var sources: [ListSource] = []
  /// Where else a list is said to be, of those that name several addresses.
  private var others: [ListSource: [String]] = [:]
  /// By fingerprint of a certificate, at how many days before its end that was said last.
  package var announced: [String: Int] = [:]

  package init() {}

  /// Takes note of an address; false when it is none that could be fetched, or known already.
  package mutating func note(_ source: ListSource) -> Bool { note(WantedList(source)) }

  /// Takes note of a list with all its addresses; false when it has none that could be fetched, or all is known already.
  package mutating func note(_ list: WantedList) -> Bool {
    guard WebAddress(list.source.address) != nil else { return false }
    let addresses = list.addresses.filter { $0 != list.source.address }
    let isNew = others[list.source] ?? [] != addresses
    others[list.source] = addresses.isEmpty ? nil : addresses
    if let place = sources.firstIndex(of: list.source) {
      sources.append(sources.remove(at: place))
      return isNew
    }
    sources.append(list.source)
    if sources.count > ReaderNotes.mostSources { others[sources.removeFirst()] = nil }
    return true
  }

  /// The lists with all their addresses.
  package var lists: [WantedList] {
    sources.map { WantedList($0, addresses: [$0.address] + (others[$0] ?? [])) }
  }

  /// The notes of a file; none where there is no such file, or one that cannot be read: they are a help, not a need.
  package init(file: String) {
    guard let bytes = try? Files.read(file, limit: ReaderNotes.sizeLimit), let document = JSONValue(reading: bytes)
    else {
      return
    }
    if case .array(let elements)? = document["sources"] {
      for element in elements.suffix(ReaderNotes.mostSources) {
        guard let kind = element["kind"]?.string.flatMap(ListKind.init), let address = element["address"]?.string else {
          continue
        }
        var addresses = [address]
        if case .array(let others)? = element["others"] { addresses += others.compactMap(\.string) }
        _ = note(WantedList(ListSource(kind, address), addresses: addresses))
      }
    }
    if case .object(let members)? = document["announced"] {
      for member in members.prefix(ReaderNotes.mostAnnounced) { announced[member.key] = member.value.integer }
    }
  }

  package func write(to file: String) throws(SystemError) {
    let sources = sources.map { source in
      JSONValue.object([
        "kind": .string(source.kind.rawValue), "address": .string(source.address),
        "others": others[source].map { .array($0.map(JSONValue.string)) },
      ])
    }
    let announced = announced.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .integer($0.value)) }
    let document = JSONValue.object(["sources": .array(sources), "announced": .object(announced)])
    try AtomicFile.write((document.text + "\n").utf8, to: file)
  }
}
