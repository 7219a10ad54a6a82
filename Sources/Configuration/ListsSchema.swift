import Bytes

extension ReaderConfiguration {
  /// `[refresh]`: where copies of lists are, and what is fetched.
  package struct Refresh: Equatable, Sendable {
    /// The folder of copies, which `refresh` writes and the reader reads.
    package var folder = ConfiguredPath("/var/lib/mdoc-reader/cache")
    /// What the running reader notes for the next refresh: addresses that documents named.
    package var notesFile = ConfiguredPath("/var/lib/mdoc-reader/state/lists")
    /// From one look at a source to the next.
    package var interval = Duration.seconds(12 * 3600)
    /// Hosts that addresses of documents may lead to, beside those of the trusted roots' own lists.
    package var allowedHosts: [String] = []
    /// Addresses of lists of issuers (VICAL).
    package var issuerLists: [String] = []

    package init() {}
  }

  /// What a stale list costs.
  package enum StalenessPolicy: String, CaseIterable, Sendable {
    /// It is said.
    case warn
    /// The reader is out of service.
    case fault
    /// Documents that depend on such lists are refused.
    case deny
  }

  /// How old the copy of a list may become.
  package struct StalenessLimit: Equatable, Sendable {
    package var days: Int
    package var policy = StalenessPolicy.warn

    package init(days: Int, policy: StalenessPolicy = .warn) {
      self.days = days
      self.policy = policy
    }

    package var seconds: Int64 { Int64(days) * 86_400 }
  }

  /// `[health]`: how old what may become.
  package struct Health: Equatable, Sendable {
    package var revocationLists = StalenessLimit(days: 14)
    package var statusLists = StalenessLimit(days: 7)
    package var issuerLists = StalenessLimit(days: 90)

    package init() {}
  }
}

/// `[refresh]` and `[health]`.
enum ListsSchema {
  private static let mostEntries = 64

  static func readRefresh(_ section: inout Section) -> ReaderConfiguration.Refresh {
    var refresh = ReaderConfiguration.Refresh()
    refresh.folder = section.path("folder", default: refresh.folder)
    refresh.notesFile = section.path("notes_file", default: refresh.notesFile)
    refresh.interval = section.seconds("interval_seconds", default: refresh.interval, range: 300...2_592_000)
    refresh.allowedHosts = texts(
      "allowed_hosts", &section, example: "lists.example.org", problem: "is no host",
      remedy: "write it in lower case, with its port where that is not the usual one", isRight: WebAddress.isHost)
    refresh.issuerLists = texts(
      "issuer_lists", &section, example: "https://lists.example.org/vical.cbor", problem: "is no address",
      remedy: "write http:// or https://, a host and a path", isRight: { WebAddress($0) != nil })
    return refresh
  }

  static func readHealth(_ section: inout Section) -> ReaderConfiguration.Health {
    var health = ReaderConfiguration.Health()
    func read(_ key: String, _ limit: inout ReaderConfiguration.StalenessLimit) {
      limit.days = section.integer("\(key)_days", default: limit.days, range: 1...3650)
      limit.policy = section.choice(key, default: limit.policy)
    }
    read("revocation_lists", &health.revocationLists)
    read("status_lists", &health.statusLists)
    read("issuer_lists", &health.issuerLists)
    return health
  }

  private static func texts(
    _ key: String, _ section: inout Section, example: String, problem: String, remedy: String,
    isRight: (String) -> Bool
  ) -> [String] {
    guard let value = section.value(key) else { return [] }
    guard case .array(let elements) = value.content else {
      section.reportKind(key, value, wanted: "a list of texts", example: "[\"\(example)\"]")
      return []
    }
    if elements.count > mostEntries {
      section.report(key, line: value.line, "has \(elements.count) entries", "write at most \(mostEntries)")
    }
    var texts: [String] = []
    for element in elements.prefix(mostEntries) {
      guard case .string(let text) = element.content else {
        section.reportKind(key, element, wanted: "text", example: "[\"\(example)\"]")
        continue
      }
      if !isRight(text) {
        section.report(key, line: element.line, "\"\(text.quotable)\" \(problem)", remedy)
      } else if !texts.contains(text) {
        texts.append(text)
      }
    }
    return texts
  }
}
