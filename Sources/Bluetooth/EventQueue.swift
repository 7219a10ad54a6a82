/// What an engine has to say, in order. Taking the first costs the same however many there are.
struct EventQueue: Sendable {
  private var events: [LinkOutput] = []
  private var head = 0

  var isEmpty: Bool { head == events.count }

  mutating func append(_ event: LinkOutput) { events.append(event) }

  mutating func takeFirst() -> LinkOutput? {
    guard head < events.count else { return nil }
    defer {
      head += 1
      if head == events.count {
        events = []
        head = 0
      }
    }
    return events[head]
  }

  /// Nobody listens to the peer any more.
  mutating func dropMessages() {
    events = events[head...].filter {
      switch $0 {
      case .message, .messageProgress: false
      default: true
      }
    }
    head = 0
  }
}
