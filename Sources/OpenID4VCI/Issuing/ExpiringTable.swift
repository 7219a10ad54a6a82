import CivilTime

/// What an issuer remembers for a while, by a text that nobody can guess: codes, tokens, nonces.
struct ExpiringTable<Value> {
  private var entries: [String: (value: Value, expiry: UnixTime)] = [:]
  /// Seconds that an entry lives.
  let lifetime: Int64

  /// Most entries; the one that would expire first goes for a new one.
  static var most: Int { 10_000 }

  init(lifetime: Int64) { self.lifetime = lifetime }

  mutating func insert(_ value: Value, under key: String, at now: UnixTime) {
    if entries.count >= ExpiringTable.most {
      entries = entries.filter { $0.value.expiry >= now }
      if entries.count >= ExpiringTable.most, let first = entries.min(by: { $0.value.expiry < $1.value.expiry })?.key {
        entries[first] = nil
      }
    }
    entries[key] = (value, now.adding(seconds: lifetime))
  }

  /// The value, as long as it lives.
  func value(under key: String, at now: UnixTime) -> Value? {
    guard let entry = entries[key], entry.expiry >= now else { return nil }
    return entry.value
  }

  /// The value, which is gone then: for what is used once.
  mutating func take(_ key: String, at now: UnixTime) -> Value? {
    let value = value(under: key, at: now)
    entries[key] = nil
    return value
  }

  /// Changes a value that lives, without making it live longer.
  mutating func update(_ value: Value, under key: String) {
    if let expiry = entries[key]?.expiry { entries[key] = (value, expiry) }
  }

  mutating func remove(_ key: String) { entries[key] = nil }
}
