import Bluetooth
import Testing

@testable import KernelBluetooth

@Suite("Devices that were heard")
struct AcquaintancesTests {
  @Test("one is connected to once at a time, and three times at most, however it fails")
  func attempts() throws {
    let address = try #require(BluetoothAddress(wire: [1, 2, 3, 4, 5, 6], kind: .leRandom))
    let other = try #require(BluetoothAddress(wire: [2, 2, 3, 4, 5, 6], kind: .leRandom))
    var acquaintances = Acquaintances()
    var counts = acquaintances.fail(address)
    #expect(!counts, "nobody knows it yet")
    for _ in 1...3 {
      #expect(acquaintances.mayConnect(to: address))
      acquaintances.take(address)
      #expect(!acquaintances.mayConnect(to: address))
      counts = acquaintances.fail(address)
      #expect(counts)
      counts = acquaintances.fail(address)
      #expect(!counts, "counted once")
    }
    #expect(!acquaintances.mayConnect(to: address) && acquaintances.mayConnect(to: other))
  }

  @Test("a refused channel is remembered over the attempts, and is none")
  func refusal() throws {
    let address = try #require(BluetoothAddress(wire: [1, 2, 3, 4, 5, 6], kind: .leRandom))
    var acquaintances = Acquaintances()
    acquaintances.take(address)
    #expect(acquaintances.refusal(of: address) == nil)
    acquaintances.refuseChannel(of: address, .timeout)
    acquaintances.take(address)
    _ = acquaintances.fail(address)
    #expect(acquaintances.mayConnect(to: address))
    #expect(acquaintances.refusal(of: address) == .timeout)
  }
}
