import Bytes
import CBOR
import COSE
import Crypto
import JSON
import Mdoc

/// Engagements, session messages and requests.
extension Inspection {
  mutating func inspectEngagement(_ bytes: ByteView) {
    let engagement: DeviceEngagement
    do throws(DeviceEngagement.Violation) {
      engagement = try DeviceEngagement(bytes)
    } catch {
      problem("\(error.code): \(explanation(of: error))")
      return
    }
    add("version", .string("1.\(engagement.minorVersion)"))
    add("cipherSuite", 1)
    add("deviceKey", .string(engagement.eDeviceKey.curve.rawValue))
    let methods = (try? decodeCBOR(bytes))?[label: 2]?.elements.map(Array.init) ?? []
    add(
      "retrievalMethods",
      .array(
        methods.map { method in
          let type = method.element(0)?.uint
          return [
            "type": .string(methodText(type)),
            "version": method.element(1)?.uint.map { .integer(Int(clamping: $0)) } ?? .null,
          ]
        }))
    if let bluetooth = engagement.bluetooth { add("bluetooth", fact(of: bluetooth)) }
    add("ident", .string(engagement.bleIdent.hex))
    if engagement.minorVersion > 0 {
      add(
        "capabilities",
        [
          "handoverSessionEstablishment": .bool(engagement.capabilities.handoverSessionEstablishment),
          "readerAuthAll": .bool(engagement.capabilities.readerAuthAll),
        ])
    }
    for warning in engagement.warnings { warn(text(of: warning)) }
    if engagement.bluetooth == nil {
      warn("noUsableMethod: it offers no Bluetooth mode that this reader can use; an NFC engagement leaves it out")
    }
  }

  private func methodText(_ type: UInt64?) -> String {
    switch type {
    case 1: "NFC"
    case 2: "Bluetooth LE"
    case 3: "Wi-Fi Aware"
    case let type?: "unknown (\(type))"
    case nil: "no method"
    }
  }

  private func fact(of bluetooth: BluetoothRetrieval) -> JSONValue {
    let server = bluetooth.peripheralServer.map { mode -> JSONValue in
      .object([
        "uuid": .string("\(mode.uuid)"), "address": mode.address.map { .string($0.hex) },
        "psm": mode.psm.map { .integer(Int($0)) },
      ])
    }
    let client = bluetooth.centralClient.map { uuid -> JSONValue in ["uuid": .string("\(uuid)")] }
    return .object(["peripheralServerMode": server, "centralClientMode": client])
  }

  private func explanation(of violation: DeviceEngagement.Violation) -> String {
    switch violation {
    case .notCBOR(let error): "not one CBOR item within its limits: \(error.disclosedDescription)"
    case .malformed(let member, let offset):
      "\(member.map { "member \($0) is missing or of the wrong kind" } ?? "it is no map") at byte \(offset)"
    case .versionUnsupported: "a version other than 1.x"
    case .cipherSuiteUnsupported: "a cipher suite other than 1"
    case .keyInvalid(let error): "member 1: the wallet's key is \(keyExplanation(error))"
    case .keyCannotAgree(let curve): "member 1: the wallet's key is on \(curve.rawValue), which signs only"
    case .noUsableMethod: "it offers no way this reader can go"
    }
  }

  private func text(of warning: DeviceEngagement.Warning) -> String {
    switch warning {
    case .unknownMember(let label):
      "member \(label.map { "\($0)" } ?? "with a key that is no integer") is unknown; ignored"
    case .memberOfLaterEdition(let label): "member \(label) belongs to a later version than the engagement's; ignored"
    case .serverRetrievalIgnored: "it offers retrieval through a server, which is not done here"
    case .memberIgnored(let label): "member \(label) is not of the kind it should be; ignored"
    case .methodSkipped(let type): "a retrieval method (\(methodText(type))) that this reader does not use"
    case .bluetoothModeRefused(let mode, let refusal): "\(mode.name): \(text(of: refusal)); it cannot be used"
    case .bluetoothOptionIgnored(let label): "Bluetooth option \(label) is not what it should be; ignored"
    }
  }

