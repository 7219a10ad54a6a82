import Bytes
import Commands
import Mdoc

/// The transcript of an online flow from the parameters of its request, as `verify` takes them.
enum OnlineTranscript {
  /// The forms, by the names of specifications and response modes.
  enum Form: String, CaseIterable {
    case openID4VP = "openid4vp"
    case browser = "dc_api"
    case annexB = "annexB"

    /// What it cannot do without.
    var needs: [String] {
      switch self {
      case .openID4VP: ["--client-id", "--nonce", "--response-uri"]
      case .browser: ["--origin", "--nonce"]
      case .annexB: ["--client-id", "--nonce", "--response-uri", "--mdoc-nonce"]
      }
    }

    var takes: [String] { self == .annexB ? needs : needs + ["--jwk-thumbprint"] }
  }

  private static let forms = Form.allCases.map(\.rawValue).joined(separator: "|")

  static let options = [
    CommandOption("--handover", forms, "make the transcript of an online flow, of the parameters that follow"),
    CommandOption("--client-id", "TEXT", "client_id of the request; its prefix included, except for annexB"),
    CommandOption("--nonce", "TEXT", "nonce of the request"),
    CommandOption("--response-uri", "URI", "response_uri of the request, or redirect_uri in its place"),
    CommandOption("--origin", "ORIGIN", "the page that asked through the browser, such as https://example.com"),
    CommandOption("--mdoc-nonce", "TEXT", "the nonce that the wallet made: apu of its response, decoded"),
    CommandOption(
      "--jwk-thumbprint", "TEXT", "RFC 7638 thumbprint of the key the response was encrypted to; none: not encrypted"),
  ]

  /// The transcript, or nil when no form is named. Throws for a parameter that is missing, surplus or not right.
  static func read(_ arguments: Arguments, _ notes: inout [String]) throws(CommandError) -> SessionTranscript? {
    let parameters = options.dropFirst().map(\.name)
    guard let form: Form = try arguments.choice("--handover") else {
      if let stray = parameters.first(where: { arguments.has($0) }) {
        throw CommandError.usage(stray, "given without --handover", hint: "name the flow: --handover \(forms)")
      }
      return nil
    }
    let list = form.needs.joined(separator: ", ")
    if arguments.has("--transcript") {
      throw CommandError.usage(
        "--handover", "given beside --transcript", hint: "leave --transcript out: it is made of \(list)")
    }
    if let stray = parameters.first(where: { arguments.has($0) && !form.takes.contains($0) }) {
      throw CommandError.usage(
        stray, "not in the handover \(form.rawValue)", hint: "leave it out: that form has \(list)")
    }
    func text(_ option: String) throws(CommandError) -> String {
      guard let value = arguments[option] else {
        throw CommandError.usage(option, "missing", hint: "--handover \(form.rawValue) needs \(list)")
      }
      // Wallets have been seen to make an empty nonce.
      guard !value.isEmpty || option == "--mdoc-nonce" else {
        throw CommandError.usage(option, "empty", hint: "give it as it was in the request")
      }
      return value
    }
    let thumbprint = try readThumbprint(arguments)
    if thumbprint == nil, form != .annexB {
      notes.append("no --jwk-thumbprint: the response counts as one that was not encrypted")
    }
    switch form {
    case .openID4VP:
      return SessionTranscript(
        online: .openID4VP(
          clientID: try text("--client-id"), nonce: try text("--nonce"), encryptionKeyThumbprint: thumbprint,
          responseURI: try text("--response-uri")))
    case .browser:
      let origin = try text("--origin")
      if origin.hasSuffix("/") || origin.hasPrefix("origin:") {
        throw CommandError.usage(
          "--origin \(quoted(origin))", "no origin", hint: "write it without origin: and without a slash at its end")
      }
      return SessionTranscript(
        online: .openID4VPBrowser(
          origin: origin, nonce: try text("--nonce"), encryptionKeyThumbprint: thumbprint))
    case .annexB:
      let client = try text("--client-id")
      if client.hasPrefix("x509_san_dns:") {
        notes.append("--client-id has a prefix, which that of Annex B does not have")
      }
      return SessionTranscript(
        online: .annexB(
          clientID: client, responseURI: try text("--response-uri"), nonce: try text("--nonce"),
          mdocGeneratedNonce: try text("--mdoc-nonce")))
    }
  }

  /// 64 digits are hexadecimal; 32 bytes have 43 characters in base64url.
  private static func readThumbprint(_ arguments: Arguments) throws(CommandError) -> [UInt8]? {
    guard let given = arguments["--jwk-thumbprint"] else { return nil }
    let decoded = given.utf8.count == 64 ? bytes(hex: given) : try? Base64.url.decode(given)
    guard let decoded, decoded.count == 32 else {
      throw CommandError.usage(
        "--jwk-thumbprint \(quoted(given))", "no SHA-256 thumbprint",
        hint: "give its 32 bytes in base64url or in hexadecimal")
    }
    return decoded
  }
}
