import Foundation
import Kernel
import Testing

@testable import TrustStore

/// Accounts and groups of a board: `reader` is the service.
private let accounts: [UInt32: [Account]] = [
  0: [Account(id: 0, name: "root", group: 0)],
  900: [Account(id: 800, name: "reader", group: 900)],
  100: [Account(id: 1000, name: "pi", group: 1000)],
  101: [Account(id: 1000, name: "pi", group: 1000), Account(id: 800, name: "reader", group: 900)],
  102: [Account(id: 800, name: "reader", group: 900)],
  103: [Account(id: 0, name: "root", group: 0), Account(id: 800, name: "reader", group: 900)],
]

private struct Case: Sendable {
  let mode: UInt32
  let owner: UInt32
  let group: UInt32
  let user: UInt32
  let exposure: SecretFile.Exposure?
}

private let service: UInt32 = 800
private let cases: [Case] = [
  // Nobody but the owner
  Case(mode: 0o600, owner: service, group: 100, user: service, exposure: nil),
  Case(mode: 0o400, owner: 0, group: 100, user: 0, exposure: nil),
  Case(mode: 0o640, owner: service, group: 900, user: service, exposure: .mode(0o640)),
  Case(mode: 0o644, owner: 0, group: 900, user: service, exposure: .mode(0o644)),
  Case(mode: 0o660, owner: 0, group: 900, user: service, exposure: .mode(0o660)),
  Case(mode: 0o650, owner: 0, group: 900, user: service, exposure: .mode(0o650)),
  // The service's own group, as the service sees it and as root does
  Case(mode: 0o640, owner: 0, group: 900, user: service, exposure: nil),
  Case(mode: 0o440, owner: 0, group: 900, user: 0, exposure: nil),
  Case(mode: 0o640, owner: 0, group: 103, user: service, exposure: nil),
  Case(mode: 0o640, owner: 0, group: 0, user: 0, exposure: nil),
  Case(mode: 0o640, owner: 0, group: 777, user: service, exposure: nil),
  // Groups of others
  Case(mode: 0o640, owner: 0, group: 100, user: service, exposure: .group("g100", others: ["pi"])),
  Case(mode: 0o640, owner: 0, group: 100, user: 0, exposure: .group("g100", others: ["pi"])),
  Case(mode: 0o640, owner: 0, group: 101, user: service, exposure: .group("g101", others: ["pi"])),
  Case(mode: 0o640, owner: 0, group: 101, user: 0, exposure: .group("g101", others: ["pi", "reader"])),
  // Root cannot know that the one account in a group of another name is the service
  Case(mode: 0o640, owner: 0, group: 102, user: service, exposure: nil),
  Case(mode: 0o640, owner: 0, group: 102, user: 0, exposure: .group("g102", others: ["reader"])),
  Case(mode: 0o640, owner: 0, group: 777, user: 0, exposure: .group("g777", others: [])),
]

@Suite("Who may read a secret")
struct SecretFileTests {
  @Test("is its owner, and of root's files the service by a group of its own", arguments: cases.indices)
  func exposures(place: Int) {
    let now = cases[place]
    let exposure = SecretFile.exposure(
      mode: now.mode, owner: now.owner, group: now.group, user: now.user, members: { accounts[$0] ?? [] },
      name: { "g\($0)" })
    #expect(exposure == now.exposure)
  }

  @Test("the group users is named with those who are in it, as people read it")
  func words() {
    let group = ReaderCredentialProblem.exposed("/k", .key, .group("users", others: ["anna", "pi"]))
    #expect("\(group)" == "/k: the group users may read this private key, and anna, pi are in it")
    let one = ReaderCredentialProblem.exposed("/k", .pin, .group("users", others: ["pi"]))
    #expect("\(one)" == "/k: the group users may read this PIN, and pi is in it")
    let none = ReaderCredentialProblem.exposed("/k", .key, .group("users", others: []))
    #expect("\(none)" == "/k: the group users may read this private key, and no account is in it")
    #expect(none.remedy.contains("chown root:mdoc-reader /k"))
  }

  @Test("a file of root's that a group of nobody reads is refused on the disk too")
  func onDisk() throws {
    guard geteuid() == 0 else {
      print("skipped: a file that a group reads: only root can give one away")
      return
    }
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("secret-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Data("x".utf8).write(to: URL(fileURLWithPath: path))
    let nobodys: UInt32 = 64_999
    #expect(chown(path, 0, nobodys) == 0 && chmod(path, 0o640) == 0)
    do throws(ReaderCredentialProblem) {
      _ = try SecretFile.read(path, as: .key, limit: 10)
      Issue.record("it was read")
    } catch {
      #expect("\(error)" == "\(path): the group \(nobodys) may read this private key, and no account is in it")
    }
    #expect(chown(path, 0, 0) == 0)
    #expect(try SecretFile.read(path, as: .key, limit: 10) == Array("x".utf8))
  }
}