  private func text(of refusal: BluetoothRetrieval.Refusal) -> String {
    switch refusal {
    case .flagKind: "its flag is no bool"
    case .uuidMissing: "its UUID is missing"
    case .uuidKind: "its UUID is no byte string"
    case .uuidSize(let count): "its UUID has \(count) bytes instead of 16"
    }
  }

  // MARK: Session messages

  mutating func inspectEstablishment(_ bytes: ByteView) {
    do throws(SessionMessageViolation) {
      let message = try SessionEstablishment(bytes)
      do throws(COSEKeyError) {
        add("readerKey", .string(try message.eReaderKey().curve.rawValue))
      } catch {
        problem("eReaderKey: \(keyExplanation(error))")
      }
      add("encryptedSize", .integer(message.data.count))
    } catch {
      problem(text(of: error))
    }
  }

  mutating func inspectSessionData(_ bytes: ByteView) {
    do throws(SessionMessageViolation) {
      let message = try SessionData(bytes)
      add("encryptedSize", message.data.map { .integer($0.count) })
      add("status", message.status.map { .string(sessionStatusText($0)) })
    } catch {
      problem(text(of: error))
    }
  }

  private func sessionStatusText(_ status: UInt64) -> String {
    switch status {
    case SessionData.Status.encryptionError: "\(status) (the sender could not decrypt)"
    case SessionData.Status.decodingError: "\(status) (the sender could not read the CBOR)"
    case SessionData.Status.termination: "\(status) (the session is over)"
    default: "\(status) (unknown)"
    }
  }

  private func text(of violation: SessionMessageViolation) -> String {
    switch violation {
    case .notCBOR(let error): "not one well-formed CBOR item: \(error.disclosedDescription)"
    case .notMap: "no map at byte 0"
    case .wrongKind(let member, let offset): "\(member): of the wrong kind at byte \(offset)"
    case .missing(let member): "\(member): missing from the map at byte 0"
    }
  }

  // MARK: Requests

  mutating func inspectRequest(_ bytes: ByteView) {
    let request: DeviceRequest
    do throws(DeviceRequest.Violation) {
      request = try DeviceRequest(bytes)
    } catch {
      problem(error.disclosedDescription)
      return
    }
    add("version", name(request.version, when: isVersion))
    var documents: [JSONValue] = []
    for (place, document) in request.documents.enumerated() {
      let nameSpaces = document.itemsRequest.nameSpaces.map { space -> JSONValue in
        let elements = space.elements.map { element -> JSONValue in
          ["element": name(element.identifier), "intentToRetain": .bool(element.intentToRetain)]
        }
        return ["nameSpace": name(space.nameSpace), "elements": .array(elements)]
      }
      var facts: [JSONValue.Member] = [
        .init("docType", name(document.itemsRequest.docType)), .init("nameSpaces", .array(nameSpaces)),
      ]
      if let auth = document.readerAuth {
        let header = headerFacts(auth.structure, at: "docRequests[\(place)].readerAuth", wantsChain: true)
        facts.append(.init("readerAuth", .object(header)))
      }
      if document.requestInfo != nil { facts.append(.init("requestInfo", "present")) }
      documents.append(.object(facts))
    }
    add("documents", .array(documents))
    var all: [JSONValue] = []
    for (place, auth) in request.readerAuthAll.enumerated() {
      all.append(.object(headerFacts(auth.structure, at: "readerAuthAll[\(place)]", wantsChain: true)))
    }
    if !all.isEmpty { add("readerAuthAll", .array(all)) }
    if let info = request.deviceRequestInfoBytes { add("deviceRequestInfo", .string("\(info.count) bytes")) }
  }
}

extension DeviceRequest.Violation {
  /// The violation for people; its paths name members of the structure only.
  var disclosedDescription: String {
    switch self {
    case .notCBOR(let error): "not one well-formed CBOR item: \(error.disclosedDescription)"
    case .versionUnsupported: "a version other than 1.x"
    case .missing(let place): "\(place.path): missing from the map at byte \(place.offset)"
    case .wrongKind(let place):
      "\(place.path.isEmpty ? "the request" : place.path): of the wrong kind at byte \(place.offset)"
    case .empty(let place): "\(place.path): empty at byte \(place.offset)"
    }
  }
}
