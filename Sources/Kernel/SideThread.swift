import Synchronization

/// A thread beside the loop's, for work that would hold the loop up, and the box through which the two talk.
///
/// What is in the box, and how it is worked through, is the owner's affair. This is the frame: the thread, a bell on each
/// side, and an end that is waited for. It belongs to the loop's thread.
package final class SideThread<Content: Sendable> {
  /// What both threads see, and the only thing they share.
  package final class Box: Sendable {
    private let content: Mutex<Content>
    private let toThread: Wakeup
    fileprivate let toLoop: Wakeup

    fileprivate init(_ content: Content) throws(SystemError) {
      self.content = Mutex(content)
      toThread = try Wakeup()
      toLoop = try Wakeup()
    }

    /// Looks into the box, takes out of it, and rings no bell. The other side waits meanwhile.
    package func look<Result: Sendable>(_ body: (inout Content) -> Result) -> Result {
      content.withLock { body(&$0) }
    }

    /// The same in the other thread, with something for the loop.
    package func deliver(_ body: (inout Content) -> Void) {
      look(body)
      toLoop.signal()
    }

    /// Waits in the other thread until something was posted. What was posted before is reported once.
    package func wait() { toThread.wait() }

    fileprivate func post<Result: Sendable>(_ body: (inout Content) -> Result) -> Result {
      defer { toThread.signal() }
      return look(body)
    }
  }

  /// What is in it may be looked at when the thread has ended.
  package let box: Box
  private let loop: EventLoop
  private let thread: JoinedThread
  private let end: (inout Content) -> Void
  private var watch: EventLoop.Watch?

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - name: shows in `top -H`; the system keeps 15 bytes of it.
  ///   - content: what is in the box at first.
  ///   - end: writes into the box that the thread is to end. It may be called more than once.
  ///   - onDelivery: called in the loop's thread; several deliveries may become one call.
  ///   - work: the thread. It returns when it finds in the box what `end` wrote.
  package init(
    _ name: String, on loop: EventLoop, content: Content, end: @escaping (inout Content) -> Void,
    onDelivery: @escaping (Box) -> Void, work: @escaping @Sendable (Box) -> Void
  ) throws(SystemError) {
    let box = try Box(content)
    self.box = box
    self.loop = loop
    self.end = end
    thread = try JoinedThread(name) { work(box) }
    do throws(SystemError) {
      watch = try loop.watch(box.toLoop) { onDelivery(box) }
    } catch {
      box.post(end)
      throw error
    }
  }

  deinit { stop() }

  /// Puts something in for the thread.
  @discardableResult
  package func post<Result: Sendable>(_ body: (inout Content) -> Result) -> Result { box.post(body) }

  /// Ends the thread and waits for it: as long as it takes with what it is at. Nothing is delivered any more. Doing it
  /// twice is harmless.
  package func stop() {
    box.post(end)
    if let watch { loop.remove(watch) }
    watch = nil
    thread.join()
  }
}
