// seed: {"kind":"revocation","address":"http://a.example/c","due":"2026-01-02T03:04:05Z"}
// seed: {"kind":"status","address":"https://a.example/1","due":"2026-01-02T03:04:05Z","copy":{"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","bytes":0,"fetched":"2026-01-01T00:00:00Z","end":"2026-02-01T00:00:00Z","entityTag":"x","lastModified":"y","origin":"http://b.example/"}}
// seed: {"kind":"issuers","address":"http://a.example/v","due":"2026-01-02T03:04:05Z","failure":{"reason":"unreachable","at":"2026-01-01T00:00:00Z","count":3}}
// options: -max_len=1024
import CivilTime
import JSON

@testable import ListCache

/// An entry of the cache, as a card that wears out gives it back: read, it is what it writes, and every question has an answer.
func fuzz(_ input: [UInt8]) {
  guard let entry = JSONValue(reading: input).flatMap(CacheEntry.init) else { return }
  expect(CacheEntry(entry.document) == entry, "an entry that was read is written as it was")
  let now = UnixTime(seconds: 1_780_000_000)
  _ = entry.isDue(at: now)
  _ = entry.isStale(at: now, maximumAge: 86_400)
  let next = RefreshSchedule.due(after: now, end: entry.copy?.end, interval: 3600)
  expect(next >= now.adding(seconds: RefreshSchedule.shortest), "no source is asked more often than that")
  if let failure = entry.failure {
    let again = RefreshSchedule.due(afterFailures: failure.count + 1, at: now, interval: 86_400)
    expect(again <= now.adding(seconds: RefreshSchedule.longestBackOff), "no failure is waited for longer than that")
  }
}
