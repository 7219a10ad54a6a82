import CBOR
import COSE
import Crypto
import Mdoc

extension DocumentSigner {
  /// Issues a document: items with random salts under shuffled digest ids, decoys between them, a signed MSO.
  ///
  /// - Parameters:
  ///   - deviceKey: what the document is bound to.
  ///   - random: where salts, decoys and the order of digest ids come from; a seeded generator gives the same
  ///     items again.
  /// - Throws: `cryptography` when the signature cannot be made.
  package func issue(
    docType: String, _ content: [NameSpaceContent], deviceKey: PublicKey, terms: IssuanceTerms,
    random: inout some RandomNumberGenerator
  ) throws(IssuerError) -> IssuedDocument {
    var nameSpaces: [Credential.NameSpace] = []
    var valueDigests: [CBORValue.Pair] = []
    for space in content {
      var digests: [CBORValue.Pair] = []
      var items: [Credential.Item] = []
      var ids = Array(0..<UInt64(space.elements.count + max(terms.decoys, 0))).shuffled(using: &random)[...]
      for element in space.elements {
        let id = ids.removeFirst()
        var item = MapDraft([
          "digestID": .unsigned(id),
          "random": .bytes(bytes(terms.randomSize, from: &random)),
          "elementIdentifier": .text(element.identifier),
          "elementValue": element.value,
        ])
        terms.editItem?(space.nameSpace, &item)
        let encoded = CBORValue.embedded(item.value).encode()
        items.append(Credential.Item(identifier: element.identifier, encoded: encoded))
        digests.append(CBORValue.Pair(item["digestID"] ?? .unsigned(id), .bytes(digest(terms.digest, encoded))))
      }
      for id in ids {
        digests.append(CBORValue.Pair(.unsigned(id), .bytes(bytes(terms.digest.digestSize, from: &random))))
      }
      nameSpaces.append(Credential.NameSpace(name: space.nameSpace, items: items))
      valueDigests.append(CBORValue.Pair(.text(space.nameSpace), .map(digests)))
    }
    let issuerAuth = try sign(
      mobileSecurityObject(docType, .map(valueDigests), deviceKey, terms), terms: terms)
    return IssuedDocument(docType: docType, nameSpaces: nameSpaces, issuerAuth: issuerAuth)
  }

  /// The same for a holder whose key the issuer has too: a test document that is made and kept in one place.
  package func issue(
    docType: String, _ content: [NameSpaceContent], deviceKey: PrivateKey, terms: IssuanceTerms,
    random: inout some RandomNumberGenerator
  ) throws(IssuerError) -> Credential {
    let issued = try issue(docType: docType, content, deviceKey: deviceKey.publicKey, terms: terms, random: &random)
    return Credential(
      docType: docType, nameSpaces: issued.nameSpaces, issuerAuth: issued.issuerAuth, deviceKey: deviceKey)
  }

  private func mobileSecurityObject(
    _ docType: String, _ valueDigests: CBORValue, _ deviceKey: PublicKey, _ terms: IssuanceTerms
  ) -> CBORValue {
    var keyInfo = MapDraft(["deviceKey": deviceKey.coseKey])
    keyInfo["keyAuthorizations"] = terms.keyAuthorizations
    var validity = MapDraft([
      "signed": .dateTime(terms.signed), "validFrom": .dateTime(terms.validFrom),
      "validUntil": .dateTime(terms.validUntil),
    ])
    validity["expectedUpdate"] = terms.expectedUpdate.map(CBORValue.dateTime)
    var object = MapDraft([
      "version": "1.0", "digestAlgorithm": .text(terms.digest.msoName), "valueDigests": valueDigests,
      "deviceKeyInfo": keyInfo.value, "docType": .text(docType), "validityInfo": validity.value,
    ])
    object["status"] = terms.status
    terms.editMSO?(&object)
    return object.value
  }

  private func sign(_ object: CBORValue, terms: IssuanceTerms) throws(IssuerError) -> [UInt8] {
    var payload = CBORValue.embedded(object).encode()
    terms.editPayload?(&payload)
    let chain = CBORValue.map(labels: [33: .bytes(certificate)])
    let signed: CBORValue
    do {
      signed = try COSESign1.sign(
        payload, with: terms.signingKey ?? key, algorithm: terms.algorithm, unprotected: chain, isDetached: false)
    } catch {
      throw .cryptography("issuerAuth: \(error)")
    }
    guard let edit = terms.editIssuerAuth, case .array(var parts) = signed else { return signed.encode() }
    edit(&parts)
    return CBORValue.array(parts).encode()
  }
}

/// `count` bytes of a generator.
func bytes(_ count: Int, from random: inout some RandomNumberGenerator) -> [UInt8] {
  (0..<max(count, 0)).map { _ in UInt8.random(in: .min ... .max, using: &random) }
}
