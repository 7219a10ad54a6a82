import Foundation
import Kernel
import Pictures
import QRScan
import Testing

private let soon = Duration.seconds(120)

@Suite struct DecodeWorkerTests {
  @Test("a still picture is decoded in the other thread and comes back through the loop")
  func still() throws {
    let loop = try EventLoop()
    var results: [DecodeWorker.Result] = []
    let worker = try DecodeWorker(on: loop) {
      results.append($0)
      loop.stop()
    }
    let number = worker.submit(try QRPicture.code(engagement).inverted(), .still)
    #expect(try loop.run(until: .now + soon))
    let result = try #require(results.first)
    #expect(result.picture == number)
    #expect(result.codes == [engagement])
    #expect(result.attempt == .inverse)
    #expect(result.duration > .zero)
    #expect(result.failure == nil)
    worker.stop()
    worker.stop()
    #expect(loop.watchCount == 0)
  }

  @Test("live pictures take turns until a light code on dark is found")
  func live() throws {
    let loop = try EventLoop()
    let image = try QRPicture.code(engagement).inverted()
    var results: [DecodeWorker.Result] = []
    var worker: DecodeWorker?
    worker = try DecodeWorker(on: loop) {
      results.append($0)
      if results.count == 4 { loop.stop() } else { worker?.submit(image, .live) }
    }
    worker?.submit(image, .live)
    #expect(try loop.run(until: .now + soon))
    #expect(results.map(\.attempt) == [.asIs, .inverse, .inverse, .inverse])
    #expect(results.map { $0.codes.count } == [0, 1, 1, 1])
    worker?.stop()
    worker = nil
  }

  @Test("pictures are never queued: a newer one takes the place of one that waits")
  func newestWins() throws {
    let loop = try EventLoop()
    var results: [UInt64] = []
    var last: UInt64 = 0
    let worker = try DecodeWorker(on: loop) {
      results.append($0.picture)
      if $0.picture == last { loop.stop() }
    }
    let large = try LumaImage(width: 1500, height: 1500, pixels: [UInt8](repeating: 90, count: 1500 * 1500))
    for _ in 0..<50 { last = worker.submit(large, .live) }
    #expect(try loop.run(until: .now + soon))
    #expect(results.last == 50)
    #expect(results == results.sorted())
    #expect(worker.droppedPictures == 50 - results.count)
    #expect(worker.droppedPictures > 20)
  }

  @Test("a stop in a handler means that nothing more is handed on")
  func stopInHandler() throws {
    let loop = try EventLoop()
    let image = try QRPicture.code(engagement)
    var count = 0
    var worker: DecodeWorker?
    worker = try DecodeWorker(on: loop) { _ in
      count += 1
      worker?.stop()
      loop.stop()
    }
    worker?.submit(image, .still)
    #expect(try loop.run(until: .now + soon))
    worker?.submit(image, .still)
    #expect(try loop.run(until: .now + .milliseconds(100)) == false)
    #expect(count == 1)
    #expect(loop.watchCount == 0)
    worker = nil
  }

  @Test("starting and stopping leaves no descriptor and takes no longer at the end")
  func restarts() throws {
    let loop = try EventLoop()
    let image = try QRPicture.code(engagement, module: 2)
    func once() throws -> Duration {
      let start = ContinuousClock.now
      let worker = try DecodeWorker(on: loop) { _ in loop.stop() }
      worker.submit(image, .still)
      #expect(try loop.run(until: .now + soon))
      worker.stop()
      return ContinuousClock.now - start
    }
    var times: [Duration] = []
    for _ in 0..<300 { times.append(try once()) }
    // The fastest of each: a busy machine makes single ones slower, and what piles up makes all of them slower.
    let first = times[..<100].min() ?? .zero
    let last = times[200...].min() ?? .zero
    #expect(last < first * 3)
    #expect(loop.watchCount == 0)
  }
}
