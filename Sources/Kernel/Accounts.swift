import Glibc

/// An account of the system.
package struct Account: Equatable, Sendable {
  package let id: UInt32
  package let name: String
  /// Its first group.
  package let group: UInt32

  package init(id: UInt32, name: String, group: UInt32) {
    self.id = id
    self.name = name
    self.group = group
  }
}

/// Who has an account, as the system's user database lists it (`getent passwd`).
package enum Accounts {
  /// The user as whom this process acts.
  package static var own: UInt32 { geteuid() }

  /// The name of a group, or its number where it has none.
  package static func name(ofGroup group: UInt32) -> String {
    var name: String?
    withEntry(ofGroup: group) { name = String(cString: $0.gr_name) }
    return name ?? "\(group)"
  }

  /// The accounts in a group, by name: those it lists, and those whose first group it is.
  ///
  /// A directory service that answers for single users and lists none (as sssd is set up by default) hides its own.
  package static func members(ofGroup group: UInt32) -> [Account] {
    var listed: Set<String> = []
    withEntry(ofGroup: group) { entry in
      // The array and its strings are in the buffer that the entry was read into; a null pointer ends it.
      var next = entry.gr_mem
      while let name = next?.pointee {
        listed.insert(String(cString: name))
        next = next?.successor()
      }
    }
    var members: [Account] = []
    setpwent()
    defer { endpwent() }
    while let entry = getpwent() {
      // Valid until the next call; nothing else in this program reads the list.
      let name = String(cString: entry.pointee.pw_name)
      if entry.pointee.pw_gid == group || listed.contains(name) {
        members.append(Account(id: entry.pointee.pw_uid, name: name, group: entry.pointee.pw_gid))
      }
    }
    return members.sorted { $0.name < $1.name }
  }

  private static func withEntry(ofGroup group: UInt32, _ body: (Glibc.group) -> Void) {
    var entry = Glibc.group()
    var found: UnsafeMutablePointer<Glibc.group>?
    var buffer = [CChar](repeating: 0, count: 1 << 20)
    buffer.withUnsafeMutableBufferPointer { storage in
      // The entry points into the buffer, which is there as long as `body` runs.
      if getgrgid_r(group, &entry, storage.baseAddress!, storage.count, &found) == 0, found != nil { body(entry) }
    }
  }
}
