import Kernel

/// A file with a secret, which nobody but its owner may read; where root owns it, also the service, by a group of its own.
package enum SecretFile {
  /// Who else may read it.
  package enum Exposure: Equatable, Sendable {
    /// Its permission bits open it to everybody, to a group that is not root's to give, or to somebody's writing.
    case mode(UInt32)
    /// The group that may read it is not the service's own: others are in it, or nobody is.
    case group(String, others: [String])
  }

  /// Reads it, of at most `limit` bytes, unless somebody else may.
  static func read(_ path: String, as secret: Secret, limit: Int) throws(ReaderCredentialProblem) -> [UInt8] {
    let facts: FileFacts
    do throws(SystemError) { facts = try Files.facts(path) } catch { throw .unreadable(error) }
    if let exposure = exposure(
      mode: facts.mode, owner: facts.owner, group: facts.group, user: Accounts.own,
      members: Accounts.members(ofGroup:), name: Accounts.name(ofGroup:))
    {
      throw .exposed(path, secret, exposure)
    }
    do throws(SystemError) { return try Files.read(path, limit: limit) } catch { throw .unreadable(error) }
  }

  /// - Parameter user: as whom this process acts. Root looks at the file for a service that is another user and whose name it
  ///   does not know: an account that is alone in the group, and has it as its first one, is taken for it.
  static func exposure(
    mode: UInt32, owner: UInt32, group: UInt32, user: UInt32, members: (UInt32) -> [Account], name: (UInt32) -> String
  ) -> Exposure? {
    guard mode & (owner == 0 ? 0o037 : 0o077) == 0 else { return .mode(mode) }
    // Root reads it anyway, and so nobody else is in root's group without being root.
    guard mode & 0o040 != 0 else { return nil }
    let others = members(group).filter { $0.id != 0 && $0.id != user }
    let isOwn =
      if user != 0 || group == 0 { others.isEmpty } else { others.count == 1 && others[0].group == group }
    return isOwn ? nil : .group(name(group), others: others.map(\.name))
  }
}

/// A secret in a file.
package enum Secret: String, Sendable {
  case key = "private key"
  case pin = "PIN"
}
