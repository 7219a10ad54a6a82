import Commands

/// One way for the wallet to misbehave. The raw value is the name on the command line.
///
/// Names of session, response, document and device quirks are those of the reference peer, so that both wallets
/// speak one language.
package enum Quirk: String, CaseIterable, Sendable {
  // The session
  case wrongCounter = "wrong-counter"
  case repeatedCounter = "repeated-counter"
  case readerDirectionKey = "reader-direction-key"
  case readerDirectionIV = "reader-direction-iv"
  case corruptTag = "corrupt-tag"
  case plainData = "plain-data"
  case sessionNotCBOR = "session-not-cbor"
  case sessionNoMembers = "session-no-members"
  case sessionExtraMembers = "session-extra-members"
  case sessionStatus10 = "session-status-10"
  case sessionStatus11 = "session-status-11"
  case sessionStatus20 = "session-status-20"
  case sessionStatusUnknown = "session-status-unknown"
  case sessionDataAnd20 = "session-data-and-20"
  // The transport
  case shortFragments = "short-fragments"
  case silent
  case earlyDisconnect = "early-disconnect"
  case oversizedAnswer = "oversized-answer"
  case noStart = "no-start"
  case invalidFragment = "invalid-fragment"
  case endState = "end-state"
  case lingering
  // The response
  case responseStatus10 = "response-status-10"
  case responseStatus11 = "response-status-11"
  case responseStatus12 = "response-status-12"
  case documentsMissing = "documents-missing"
  case documentsNull = "documents-null"
  case documentsEmpty = "documents-empty"
  case documentErrors = "document-errors"
  case trailingBytes = "trailing-bytes"
  case truncated
  case statusFirst = "status-first"
  case version2 = "version-2"
  // The document
  case digestMismatch = "digest-mismatch"
  case duplicateElement = "duplicate-element"
  case wrongNameSpace = "wrong-name-space"
  case docTypeMismatch = "doc-type-mismatch"
  case issuerSignature = "issuer-signature"
  case noCertificate = "no-certificate"
  case unrequestedElements = "unrequested-elements"
  case unrequestedDocument = "unrequested-document"
  // Device authentication
  case noDeviceSigned = "no-device-signed"
  case bothDeviceAuths = "both-device-auths"
  case neitherDeviceAuth = "neither-device-auth"
  case otherDeviceKey = "other-device-key"
  case otherTranscript = "other-transcript"
  case attachedPayload = "attached-payload"
  case deviceElement = "device-element"
  case flippedDeviceAuth = "flipped-device-auth"

  /// What a good reader makes of it: a reason code, or that it does not mind.
  package var expectation: String {
    switch self {
    case .wrongCounter, .readerDirectionKey, .readerDirectionIV, .corruptTag, .plainData:
      "decryptionFailed; the reader answers status 10"
    case .repeatedCounter: "decryptionFailed on the second answer of a session; the first is accepted"
    case .sessionNotCBOR, .sessionNoMembers: "sessionDataMalformed; the reader answers status 11"
    case .sessionExtraMembers: "accepted"
    case .sessionStatus10: "unexpectedStatus(10)"
    case .sessionStatus11: "unexpectedStatus(11)"
    case .sessionStatus20: "sessionTerminatedByPeer"
    case .sessionStatusUnknown: "unexpectedStatus(99)"
    case .sessionDataAnd20: "accepted, and the session is over"
    case .shortFragments: "accepted"
    case .silent: "timeout"
    case .earlyDisconnect: "linkLost, before the last byte of the answer"
    case .oversizedAnswer: "responseTooLarge or messageTooLarge"
    case .noStart: "timeout, peerNotFound or linkLost, by who gives up first: a link without State start is no session"
    case .invalidFragment: "fragmentInvalid"
    case .endState: "peerTerminated: State end instead of an answer"
    case .lingering: "accepted; the reader ends the session although the wallet never reacts to it"
    case .responseStatus10: "responseStatus(10)"
    case .responseStatus11: "responseStatus(11)"
    case .responseStatus12: "responseStatus(12)"
    case .documentsMissing, .documentsEmpty: "noDocuments"
    case .documentsNull, .trailingBytes, .truncated: "responseMalformed"
    case .documentErrors: "not verified, documentNotReturned"
    case .statusFirst: "accepted"
    case .version2: "responseVersionUnsupported"
    case .digestMismatch: "digestMismatch of the first element"
    case .duplicateElement: "duplicateElement"
    case .wrongNameSpace: "digestMissing of every moved element"
    case .docTypeMismatch: "unrequestedDocument, dropped; nothing is verified"
    case .issuerSignature: "issuerSignatureInvalid"
    case .noCertificate: "signerCertificateMissing"
    case .unrequestedElements: "unrequestedElement, dropped"
    case .unrequestedDocument: "unrequestedDocument, dropped"
    case .noDeviceSigned, .neitherDeviceAuth: "deviceAuthMissing"
    case .bothDeviceAuths: "deviceAuthMalformed"
    case .otherDeviceKey, .otherTranscript, .flippedDeviceAuth: "deviceSignatureInvalid or deviceMacInvalid"
    case .attachedPayload: "deviceSignatureInvalid or deviceMacInvalid under the strict policy"
    case .deviceElement: "deviceElementUnauthorized and unrequestedElement, dropped"
    }
  }

  /// Whether it is about what is in a DeviceResponse, so that it can be done online as well as at the door. Both proofs of a device
  /// cannot: one of them is a MAC, for which the verifier has no key there.
  package var isOfResponse: Bool {
    switch self {
    case .wrongCounter, .repeatedCounter, .readerDirectionKey, .readerDirectionIV, .corruptTag, .plainData,
      .sessionNotCBOR, .sessionNoMembers, .sessionExtraMembers, .sessionStatus10, .sessionStatus11, .sessionStatus20,
      .sessionStatusUnknown, .sessionDataAnd20, .shortFragments, .silent, .earlyDisconnect, .noStart, .invalidFragment,
      .endState, .lingering, .bothDeviceAuths:
      false
    default: true
    }
  }

  /// The meaning and range of the parameter after `=`, for the quirks that take one.
  package var parameter: (meaning: String, range: ClosedRange<Int>, standard: Int)? {
    switch self {
    case .earlyDisconnect: ("percent of the answer's bytes that are sent before the link drops", 0...100, 50)
    case .oversizedAnswer: ("bytes of the answer", 1...64 << 20, 5 << 20)
    default: nil
    }
  }

  /// Other names people look for.
  package static let aliases: KeyValuePairs<String, Quirk> = [
    "wrong-digest": .digestMismatch, "foreign-transcript": .otherTranscript, "wrong-device-key": .otherDeviceKey,
  ]
}

