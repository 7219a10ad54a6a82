import Glibc
import Testing

@testable import Kernel

@Suite("Accounts of the system")
struct AccountsTests {
  @Test("root is in its group, by the first group of its account")
  func root() {
    #expect(Accounts.members(ofGroup: 0).contains(Account(id: 0, name: "root", group: 0)))
    #expect(Accounts.name(ofGroup: 0) == "root")
    #expect(Accounts.own == geteuid())
  }

  @Test("a group lists accounts that have another first group, and a number without a group has nobody")
  func groups() throws {
    // Whatever system this is: the first group that lists an account which has another first group.
    var listing: (group: UInt32, account: String)?
    setgrent()
    while listing == nil, let entry = getgrent() {
      if let name = entry.pointee.gr_mem?.pointee, let account = getpwnam(name),
        account.pointee.pw_gid != entry.pointee.gr_gid
      {
        listing = (entry.pointee.gr_gid, String(cString: name))
      }
    }
    endgrent()
    if let listing {
      #expect(Accounts.members(ofGroup: listing.group).contains { $0.name == listing.account })
    } else {
      print("skipped: a group with a list: this system has none")
    }
    #expect(Accounts.members(ofGroup: 64_998).isEmpty && Accounts.name(ofGroup: 64_998) == "64998")
  }
}
