import Bytes
import CBOR
import Crypto

/// A document as its holder keeps it: every item and issuerAuth byte for byte as issued, and the device's private key.
package struct Credential: Sendable {
  /// One IssuerSignedItem.
  package struct Item: Equatable, Sendable {
    /// The element identifier it is found by.
    package let identifier: String
    /// IssuerSignedItemBytes as issued, tag 24 included: what the digest covers.
    package let encoded: [UInt8]

    package init(identifier: String, encoded: [UInt8]) {
      self.identifier = identifier
      self.encoded = encoded
    }

    /// Reads the identifier out of IssuerSignedItemBytes; nil when they are none.
    package init?(encoded: ByteView) {
      guard let item = try? decodeCBOR(encoded).embedded(), let identifier = item[key: "elementIdentifier"]?.text else {
        return nil
      }
      self.init(identifier: identifier, encoded: Array(encoded))
    }

    /// The element value; nil when the bytes are no item.
    package var value: CBORItem? { try? decodeCBOR(encoded).embedded()[key: "elementValue"] }
  }

  /// The items of one name space, in the order they were issued.
  package struct NameSpace: Equatable, Sendable {
    package var name: String
    package var items: [Item]

    package init(name: String, items: [Item]) {
      self.name = name
      self.items = items
    }
  }

  package let docType: String
  package let nameSpaces: [NameSpace]
  /// The encoded COSE_Sign1.
  package let issuerAuth: [UInt8]
  /// The key the issuer bound the document to.
  package let deviceKey: PrivateKey

  package init(docType: String, nameSpaces: [NameSpace], issuerAuth: [UInt8], deviceKey: PrivateKey) {
    self.docType = docType
    self.nameSpaces = nameSpaces
    self.issuerAuth = issuerAuth
    self.deviceKey = deviceKey
  }

  /// Why stored bytes are no IssuerSigned.
  package enum Violation: Error, Equatable, Sendable {
    case notCBOR(CBORError)
    /// A member is missing or of a wrong kind; the text names it.
    case member(String)
  }

  /// Takes up an IssuerSigned structure as an issuer sends it. Signatures and digests are not checked here.
  package init(docType: String, issuerSigned: ByteView, deviceKey: PrivateKey) throws(Violation) {
    let root: CBORItem
    do { root = try decodeCBOR(issuerSigned) } catch { throw .notCBOR(error) }
    guard let issuerAuth = root[key: "issuerAuth"], issuerAuth.kind == .array || issuerAuth.kind == .tag else {
      throw .member("issuerAuth")
    }
    var nameSpaces: [NameSpace] = []
    if let member = root[key: "nameSpaces"] {
      guard let entries = member.entries else { throw .member("nameSpaces") }
      for entry in entries {
        guard let name = entry.key.text, let elements = entry.value.elements else { throw .member("nameSpaces") }
        var items: [Item] = []
        for element in elements {
          guard let item = Item(encoded: element.encoded) else { throw .member("nameSpaces.\(name)") }
          items.append(item)
        }
        nameSpaces.append(NameSpace(name: name, items: items))
      }
    }
    self.init(
      docType: docType, nameSpaces: nameSpaces, issuerAuth: Array(issuerAuth.encoded), deviceKey: deviceKey)
  }

  /// The whole document as an IssuerSigned structure, for storing and handing over.
  package var issuerSigned: [UInt8] { Credential.issuerSigned(nameSpaces, issuerAuth: issuerAuth).encode() }

  /// IssuerSigned of these items; no member for name spaces where there are none.
  package static func issuerSigned(_ nameSpaces: [NameSpace], issuerAuth: [UInt8]) -> CBORValue {
    let spaces = nameSpaces.map { space in
      CBORValue.Pair(.text(space.name), .array(space.items.map { .encoded($0.encoded) }))
    }
    guard !spaces.isEmpty else { return .map(["issuerAuth": .encoded(issuerAuth)]) }
    return .map(["nameSpaces": .map(spaces), "issuerAuth": .encoded(issuerAuth)])
  }
}

// MARK: - What to give

extension Credential {
  /// The answer to a request: items to give, and what was asked and is not there.
  package struct Selection: Equatable, Sendable {
    /// Name spaces with at least one item, in the order of the request.
    package var nameSpaces: [NameSpace]
    /// Requested elements without an item, by name space, in the order of the request.
    package var missing: [Missing]

    package init(nameSpaces: [NameSpace], missing: [Missing] = []) {
      self.nameSpaces = nameSpaces
      self.missing = missing
    }
  }

  /// An element that was asked for and cannot be given.
  package struct Missing: Equatable, Sendable {
    package let nameSpace: String
    package let identifier: String

    package init(nameSpace: String, identifier: String) {
      self.nameSpace = nameSpace
      self.identifier = identifier
    }
  }

  /// The requested items under exactly the requested name spaces; for `age_over_NN` the nearest statement that
  /// answers it (09-mdl-data). No item comes twice.
  package func selection(for request: ItemsRequest) -> Selection {
    var selection = Selection(nameSpaces: [])
    for requested in request.nameSpaces {
      let held = nameSpaces.first { $0.name == requested.nameSpace }?.items ?? []
      var chosen: [Item] = []
      for element in requested.elements {
        let limit = AgeOver(element: element.identifier)
        let found =
          limit.map { nearestStatement(to: $0, in: held) } ?? held.first { $0.identifier == element.identifier }
        guard let found else {
          selection.missing.append(Missing(nameSpace: requested.nameSpace, identifier: element.identifier))
          continue
        }
        if !chosen.contains(where: { $0.identifier == found.identifier }) { chosen.append(found) }
      }
      if !chosen.isEmpty { selection.nameSpaces.append(NameSpace(name: requested.nameSpace, items: chosen)) }
    }
    return selection
  }

  /// Every item, as a wallet that does not listen would give it.
  package var everything: Selection { Selection(nameSpaces: nameSpaces) }

  /// The lowest TRUE at or above the limit, else the highest FALSE at or below it, else nothing.
  private func nearestStatement(to limit: AgeOver, in items: [Item]) -> Item? {
    let statements = items.compactMap { item -> (age: AgeOver, value: Bool, item: Item)? in
      guard let age = AgeOver(element: item.identifier), let value = item.value?.bool else { return nil }
      return (age, value, item)
    }
    let proof = statements.filter { $0.value && $0.age >= limit }.min { $0.age < $1.age }
    let refutation = statements.filter { !$0.value && $0.age <= limit }.max { $0.age < $1.age }
    return (proof ?? refutation)?.item
  }
}
