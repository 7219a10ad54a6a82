import Bytes
import CBOR
import COSE
import Crypto

/// DeviceSigned of a document: elements of the holder's own word, and the proof of the device key.
package struct DeviceSigned: Sendable {
  /// DeviceNameSpacesBytes as received, tag 24 included.
  package let nameSpacesBytes: ByteView
  package let nameSpaces: [DeviceNameSpace]
  package let auth: DeviceAuth

  /// Which proof came.
  package enum DeviceAuth: Sendable {
    case signature(COSESign1)
    case mac(COSEMac0)
  }

  /// Why there is no device authentication to check.
  package enum Violation: Error, Equatable, Sendable {
    /// deviceSigned or deviceAuth is absent, or deviceAuth has neither member.
    case missing
    /// Both members, a wrong kind or COSE shape, or name spaces that are not T24(map of maps).
    case malformed
  }

  package init(_ item: CBORItem?) throws(Violation) {
    guard let item else { throw .missing }
    guard item.kind == .map else { throw .malformed }
    guard let auth = item[key: "deviceAuth"] else { throw .missing }
    guard auth.kind == .map else { throw .malformed }
    switch (auth[key: "deviceSignature"], auth[key: "deviceMac"]) {
    case (nil, nil): throw .missing
    case (.some, .some): throw .malformed
    case (let signature?, nil):
      guard let structure = try? COSESign1(signature) else { throw .malformed }
      self.auth = .signature(structure)
    case (nil, let mac?):
      guard let structure = try? COSEMac0(mac) else { throw .malformed }
      self.auth = .mac(structure)
    }
    guard let wrapped = item[key: "nameSpaces"], let content = try? wrapped.embedded(), let entries = content.entries
    else { throw .malformed }
    var nameSpaces: [DeviceNameSpace] = []
    for (key, value) in entries {
      guard let nameSpace = key.text, let members = value.entries else { throw .malformed }
      var elements: [DeviceNameSpace.Element] = []
      for (key, value) in members {
        guard let identifier = key.text else { throw .malformed }
        elements.append(DeviceNameSpace.Element(identifier: identifier, value: value))
      }
      nameSpaces.append(DeviceNameSpace(nameSpace: nameSpace, elements: elements))
    }
    nameSpacesBytes = wrapped.encoded
    self.nameSpaces = nameSpaces
  }
}

/// Device-signed elements of one name space.
package struct DeviceNameSpace: Sendable {
  package let nameSpace: String
  package let elements: [Element]

  package struct Element: Sendable {
    package let identifier: String
    package let value: CBORItem
  }
}

/// What the device signs or authenticates.
package enum DeviceAuthentication {
  /// DeviceAuthenticationBytes: the detached payload of deviceSignature and deviceMac.
  ///
  /// - Parameters:
  ///   - transcript: SessionTranscript as an item, without tag 24.
  ///   - nameSpacesBytes: DeviceNameSpacesBytes as sent, with its tag 24.
  package static func payload(
    transcript: ByteView, docType: String, nameSpacesBytes: ByteView
  ) -> [UInt8] {
    var inner = CBORWriter(capacity: transcript.count + nameSpacesBytes.count + docType.utf8.count + 40)
    inner.array(count: 4)
    inner.text("DeviceAuthentication")
    inner.raw(transcript)
    inner.text(docType)
    inner.raw(nameSpacesBytes)
    return embedCBOR(inner.bytes)
  }

  /// EMacKey (ISO/IEC 18013-5 section 9.1.3.5), from either side: own private key, the other's public key.
  ///
  /// - Parameter transcript: SessionTranscript as an item, without tag 24.
  ///
  /// Throws `agreementFailed` when the keys cannot agree.
  package static func macKey(
    own: PrivateKey, peer: PublicKey, transcript: ByteView
  ) throws(CryptoError) -> SecretBytes {
    let secret = try own.sharedSecret(with: peer)
    let salt = SessionTranscript.salt(of: transcript)
    return hkdfSHA256(secret: secret, salt: salt[...], info: ArraySlice("EMacKey".utf8), count: 32)
  }
}
