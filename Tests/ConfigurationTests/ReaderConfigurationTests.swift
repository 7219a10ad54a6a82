import Foundation
import Mdoc
import MdocVerification
import Policy
import TestSupport
import Testing

@testable import Configuration

/// The two lines every configuration needs.
let minimal = """
  board = "simulated"
  [[request.document]]
  doc_type = "org.iso.18013.5.1.mDL"
  name_spaces."org.iso.18013.5.1" = ["family_name", "age_over_18"]

  """

/// The errors of a text; empty when it loads.
func errors(_ text: String) -> [ConfigurationError] {
  do throws(ConfigurationErrors) {
    _ = try ReaderConfiguration(text: text)
    return []
  } catch {
    return error.errors
  }
}

/// `line key: problem` of each.
func brief(_ text: String) -> [String] {
  errors(text).map { "\($0.line) \($0.key): \($0.problem)" }
}

@Suite("Reader configuration") struct ReaderConfigurationTests {
  @Test("the shipped file says exactly the defaults")
  func shipped() throws {
    #expect(try ReaderConfiguration(text: repositoryFile("config/reader.toml")) == ReaderConfiguration())
    #expect(ReaderConfiguration().template == RequestTemplate.standard)
  }

  @Test("the shipped board loads")
  func shippedBoard() throws {
    #expect(try BoardFacts(text: repositoryFile("board/simulated/board.toml")).name == ReaderConfiguration().board)
  }

  @Test("every key of the schema stands in the shipped file, as a key or as a commented example")
  func everyKeyIsShown() throws {
    let text = try repositoryFile("config/reader.toml")
    #expect(ReaderConfiguration.knownKeys.count > 40)
    for key in ReaderConfiguration.knownKeys {
      let name = key.split(separator: ".").last.map(String.init) ?? key
      let isShown = text.split(separator: "\n").contains { line in
        let plain = line.drop { $0 == "#" || $0 == " " }
        return plain.hasPrefix("\(name) =") || plain.hasPrefix("[\(key)]") || plain.hasPrefix("[[\(key)]]")
          || plain.contains("{ \(name) =") || plain.contains(", \(name) =")
      }
      #expect(isShown, "\(key)")
    }
  }

  @Test("every commented example of the shipped file loads")
  func examplesLoad() throws {
    let lines = try repositoryFile("config/reader.toml").split(separator: "\n", omittingEmptySubsequences: false)
    let isExample = { (line: Substring) in
      line.hasPrefix("# [[")
        || line.hasPrefix("# ") && line.dropFirst(2).prefix { $0.isLetter || $0 == "_" }.count > 0
          && line.dropFirst(2).drop { $0.isLetter || $0 == "_" }.hasPrefix(" = ")
    }
    #expect(lines.filter(isExample).count > 15)
    let text = lines.map { isExample($0) ? String($0.dropFirst(2)) : String($0) }.joined(separator: "\n")
      .replacingOccurrences(
        of: "\"given_name\", \"birth_date\"]",
        with: "\"birth_date\", { element = \"portrait\", retain = true }, \"issuing_country\", \"expiry_date\", "
          + "\"driving_privileges\", \"age_over_18\"]")
    let configuration = try ReaderConfiguration(text: text)
    #expect(configuration.template.documents.first?.conditions.count == 6)
    #expect(configuration.template.retainsAnything)
    #expect(configuration.retentionSink == ConfiguredPath("/run/mdoc-reader/retained"))
  }

  @Test("a minimal file gives the defaults beside what it says")
  func minimalFile() throws {
    let configuration = try ReaderConfiguration(text: minimal)
    var expected = ReaderConfiguration()
    expected.template = configuration.template
    #expect(configuration == expected)
    let asked = configuration.template.itemsRequests.first?.nameSpaces.first?.elements.map { $0.identifier }
    #expect(asked?.contains("age_over_18") == true)
  }

