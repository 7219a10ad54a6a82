import Bytes
import JSON
import Web

/// A credential offer (OpenID4VCI 1.0, section 4.1.1): who issues what, and how the wallet gets leave.
package struct CredentialOffer: Equatable, Sendable {
  /// The credential issuer identifier.
  package let issuer: WebAddress
  /// Names of configurations in the issuer's metadata: at least one, none twice.
  package let configurationIDs: [String]
  /// Nil when this grant is not offered.
  package let authorizationCode: AuthorizationCodeGrant?
  /// Nil when this grant is not offered.
  package let preAuthorizedCode: PreAuthorizedCodeGrant?

  /// The user signs in at an authorization server.
  package struct AuthorizationCodeGrant: Equatable, Sendable {
    /// To be sent along, so that the server knows the offer.
    package var issuerState: String?
    /// Which of the issuer's authorization servers.
    package var authorizationServer: String?

    package init(issuerState: String? = nil, authorizationServer: String? = nil) {
      self.issuerState = issuerState
      self.authorizationServer = authorizationServer
    }
  }

  /// The user has been let in already: a code stands for that.
  package struct PreAuthorizedCodeGrant: Equatable, Sendable {
    package var code: String
    /// Nil when no transaction code is asked for.
    package var transactionCode: TransactionCode?
    /// Which of the issuer's authorization servers.
    package var authorizationServer: String?

    package init(code: String, transactionCode: TransactionCode? = nil, authorizationServer: String? = nil) {
      self.code = code
      self.transactionCode = transactionCode
      self.authorizationServer = authorizationServer
    }
  }

  /// What kind of code the user gets on another way. An offer with an empty description of it asks for one all the same.
  package struct TransactionCode: Equatable, Sendable {
    package enum InputMode: String, Sendable {
      case numeric
      case text
    }

    /// Numeric where nothing is said.
    package var inputMode = InputMode.numeric
    /// Characters; nil when nothing is said.
    package var length: Int?
    /// For the user, printable; nil when nothing is said.
    package var description: String?

    package init(inputMode: InputMode = .numeric, length: Int? = nil, description: String? = nil) {
      self.inputMode = inputMode
      self.length = length
      self.description = description
    }
  }

  package init(
    issuer: WebAddress, configurationIDs: [String], authorizationCode: AuthorizationCodeGrant? = nil,
    preAuthorizedCode: PreAuthorizedCodeGrant? = nil
  ) {
    self.issuer = issuer
    self.configurationIDs = configurationIDs
    self.authorizationCode = authorizationCode
    self.preAuthorizedCode = preAuthorizedCode
  }
}

extension CredentialOffer {
  /// Reads an offer object. An offer of an earlier draft is called that.
  package init(reading json: JSONValue?) throws(IssuanceError) {
    let offer = try MemberReading(json, of: .issuer, at: .offer)
    if offer["credentials"] != nil { throw offer.failure(.issuerSpeaksDraft("credentials")) }
    guard let issuer = try offer.address("credential_issuer") else {
      throw offer.failure(.missing("credential_issuer"))
    }
    guard issuer.query == nil else { throw offer.failure(.malformed("credential_issuer")) }
    let key = "credential_configuration_ids"
    guard let names = try offer.texts(key, most: IssuanceLimits.offeredConfigurations) else {
      throw offer.failure(.missing(key))
    }
    guard Set(names).count == names.count else { throw offer.failure(.malformed(key)) }
    let grants = try offer.members("grants")
    self.init(
      issuer: issuer, configurationIDs: names,
      authorizationCode: try grants?.members(GrantType.authorizationCode.rawValue).map(AuthorizationCodeGrant.init),
      preAuthorizedCode: try grants?.members(GrantType.preAuthorizedCode.rawValue).map(PreAuthorizedCodeGrant.init))
  }

  /// The offer object.
  package var json: JSONValue {
    let transactionCode: JSONValue? = preAuthorizedCode?.transactionCode.map { code in
      .object([
        "input_mode": .string(code.inputMode.rawValue), "length": code.length.map(JSONValue.integer),
        "description": code.description.map(JSONValue.string),
      ])
    }
    let grants: JSONValue = .object([
      GrantType.authorizationCode.rawValue: authorizationCode.map { grant in
        .object([
          "issuer_state": grant.issuerState.map(JSONValue.string),
          "authorization_server": grant.authorizationServer.map(JSONValue.string),
        ])
      },
      GrantType.preAuthorizedCode.rawValue: preAuthorizedCode.map { grant in
        .object([
          "pre-authorized_code": .string(grant.code), "tx_code": transactionCode,
          "authorization_server": grant.authorizationServer.map(JSONValue.string),
        ])
      },
    ])
    return .object([
      "credential_issuer": .string(issuer.text),
      "credential_configuration_ids": .array(configurationIDs.map(JSONValue.string)),
      "grants": authorizationCode == nil && preAuthorizedCode == nil ? nil : grants,
    ])
  }
}

/// The ways to a token that an offer can name (RFC 6749, OpenID4VCI 1.0 section 3.5).
package enum GrantType: String, CaseIterable, Sendable {
  case authorizationCode = "authorization_code"
  case preAuthorizedCode = "urn:ietf:params:oauth:grant-type:pre-authorized_code"
}

extension CredentialOffer.AuthorizationCodeGrant {
  init(_ grant: MemberReading) throws(IssuanceError) {
    self.init(
      issuerState: try grant.text("issuer_state"), authorizationServer: try grant.text("authorization_server"))
  }
}

extension CredentialOffer.PreAuthorizedCodeGrant {
  init(_ grant: MemberReading) throws(IssuanceError) {
    if grant["user_pin_required"] != nil { throw grant.failure(.issuerSpeaksDraft("user_pin_required")) }
    self.init(
      code: try grant.requiredText("pre-authorized_code"),
      transactionCode: try grant.members("tx_code").map(CredentialOffer.TransactionCode.init),
      authorizationServer: try grant.text("authorization_server"))
  }
}

extension CredentialOffer.TransactionCode {
  init(_ code: MemberReading) throws(IssuanceError) {
    if let mode = try code.text("input_mode") {
      guard let mode = InputMode(rawValue: mode) else { throw code.failure(.malformed("input_mode")) }
      inputMode = mode
    }
    if let value = code["length"] {
      guard let length = value.integer, (1...100).contains(length) else { throw code.failure(.malformed("length")) }
      self.length = length
    }
    description = try code.text("description", most: 4096).map(shown)
  }

  /// Whether a text looks like the code that was announced: for the user, before a try is spent.
  package func isPlausible(_ text: String) -> Bool {
    guard !text.isEmpty, text.utf8.count <= 100, length == nil || text.count == length else { return false }
    return inputMode == .text || text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }
}
