import CivilTime
import Commands
import Crypto
import Foundation
import Kernel
import Mdoc
import TestSupport
import Testing
import TrustStore

@testable import ReaderCommands
@testable import Wallet

/// A key in a token: the README's recipe as it stands there, with SoftHSM as the token, and what goes wrong with it.
@Suite("A key in a security module", .serialized)
struct SecurityModuleTests {
  /// The token of this process: SoftHSM reads where it is once.
  private static let folder = NSTemporaryDirectory() + "mdoc-token-\(UInt64.random(in: 0 ... .max))"

  /// Runs a script in the folder, in silence; its exit status. It takes all signals, as a service does: the threads of the
  /// tests hold some back, which a child would inherit.
  private static func shell(_ script: String) throws -> Int32 {
    let whole = "exec >/dev/null 2>&1\ncd '\(folder)'\n" + script
    return try ChildProcess("/bin/sh", ["-euc", whole]).wait()
  }

  private static func write(_ text: String, to file: String, mode: Int = 0o600) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/" + file))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder + "/" + file)
  }

  /// The recipes of the README that begin with these words.
  private static func recipe(_ start: String) throws -> String {
    let text = try repositoryFile("README.md")
    let begin = try #require(text.range(of: "```sh\n" + start))
    let end = try #require(text.range(of: "\n```", range: begin.upperBound..<text.endIndex))
    return start + text[begin.upperBound..<end.lowerBound]
  }

  /// What is missing on this machine; nil where nothing is.
  private static var missing: String? {
    for tool in ["openssl", "softhsm2-util", "pkcs11-tool"]
    where (try? shell("command -v \(tool)")) != 0 { return "no \(tool)" }
    // Debian's folder of OpenSSL's modules is beside the library's
    let found =
      (try? shell("ls /usr/lib/*/ossl-modules/pkcs11.so /usr/lib/*/p11-kit-proxy.so /usr/lib/softhsm/libsofthsm2.so"))
      == 0
    return found ? nil : "no pkcs11-provider, no p11-kit-modules or no SoftHSM"
  }

  /// Makes board, certificates and token; false where this machine has no module.
  private static func prepare() throws -> Bool {
    try FileManager.default.createDirectory(atPath: folder + "/board/simulated", withIntermediateDirectories: true)
    for name in ["tokens", "trust", "pictures", "air"] {
      try FileManager.default.createDirectory(atPath: folder + "/" + name, withIntermediateDirectories: true)
    }
    if let missing {
      print(
        "skipped: a key in a security module: \(missing) (Debian 13: pkcs11-provider p11-kit-modules softhsm2 opensc)")
      return false
    }
    try write("directories.tokendir = \(folder)/tokens\n", to: "softhsm2.conf")
    setenv("SOFTHSM2_CONF", folder + "/softhsm2.conf", 1)
    try write(
      "name = \"simulated\"\n[camera]\nkind = \"pictures\"\n[radio]\nkind = \"air\"\n[panel]\nkind = \"terminal\"\n",
      to: "board/simulated/board.toml")
    #expect(try shell(recipe("openssl")) == 0)
    #expect(try shell(recipe("(umask 077; printf")) == 0)
    return true
  }

  /// What `check` says about the reader certificate with this address of a key.
  private static func check(_ address: String, provider: String? = "pkcs11") throws -> String {
    try write(
      """
      board = "simulated"
      [[request.document]]
      doc_type = "org.iso.18013.5.1.mDL"
      [request.document.name_spaces]
      "org.iso.18013.5.1" = ["age_over_18"]
      [trust]
      folder = "trust"
      [events]
      output = "none"
      [status]
      file = "status.json"
      [clock]
      file = "clock"
      [reader_authentication]
      certificate = "reader.pem"
      key_uri = "\(address)"
      """ + (provider.map { "\nprovider = \"\($0)\"\n" } ?? "\n"), to: "reader.toml")
    var out = ""
    let console = Console(program: "mdoc-reader") { if $1 { out += $0 } }
    _ = ReaderCommands.run(["check", "--config", folder + "/reader.toml"], console: console)
    let line = out.split(separator: "\n").first { $0.contains("reader certificate") }
    return line.map { $0.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ") } ?? out
  }

  @Test("signs requests that a wallet believes; every fault is told apart")
  func token() throws {
    defer { try? FileManager.default.removeItem(atPath: Self.folder) }
    guard try Self.prepare() else { return }
    let pin = "?pin-source=file:\(Self.folder)/reader.pin"
    let key = "pkcs11:token=door;object=reader"

    #expect(try Self.check(key + pin).hasPrefix("pass reader certificate CN=Door 1,"))
    let credential = try ReaderCredential(
      certificates: Self.folder + "/reader.pem", key: .store(key + pin, provider: "pkcs11"))
    try signs(credential)

    // Faults that are found before a PIN is tried, then those of the token; each leaves the next look as it was.
    let fail = "fail reader certificate "
    try Self.write("9999", to: "wrong.pin")
    try Self.write("4711", to: "open.pin", mode: 0o644)
    let wrong = "?pin-source=file:\(Self.folder)/wrong.pin"
    #expect(
      try Self.check(key + "?pin-source=file:\(Self.folder)/open.pin")
        == fail + "\(Self.folder)/open.pin: others may read this PIN (mode 644)")
    #expect(
      try Self.check("pkcs11:token=none;object=reader" + pin)
        == fail + "pkcs11:token=none;object=reader: there is no such token")
    #expect(
      try Self.check("pkcs11:token=door;object=none" + pin)
        == fail + "pkcs11:token=door;object=none: there is no such private key")
    #expect(
      try Self.check(key + pin, provider: nil) == fail + "\(key): no provider answers to such an address")
    #expect(try Self.check(key + pin, provider: "no-such").hasPrefix(fail + "the OpenSSL provider no-such cannot"))
    // This process is logged in by now, as long as it has a session: another one has to begin for these.
    try Self.fresh(key, "\(key): the token asks for a PIN, and none is named")
    try Self.fresh(key + wrong, "\(key): the token does not take the PIN")
    #expect(try Self.check(key + pin).hasPrefix("pass"))
    try Self.serves()

    // A certificate for another key, of the same curve and of another
    for curve in ["prime256v1", "secp384r1"] {
      #expect(
        try Self.shell(
          """
          openssl ecparam -name \(curve) -genkey -noout -out other.key
          openssl req -new -key other.key -subj "/CN=Door 2" -out other.csr
          openssl x509 -req -in other.csr -CA ca.pem -CAkey ca.key -sha256 -days 365 -extfile reader.ext -out reader.pem
          """) == 0)
      #expect(
        try Self.check(key + pin) == fail
          + "\(Self.folder)/reader.pem: the certificate is for another key than the one configured")
    }
  }

  /// The program, nil with a printed reason where it is not built.
  private static var program: String? {
    let program = RunningReader.program
    if program == nil { print("skipped: a token in a process of its own: mdoc-reader is not built beside the tests") }
    return program
  }

  /// Starts the reader with the configuration that is there, and ends it as a service manager does. Threads of the token's
  /// modules must not take that signal: it would end the reader before it has put the board in order.
  private static func serves() throws {
    guard let program else { return }
    let script = """
      '\(program)' run --config reader.toml >run.out 2>&1 &
      for _ in $(seq 100); do [ -s status.json ] && break; sleep 0.1; done
      status=0
      kill -TERM $!
      wait $! || status=$?
      exit $status
      """
    #expect(try shell(script) == 0)
    let out = try String(contentsOfFile: folder + "/run.out", encoding: .utf8)
    #expect(out.split(separator: "\n").last?.contains("relay inactive") == true, "\(out)")
  }

  /// What the program says in a process of its own, which has to end well.
  private static func fresh(_ address: String, _ text: String) throws {
    guard let program else { return }
    _ = try check("pkcs11:token=none")
    let configuration = try String(contentsOfFile: folder + "/reader.toml", encoding: .utf8)
    try write(configuration.replacingOccurrences(of: "pkcs11:token=none", with: address), to: "reader.toml")
    // 1: `check` found a fault. A crash at the end of a process that has a module loaded would be another.
    #expect(try shell("status=0; '\(program)' check --config reader.toml >out 2>&1 || status=$?; exit $status") == 1)
    let out = try String(contentsOfFile: folder + "/out", encoding: .utf8)
    #expect(out.contains("fail  reader certificate  " + text), "\(out)")
  }

  /// Signs a request and shows it to a wallet that knows the reader root.
  private func signs(_ credential: ReaderCredential) throws {
    let transcript = SessionTranscript(engagement: [1], eReaderKeyBytes: [0xd8, 0x18, 0x41, 0xa0], handover: .qrCode)
    var draft = DeviceRequestDraft([
      ItemsRequest(
        docType: "d", nameSpaces: [.init(nameSpace: "n", elements: [.init(identifier: "e", intentToRetain: false)])])
    ])
    try ReaderSigner(key: credential.key, certificates: credential.chain.map(\.encoded), wholeRequest: .always)
      .sign(&draft, transcript: transcript, takesReaderAuthAll: true)
    let request = try DeviceRequest(draft.encode())
    let root = try String(contentsOfFile: Self.folder + "/ca.pem", encoding: .utf8)
    let known = ReaderRoots(
      try CertificateInput.certificates(in: Array(root.utf8)),
      now: UnixTime(seconds: Int64(Date().timeIntervalSince1970)))
    #expect(known.identity(of: request, transcript: transcript) == .trusted(subject: "CN=Door 1"))
    #expect(try #require(request.documents.first).readerAuth != nil)
  }
}
