import Bytes
import CBOR
import COSE
import Crypto

/// How a device proves that it holds the key of a document.
package enum DeviceAuthenticationMethod: String, CaseIterable, Sendable {
  case signature
  /// Needs the reader's ephemeral key to be on the curve of the device key.
  case mac
}

/// Why a holder could not prove possession of its key.
package enum PresentationError: Error, Equatable, Sendable {
  /// The device key's curve cannot sign (X25519 and X448).
  case cannotSign
  /// No shared secret with the reader's key: another curve, or a device key that cannot agree.
  case cannotAgree
}

/// One document of a response while it is made: a credential, the items chosen, and how the device proves itself.
package struct DocumentPresentation: Sendable {
  package var credential: Credential
  package var selection: Credential.Selection
  package var method: DeviceAuthenticationMethod
  /// The encoded SessionTranscript, without tag 24.
  package var transcript: [UInt8]
  /// The reader's ephemeral key, for a MAC; nil where the session has none.
  package var readerKey: PublicKey?
  /// Signs or agrees instead of the credential's key.
  package var deviceKey: PrivateKey
  /// The docType the document carries and the device signs.
  package var docType: String
  /// Name space to element to value, signed by the device; normally the empty map.
  package var deviceNameSpaces: CBORValue
  /// Whether requested elements that are missing are listed in `errors`.
  package var reportsMissing: Bool

  package init(
    _ credential: Credential, selection: Credential.Selection, method: DeviceAuthenticationMethod,
    transcript: [UInt8], readerKey: PublicKey?
  ) {
    self.credential = credential
    self.selection = selection
    self.method = method
    self.transcript = transcript
    self.readerKey = readerKey
    deviceKey = credential.deviceKey
    docType = credential.docType
    deviceNameSpaces = .map([])
    reportsMissing = true
  }

  /// The Document structure. Throws when the device key cannot do what `method` asks.
  package func document() throws(PresentationError) -> CBORValue {
    document(deviceAuth: .map([try deviceAuth(method)]))
  }

  /// The Document structure around a deviceAuth map made elsewhere; nil leaves deviceSigned out.
  package func document(deviceAuth: CBORValue?) -> CBORValue {
    var members = [
      CBORValue.Pair("docType", .text(docType)),
      CBORValue.Pair(
        "issuerSigned", Credential.issuerSigned(selection.nameSpaces, issuerAuth: credential.issuerAuth)),
    ]
    if let deviceAuth {
      members.append(
        CBORValue.Pair(
          "deviceSigned", .map(["nameSpaces": .embedded(deviceNameSpaces), "deviceAuth": deviceAuth])))
    }
    if reportsMissing, let errors { members.append(CBORValue.Pair("errors", errors)) }
    return .map(members)
  }

  /// The member of deviceAuth for a method: its name and the COSE structure with a detached payload.
  package func deviceAuth(_ method: DeviceAuthenticationMethod) throws(PresentationError) -> CBORValue.Pair {
    switch method {
    case .signature:
      guard let signature = try? COSESign1.sign(payload, with: deviceKey, isDetached: true) else { throw .cannotSign }
      return CBORValue.Pair("deviceSignature", signature)
    case .mac:
      guard let readerKey else { throw .cannotAgree }
      do {
        let key = try DeviceAuthentication.macKey(own: deviceKey, peer: readerKey, transcript: transcript[...])
        return CBORValue.Pair("deviceMac", COSEMac0.authenticate(payload, key: key))
      } catch {
        throw .cannotAgree
      }
    }
  }

  /// DeviceAuthenticationBytes of this document.
  package var payload: [UInt8] {
    DeviceAuthentication.payload(
      transcript: transcript[...], docType: docType,
      nameSpacesBytes: CBORValue.embedded(deviceNameSpaces).encode()[...])
  }

  /// Name space to element to error code 0 (data not returned); nil when nothing is missing.
  private var errors: CBORValue? {
    var spaces: [(name: String, elements: [CBORValue.Pair])] = []
    for missing in selection.missing {
      let pair = CBORValue.Pair(.text(missing.identifier), 0)
      if let place = spaces.firstIndex(where: { $0.name == missing.nameSpace }) {
        spaces[place].elements.append(pair)
      } else {
        spaces.append((missing.nameSpace, [pair]))
      }
    }
    guard !spaces.isEmpty else { return nil }
    return .map(spaces.map { CBORValue.Pair(.text($0.name), .map($0.elements)) })
  }
}

/// A DeviceResponse while it is made.
package struct DeviceResponseDraft: Sendable {
  package var version = "1.0"
  /// 0 OK, 10 general error, 11 request not decodable, 12 request not valid.
  package var status: UInt64
  package var documents: [CBORValue]
  /// Doc types that were asked for and are not given, with code 0: data not returned.
  package var notReturned: [String]

  package init(documents: [CBORValue] = [], notReturned: [String] = [], status: UInt64 = 0) {
    self.documents = documents
    self.notReturned = notReturned
    self.status = status
  }

  /// The structure; members without content are left out.
  package var value: CBORValue {
    var members = [CBORValue.Pair("version", .text(version)), CBORValue.Pair("status", .unsigned(status))]
    if !documents.isEmpty { members.append(CBORValue.Pair("documents", .array(documents))) }
    if !notReturned.isEmpty {
      members.append(
        CBORValue.Pair("documentErrors", .array(notReturned.map { .map([CBORValue.Pair(.text($0), 0)]) })))
    }
    return .map(members)
  }

  package func encode() -> [UInt8] { value.encode() }
}