/// The quirks of one presentation, with their parameters.
package struct Quirks: Equatable, Sendable {
  private var parameters: [Quirk: Int] = [:]

  package init() {}

  package init(_ quirks: Quirk...) {
    for quirk in quirks { insert(quirk) }
  }

  /// Adds a quirk; without a parameter its standard one holds.
  package mutating func insert(_ quirk: Quirk, parameter: Int? = nil) {
    parameters[quirk] = parameter ?? quirk.parameter?.standard ?? 0
  }

  /// Adds what `--quirk NAME` or `--quirk NAME=N` names.
  package mutating func insert(argument: String) throws(CommandError) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let alias = Quirk.aliases.first { $0.key == parts[0] }?.value
    let quirk = if let alias { alias } else { try Arguments.choice(parts[0], of: Quirk.self, for: "--quirk") }
    guard parts.count == 2 else { return insert(quirk) }
    guard let parameter = quirk.parameter else {
      throw CommandError.usage(
        "--quirk \(quoted(argument))", "this quirk takes no number", hint: "write --quirk \(quirk.rawValue)")
    }
    guard let value = Int(parts[1]), parameter.range.contains(value) else {
      throw CommandError.usage(
        "--quirk \(quoted(argument))",
        "not a whole number from \(parameter.range.lowerBound) to \(parameter.range.upperBound)",
        hint: "the number is: \(parameter.meaning)")
    }
    insert(quirk, parameter: value)
  }

  package func contains(_ quirk: Quirk) -> Bool { parameters[quirk] != nil }

  /// The parameter of a quirk that is on; nil when it is off.
  package func parameter(of quirk: Quirk) -> Int? { parameters[quirk] }

  /// In the order of the list.
  package var all: [Quirk] { Quirk.allCases.filter { contains($0) } }

  package var isEmpty: Bool { parameters.isEmpty }
}
