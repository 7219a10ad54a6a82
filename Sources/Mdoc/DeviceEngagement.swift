import Bluetooth
import Bytes
import CBOR
import COSE
import Crypto

/// DeviceEngagement (ISO/IEC 18013-5 section 8.2.1.1) as a wallet showed it.
///
/// `encoded` are the bytes as received: they alone go into the session transcript. Members of later editions and
/// unknown ones are left out of account, never out of the bytes.
package struct DeviceEngagement: Sendable {
  /// The engagement as received.
  package let encoded: ByteView
  /// The number after "1." of the version.
  package let minorVersion: Int
  /// EDeviceKeyBytes as received, tag 24 included.
  package let eDeviceKeyBytes: ByteView
  /// The wallet's ephemeral key, on a curve that can agree.
  package let eDeviceKey: PublicKey
  /// What is offered over Bluetooth LE, all entries taken together; nil when no mode can be used.
  package let bluetooth: BluetoothRetrieval?
  package let capabilities: Capabilities
  /// What was ignored or refused, in the order met.
  package let warnings: [Warning]

  /// What a wallet of the second edition says it can do; all false before version 1.1.
  package struct Capabilities: Equatable, Sendable {
    /// HandoverSessionEstablishmentSupport.
    package var handoverSessionEstablishment = false
    /// ReaderAuthAllSupport: the wallet accepts `readerAuthAll` in a request.
    package var readerAuthAll = false
  }

  /// Why no session can be made from an engagement.
  package enum Violation: Error, Equatable, Sendable {
    /// Not one CBOR item within the limits.
    case notCBOR(CBORError)
    /// A member is missing or of a wrong kind: its key, or nil for the map itself; the offset of what is wrong.
    case malformed(member: Int64?, offset: Int)
    /// A version other than 1.x.
    case versionUnsupported
    /// A cipher suite other than 1.
    case cipherSuiteUnsupported
    /// EDeviceKeyBytes hold no usable public key.
    case keyInvalid(COSEKeyError)
    /// A key on a curve that signs only.
    case keyCannotAgree(Curve)
    /// Nothing in the engagement says how this reader could connect.
    case noUsableMethod

    /// The stable reason code.
    package var code: String {
      switch self {
      case .notCBOR, .malformed: "engagementMalformed"
      case .versionUnsupported: "engagementVersionUnsupported"
      case .cipherSuiteUnsupported: "cipherSuiteUnsupported"
      case .keyInvalid, .keyCannotAgree: "engagementKeyInvalid"
      case .noUsableMethod: "noUsableMethod"
      }
    }
  }

  /// What was left out of account, and why.
  package enum Warning: Equatable, Sendable {
    /// A key that no edition known here defines; nil for a key that is no integer.
    case unknownMember(Int64?)
    /// Key 5 or 6 in a version that gives them no meaning.
    case memberOfLaterEdition(Int64)
    /// Key 3: retrieval through a server is not done here.
    case serverRetrievalIgnored
    /// Capabilities or origin infos that are not of the kind they should be.
    case memberIgnored(Int64)
    /// An entry of the retrieval methods of another type or version, or of no known shape (nil).
    case methodSkipped(type: UInt64?)
    /// A Bluetooth mode that is announced and cannot be used.
    case bluetoothModeRefused(MdocMode, BluetoothRetrieval.Refusal)
    /// A device address (option 20) or PSM (option 21) that is none.
    case bluetoothOptionIgnored(Int64)
  }

  /// Limits of an engagement: typical ones take 100 to 250 bytes.
  package static let limits = CBORLimits(depth: 16, items: 1000, size: 4096)

  /// Reads an engagement. An empty or absent list of methods is no violation here: NFC engagement leaves it out.
  package init(_ encoded: ByteView) throws(Violation) {
    let root: CBORItem
    do throws(CBORError) {
      root = try decodeCBOR(encoded, limits: DeviceEngagement.limits)
    } catch {
      throw .notCBOR(error)
    }
    guard let entries = root.entries else { throw .malformed(member: nil, offset: root.offset) }
    self.encoded = encoded
    guard let version = root[label: 0]?.text else {
      throw .malformed(member: 0, offset: root[label: 0]?.offset ?? root.offset)
    }
    guard let minor = DeviceEngagement.minorVersion(of: version) else { throw .versionUnsupported }
    minorVersion = minor
    (eDeviceKeyBytes, eDeviceKey) = try DeviceEngagement.readSecurity(root)

    var warnings: [Warning] = []
    var bluetooth = BluetoothRetrieval()
    var capabilities = Capabilities()
    for (key, value) in entries {
      switch key.int {
      case 0, 1: break
      case 2:
        guard let methods = value.elements else { throw .malformed(member: 2, offset: value.offset) }
        for method in methods { bluetooth.add(method, &warnings) }
      case 3: warnings.append(.serverRetrievalIgnored)
      case let label? where (label == 5 || label == 6) && minor == 0: warnings.append(.memberOfLaterEdition(label))
      // Origin infos matter for sessions that a website starts; here they only have to be a list.
      case 5: if value.kind != .array { warnings.append(.memberIgnored(5)) }
      case 6:
        if value.kind == .map {
          capabilities.handoverSessionEstablishment = value[label: 2]?.bool ?? false
          capabilities.readerAuthAll = value[label: 3]?.bool ?? false
        } else {
          warnings.append(.memberIgnored(6))
        }
      default: warnings.append(.unknownMember(key.int))
      }
    }
    self.bluetooth = bluetooth.isEmpty ? nil : bluetooth
    self.capabilities = capabilities
    self.warnings = warnings
  }

  package init(_ encoded: [UInt8]) throws(Violation) {
    try self.init(encoded[...])
  }

  /// The Bluetooth offer, or `noUsableMethod`: the outcome for a code that names no way this reader can go.
  package func requiredBluetooth() throws(Violation) -> BluetoothRetrieval {
    guard let bluetooth else { throw .noUsableMethod }
    return bluetooth
  }

  /// The Ident value of the central client mode: 16 bytes that tell the wallet it met the right reader.
  package var bleIdent: [UInt8] { DeviceEngagement.bleIdent(eDeviceKeyBytes: eDeviceKeyBytes) }

  /// HKDF-SHA-256 over EDeviceKeyBytes, tag 24 included, without salt (section 8.3.3.1.1.3).
  package static func bleIdent(eDeviceKeyBytes: ByteView) -> [UInt8] {
    hkdfSHA256(secret: Array(eDeviceKeyBytes), salt: [], info: ArraySlice("BLEIdent".utf8), count: 16)
  }

  /// The number after "1."; nil for any other major version. What follows a further dot is ignored.
  static func minorVersion(of text: String) -> Int? {
    guard text.hasPrefix("1.") else { return nil }
    return Int(text.dropFirst(2).prefix(4).prefix { $0.isASCII && $0.isNumber })
  }

  /// Key 1: the cipher suite and the wallet's key.
  private static func readSecurity(_ root: CBORItem) throws(Violation) -> (ByteView, PublicKey) {
    guard let security = root[label: 1] else { throw .malformed(member: 1, offset: root.offset) }
    guard let suite = security.element(0), suite.isInteger else {
      throw .malformed(member: 1, offset: security.offset)
    }
    guard suite.int == 1 else { throw .cipherSuiteUnsupported }
    guard let wrapped = security.element(1), wrapped.embeddedBytes != nil else {
      throw .malformed(member: 1, offset: security.element(1)?.offset ?? security.offset)
    }
    guard let content = try? wrapped.embedded(limits: limits) else { throw .keyInvalid(.malformed) }
    let key: PublicKey
    do throws(COSEKeyError) {
      key = try PublicKey(coseKey: content)
    } catch {
      throw .keyInvalid(error)
    }
    guard key.curve.kind != .edwards else { throw .keyCannotAgree(key.curve) }
    return (wrapped.encoded, key)
  }
}
