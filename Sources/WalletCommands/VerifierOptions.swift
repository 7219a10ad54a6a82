import Commands
import Crypto
import Issuer
import JOSE
import JSON
import Kernel
import Mdoc
import MdocVerification
import OpenID4VP
import Trust

/// What a served verifier asks for, how, and whom it believes.
struct VerifierOptions {
  static let options = [
    CommandOption("--anchor", "FILE", repeatable: true, "an issuer root (IACA) that documents are believed of"),
    CommandOption("--query", "FILE", "what is asked for, in DCQL (default: age_over_18 of a driving licence)"),
    CommandOption("--response-mode", "MODE", "direct_post.jwt (default) or direct_post"),
    CommandOption("--form", "FORM", "final (default: OpenID4VP 1.0) or annexB (ISO/IEC 18013-7)"),
    CommandOption("--client", "KIND", "x509_san_dns (default), x509_hash or redirect_uri"),
    CommandOption(
      "--encryption", "NAME", repeatable: true, "an encryption that is taken (default A128GCM and A256GCM)"),
    CommandOption("--post", "let the request be fetched by POST, with the wallet's nonce"),
    CommandOption("--redirect", "send the wallet on to a page when it has answered"),
    CommandOption("--root-out", "FILE", "write the root that wallets know this verifier by here (PEM)"),
    CommandOption("--show-values", "print the values of elements, which are somebody's data"),
  ]

  let order: VerifierOrder
  let verifier: Verifier
  let rootPath: String?
  let showsValues: Bool

  init(_ arguments: Arguments) throws {
    var order = VerifierOrder(try VerifierOptions.query(arguments))
    order.responseMode =
      try arguments.choice("--response-mode", of: AuthorizationRequest.ResponseMode.self) ?? order.responseMode
    order.form = try arguments.choice("--form", of: AuthorizationRequest.Form.self) ?? order.form
    order.client = try arguments.choice("--client", of: VerifierOrder.ClientKind.self) ?? order.client
    var encryptions: [ContentEncryption] = []
    for name in arguments.values("--encryption") {
      encryptions.append(try Arguments.choice(name, of: ContentEncryption.self, for: "--encryption"))
    }
    if !encryptions.isEmpty { order.encryptions = encryptions }
    order.fetchesByPost = arguments.has("--post")
    order.redirects = arguments.has("--redirect")
    if arguments.values("--deviation").count > 1 {
      throw CommandError.usage("--deviation", "a verifier does one thing wrong at a time", hint: "give it once")
    }
    order.deviation = try arguments.choice("--deviation", of: VerifierDeviation.self)
    try VerifierOptions.check(order)
    self.order = order
    let anchors = try WebOptions.certificates(arguments, "--anchor").map { TrustAnchor($0, source: "--anchor") }
    verifier = Verifier(anchors: anchors, policy: VerificationPolicy())
    rootPath = arguments["--root-out"]
    showsValues = arguments.has("--show-values")
  }

  /// What has no meaning together.
  private static func check(_ order: VerifierOrder) throws(CommandError) {
    if order.form == .annexB, order.responseMode == .directPost {
      throw CommandError.usage(
        "--response-mode direct_post", "Annex B knows encrypted answers only", hint: "leave it out, or --form annexB")
    }
    if order.form == .annexB, order.client != .x509SANDNS {
      throw CommandError.usage(
        "--client \(order.client.rawValue)", "Annex B knows x509_san_dns", hint: "leave it out, or --form annexB")
    }
    if order.client == .redirectURI, order.fetchesByPost {
      throw CommandError.usage(
        "--post", "an unsigned request is in the address itself", hint: "leave it out, or --client redirect_uri")
    }
  }

  private static func query(_ arguments: Arguments) throws -> DCQLQuery {
    guard let path = arguments["--query"] else {
      let age = DCQLQuery.ClaimQuery(nameSpace: MDLElements.nameSpace, element: "age_over_18")
      return DCQLQuery(credentials: [.init(id: "mdl", subject: .mdoc(docType: MDLElements.docType), claims: [age])])
    }
    guard let value = JSONValue(reading: try Files.read(path, limit: 1 << 20)) else {
      throw CommandError.usage(
        "--query \(quoted(path))", "no JSON", hint: "write a DCQL query: {\"credentials\": [...]}")
    }
    do throws(QueryFault) {
      return try DCQLQuery(reading: value["dcql_query"] ?? value)
    } catch {
      throw CommandError.usage("--query \(quoted(path))", "\(error)", hint: "see OpenID4VP 1.0, section 6")
    }
  }
}