  @Test(
    "whole numbers and fractions are both seconds, text is neither",
    arguments: [("5", Duration.seconds(5)), ("5.0", .seconds(5)), ("5.25", .milliseconds(5250)), ("1e1", .seconds(10))])
  func seconds(text: String, duration: Duration) throws {
    let configuration = try ReaderConfiguration(text: minimal + "[timeouts]\nconnect_seconds = \(text)\n")
    #expect(configuration.timeouts.connect == duration)
  }

  @Test(
    "each problem is named with its line, key and words",
    arguments: [
      ("[trust]\nfoldr = \"x\"", ["6 trust.foldr: unknown key"]),
      ("[trsut]", ["5 trsut: unknown key"]),
      ("-=0", ["5 request.document[1].-: unknown key"]),
      (
        "[timeouts]\nconnect_seconds = \"5\"",
        ["6 timeouts.connect_seconds: is text, must be a number of seconds"]
      ),
      ("[timeouts]\nconnect_seconds = 0", ["6 timeouts.connect_seconds: 0 is out of range"]),
      ("[timeouts]\nconnect_seconds = nan", ["6 timeouts.connect_seconds: nan is out of range"]),
      ("[timeouts]\nconnect_seconds = -inf", ["6 timeouts.connect_seconds: -inf is out of range"]),
      (
        "[timeouts]\nconnect_seconds = 9223372036854775807",
        ["6 timeouts.connect_seconds: 9.223372036854776e+18 is out of range"]
      ),
      (
        "[timeouts]\n\ntotal_seconds = 60",
        ["7 timeouts.total_seconds: is shorter than another timeout, which could then never run out"]
      ),
      ("[signals]\nrelay_pulse_seconds = 10.5", ["6 signals.relay_pulse_seconds: 10.5 is out of range"]),
      ("[signals]\nrelay_pulse_seconds = 0.05", ["6 signals.relay_pulse_seconds: 0.05 is out of range"]),
      ("[signals]\nbuzzer = 1", ["6 signals.buzzer: is a whole number, must be true or false"]),
      ("[limits]\nresponse_bytes = 4.5", ["6 limits.response_bytes: is a fraction, must be a whole number"]),
      ("[limits]\nresponse_bytes = 1", ["6 limits.response_bytes: 1 is out of range"]),
      (
        "[verification]\nsigner_revocation = \"always\"",
        [
          "6 verification.signer_revocation: \"always\" is not one of \"require\", \"prefer\", \"off\", \"ignore\""
        ]
      ),
      (
        "[verification.signer_key_usages]\n\"a.b\" = \"1.x\"",
        ["6 verification.signer_key_usages.\"a.b\": \"1.x\" is no object identifier"]
      ),
      ("[events]\noutput = 2020-01-01", ["6 events.output: is a date, must be text"]),
      ("[trust]\nfolder = \"\"", ["6 trust.folder: is empty"]),
      ("[trust]\nfolder = \"a\\u0000b\"", ["6 trust.folder: contains a control character"]),
      ("[[trust]]", ["5 trust: is a list, must be a table"]),
      ("[refresh]\nallowed_hosts = \"a\"", ["6 refresh.allowed_hosts: is text, must be a list of texts"]),
      ("[refresh]\nallowed_hosts = [\"A.example\"]", ["6 refresh.allowed_hosts: \"A.example\" is no host"]),
      ("[refresh]\nissuer_lists = [\"ftp://a/\"]", ["6 refresh.issuer_lists: \"ftp://a/\" is no address"]),
      ("[refresh]\nissuer_lists = [1]", ["6 refresh.issuer_lists: is a whole number, must be text"]),
      ("[refresh]\ninterval_seconds = 299", ["6 refresh.interval_seconds: 299 is out of range"]),
      (
        "[health]\nstatus_lists = \"ignore\"",
        ["6 health.status_lists: \"ignore\" is not one of \"warn\", \"fault\", \"deny\""]
      ),
      ("[health]\nissuer_lists_days = 0", ["6 health.issuer_lists_days: 0 is out of range"]),
      (
        "[[request.document]]\nname_spaces.x = []",
        ["5 request.document[2].doc_type: is missing"]
      ),
      (
        "[[request.document]]\ndoc_type = \"y\"\nname_spaces.x = []",
        ["7 request.document[2].name_spaces.\"x\": no element of x is asked for"]
      ),
      (
        "[[request.document]]\ndoc_type = \"y\"",
        ["5 request.document[2].name_spaces: is missing"]
      ),
      (
        "[[request.document]]\ndoc_type = \"org.iso.18013.5.1.mDL\"\nname_spaces.x = [\"a\"]",
        ["6 request.document[2].doc_type: doc type org.iso.18013.5.1.mDL is asked for twice"]
      ),
      (
        "[[request.document]]\ndoc_type = \"y\"\nname_spaces.x = [\n\"a\",\n\"b\",\n\"a\"]",
        ["10 request.document[2].name_spaces.\"x\": a of x is listed twice"]
      ),
      (
        "[[request.document]]\ndoc_type = \"y\"\nname_spaces.x = [\"age_over_18\", \"age_over_21\", \"age_over_65\"]",
        [
          "7 request.document[2].name_spaces: 3 age elements in one request (age_over_18, age_over_21, age_over_65), "
            + "at most 2 are allowed"
        ]
      ),
      (
        "[[request.document]]\ndoc_type = \"y\"\nname_spaces.x = [{ element = \"a\", retain = true }]",
        ["7 request.document[2].name_spaces.\"x\": a is to be retained, but no sink is declared"]
      ),
      (
        "[[request.document]]\ndoc_type = \"y\"\nname_spaces.x = [5]",
        ["7 request.document[2].name_spaces.\"x\": holds a whole number, must hold element names"]
      ),
      (
        "[[request.document.condition]]\npresent = \"sex\"",
        ["5 request.document[1].condition[1]: sex of org.iso.18013.5.1 is not requested, so this never holds"]
      ),
      (
        "[[request.document.condition]]\nage_at_least = 21",
        ["5 request.document[1].condition[1]: no requested element can prove an age of 21"]
      ),
      (
        "[[request.document.condition]]\nage_at_least = 100",
        ["6 request.document[1].condition[1].age_at_least: 100 is out of range"]
      ),
      (
        "[[request.document.condition]]",
        ["5 request.document[1].condition[1]: names no condition"]
      ),
      (
        "[[request.document.condition]]\npresent = \"family_name\"\nage_at_least = 18",
        ["5 request.document[1].condition[1].age_at_least: names 2 conditions (present, age_at_least)"]
      ),
      (
        "[[request.document.condition]]\npresent = \"family_name\"\nallow_birth_date = true",
        ["7 request.document[1].condition[1].allow_birth_date: does nothing beside present"]
      ),
      (
        "[[request.document.condition]]\nequals = \"x\"",
        ["5 request.document[1].condition[1].element: is missing"]
      ),
      (
        "[[request.document.condition]]\nelement = \"family_name\"\none_of = []",
        ["5 request.document[1].condition[1]: no value of family_name is accepted, so this never holds"]
      ),
      (
        "[[request.document.condition]]\nelement = \"family_name\"\none_of = [12:00:00]",
        [
          "7 request.document[1].condition[1].one_of: is a time, must be text, a number, true or false, or a date"
        ]
      ),
      (
        "[[request.document.condition]]\nage_at_lest = 18",
        [
          "5 request.document[1].condition[1]: names no condition",
          "6 request.document[1].condition[1].age_at_lest: unknown key",
        ]
      ),
    ])
  func problems(addition: String, expected: [String]) {
    #expect(brief(minimal + addition) == expected)
  }

