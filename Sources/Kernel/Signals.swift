import Glibc

/// Signals of this process, which belong to the thread of the event loop.
package enum Signals {
  /// Holds all signals back while `body` runs: they come after it, and a thread that it starts gets none, ever.
  ///
  /// For code of others that may start threads, as modules of tokens do: such a thread takes the signal that ends the
  /// program, and ends it before the loop can put the board in order.
  package static func held<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    return try body()
  }
}
