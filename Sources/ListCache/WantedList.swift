import Bytes

/// A list that is wanted, and where it is said to be.
package struct WantedList: Equatable, Sendable {
  /// Most addresses that are asked for one list.
  package static let mostAddresses = 4

  /// What it goes by, wherever a copy comes from.
  package let source: ListSource
  /// Where to ask, in this order, until one has it.
  package let addresses: [String]

  package init(_ source: ListSource, addresses: [String]? = nil) {
    self.source = source
    self.addresses = Array((addresses ?? [source.address]).prefix(WantedList.mostAddresses))
  }

  /// A list of revoked signers by the addresses of a certificate's distribution points (RFC 5280 section 4.2.1.13), which
  /// are said to have the same list. It goes by the first that can be fetched; nil where none can.
  package init?(revocation uris: [String]) {
    var seen: Set<String> = []
    let addresses = uris.filter { WebAddress($0) != nil && seen.insert($0).inserted }
    guard let first = addresses.first else { return nil }
    self.init(ListSource(.revocation, first), addresses: addresses)
  }
}