  @Test("an unknown key is answered with the nearest one that exists")
  func nearest() {
    #expect(
      errors(minimal + "[verification]\nrequire_revocation = true").map(\.remedy)
        == ["did you mean signer_revocation?"])
    #expect(errors(minimal + "[trsut]").map(\.remedy) == ["did you mean trust?"])
    #expect(
      errors(minimal + "[trust]\nqqqqqqqqqqqqqqqqqqqqqqqqqqq = 1").map(\.remedy)
        == ["known here: folder"])
  }

  @Test("all problems are collected, by line")
  func collected() {
    let text = "board = 5\n[timeouts]\nconnect_seconds = true\nidle = 5\n[signals]\nbuzzer = \"no\"\n"
    #expect(
      brief(text) == [
        "0 request.document: is missing",
        "1 board: is text".replacingOccurrences(of: "text", with: "a whole number")
          + ", must be text", "3 timeouts.connect_seconds: is true or false, must be a number of seconds",
        "4 timeouts.idle: unknown key", "6 signals.buzzer: is text, must be true or false",
      ])
  }

  @Test("a file that was emptied or cut is refused rather than taken for the defaults", arguments: ["", "\n", "# x\n"])
  func empty(text: String) {
    #expect(brief(text) == ["0 board: is missing", "0 request.document: is missing"])
  }

  @Test("a board name is one plain folder name", arguments: ["../x", "A", "a/b", "a b", "."])
  func boardName(name: String) {
    let text = minimal.replacingOccurrences(of: "\"simulated\"", with: "\"\(name)\"")
    #expect(brief(text) == ["1 board: \"\(name)\" is no board name"])
  }

  @Test("relative paths count from the folder of the file")
  func paths() {
    #expect(ConfiguredPath("air").resolved(in: "/etc/mdoc-reader") == "/etc/mdoc-reader/air")
    #expect(ConfiguredPath("air").resolved(in: "/") == "/air")
    #expect(ConfiguredPath("air").resolved(in: ".") == "air")
    #expect(ConfiguredPath("/run/air").resolved(in: "/etc") == "/run/air")
  }

  @Test("an error reads as file, line, key, why and what to do")
  func text() throws {
    let error = try #require(errors(minimal + "[trust]\nfoldr = \"x\"").first)
    #expect(
      error.description(in: "config/reader.toml") == "config/reader.toml:6: trust.foldr: unknown key"
        && error.remedy == "did you mean folder?")
  }

  @Test("every switch of the verification can be set")
  func switches() throws {
    let text =
      minimal + """
        signer_revocation = "off"
        document_status = "require"
        [verification]
        clock_skew_seconds = 0
        strict_algorithm_pairing = false
        fail_short_random = true
        fail_unauthorized_device_element = true
        accept_attached_device_payload = true
        accept_fractional_seconds = false
        accept_untagged_dates = true
        accept_compressed_points = false
        name_comparison = "bytes"
        strict_certificate_profile = true
        certificate_edition = "second"
        signer_revocation = "require"
        document_status = "ignore"
        signer_key_usages = { "a" = "2.999.1" }
        [limits]
        response_bytes = 65536
        """
    let policy = try ReaderConfiguration(text: text).verification
    let standard = VerificationPolicy()
    let changed = zip(Mirror(reflecting: policy).children, Mirror(reflecting: standard).children)
    for (new, old) in changed { #expect("\(new.value)" != "\(old.value)", "\(new.label ?? "")") }
  }

  @Test("a document may demand more or less of revocation lists than the rest")
  func documentDemands() throws {
    let text = """
      board = "simulated"
      [[request.document]]
      doc_type = "org.iso.18013.5.1.mDL"
      signer_revocation = "require"
      document_status = "off"
      name_spaces = { "org.iso.18013.5.1" = ["family_name"] }
      [[request.document]]
      doc_type = "eu.europa.ec.eudi.pid.1"
      name_spaces = { "eu.europa.ec.eudi.pid.1" = ["family_name"] }
      [verification]
      signer_revocation = "off"
      document_status = "ignore"
      """
    let verification = try ReaderConfiguration(text: text).verification
    #expect(verification.signerRevocation == .ignore && verification.documentStatus == .ignore)
    #expect(verification.signerRevocationByDocType == ["org.iso.18013.5.1.mDL": .require])
    #expect(verification.documentStatusByDocType == ["org.iso.18013.5.1.mDL": .ignore])
    let error = thrown(ConfigurationErrors.self) {
      _ = try ReaderConfiguration(text: text.replacing("\"require\"", with: "\"always\""))
    }
    #expect(
      error?.errors.map { $0.description(in: "r") } == [
        "r:4: request.document[1].signer_revocation: \"always\" is not one of \"require\", \"prefer\", \"off\", \"ignore\""
      ])
  }
}
