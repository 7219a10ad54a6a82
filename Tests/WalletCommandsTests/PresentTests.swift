import Bluetooth
import Bytes
import Commands
import Crypto
import Foundation
import Kernel
import Mdoc
import MdocSession
import MdocVerification
import Pictures
import QRScan
import TestSupport
import Testing
import Trust
import Wallet
import WalletCommands

private let request = DeviceRequestDraft([mdlRequest]).encode()

@Suite("A presentation over the simulated air")
struct PresentTests {
  private let folder: TemporaryFolder
  private var air: String { folder.path + "/air" }
  private var anchor: String { folder.path + "/root.pem" }

  init() throws { folder = try TemporaryFolder() }

  private func present(
    _ words: String..., manner: TestReader.Manner = .proper
  ) throws -> (wallet: RunningWallet, reader: TestReader.Result, status: Int32) {
    try present(words, manner: manner)
  }

  private func present(
    _ words: [String], manner: TestReader.Manner = .proper
  ) throws -> (wallet: RunningWallet, reader: TestReader.Result, status: Int32) {
    let wallet = RunningWallet(["--air", air, "--timeout", "5", "--anchor-out", anchor] + words)
    let reader = try TestReader(engagement: try wallet.engagement(), air: air, request: request, manner: manner)
    let result = try reader.run()
    return (wallet, result, try wallet.status())
  }

  private func verdict(_ result: TestReader.Result) throws -> Verdict {
    let text = String(decoding: try Files.read(anchor, limit: 1 << 16), as: UTF8.self)
    let block = try #require(try PEM.blocks(in: text).first)
    var policy = VerificationPolicy()
    policy.signerRevocation = .ignore
    let verifier = Verifier(
      anchors: [TrustAnchor(try Certificate(block.bytes), source: "test")], policy: policy)
    let response = try #require(result.response)
    return verifier.verify(
      response[...],
      in: .init(
        transcript: result.transcript.encoded[...], requested: [mdlRequest], readerKey: result.key,
        now: .init(seconds: WallClock.now().seconds)))
  }

  @Test(
    "is verified and ends properly, in each mode, by signature and by MAC", arguments: ["central", "peripheral"],
    ["signature", "mac"])
  func verified(mode: String, method: String) throws {
    let expected: MdocMode = mode == "central" ? .centralClient : .peripheralServer
    let (wallet, result, status) = try present("--mode", mode, "--auth", method, "--yes", "--portrait", "20000")
    #expect(status == 0 && result.mode == expected && result.outcome == .completed)
    #expect(try verdict(result).isVerified)
    #expect(wallet.out.hasSuffix("consent given\ndone: the reader ended the session\n"))
    #expect(wallet.out.contains("asked for: org.iso.18013.5.1.mDL\n"))
    // No value of the document in what is printed.
    #expect(!(wallet.out + wallet.err).contains("Spécimen"))
    #expect(try Files.list(air).isEmpty)
  }

  @Test("offers both modes at once, and the link that the reader takes is the session's")
  func both() throws {
    let (_, result, status) = try present("--mode", "both", "--yes")
    #expect(status == 0 && result.mode != nil)
    #expect(try verdict(result).isVerified)
    #expect(try Files.list(air).isEmpty)
  }

  @Test("works at every MTU", arguments: [23, 24, 185, 247, 515, 517])
  func mtu(mtu: Int) throws {
    let (_, result, status) = try present("--mode", "peripheral", "--mtu", String(mtu), "--yes")
    #expect(status == 0 && result.mtu == mtu)
    #expect(try verdict(result).isVerified)
  }

  @Test("works with short parts, on other session curves, and for every type of document")
  func others() throws {
    #expect(try present("--quirk", "short-fragments", "--yes", "--mode", "central").status == 0)
    for curve in ["P-521", "X25519", "brainpoolP320r1"] {
      #expect(try present("--session-curve", curve, "--yes").status == 0)
    }
    let (_, result, status) = try present("--type", "pid", "--type", "mdl", "--type", "photoid", "--yes")
    #expect(try status == 0 && verdict(result).isVerified)
  }

  @Test("says no when the holder says no, and ends properly all the same")
  func refused() throws {
    let (wallet, result, status) = try present("--no")
    #expect(status == 0 && wallet.out.contains("consent refused\n"))
    let response = try DeviceResponse(try #require(result.response)[...])
    #expect(response.status == 0 && response.documents.isEmpty)
    #expect(response.documentErrors.map(\.docType) == ["org.iso.18013.5.1.mDL"])
  }

  @Test(
    "asks on the terminal, and takes yes for yes and anything else for no",
    arguments: [
      ("yes\n", true), ("Y\n", true), ("no\n", false), ("\n", false), ("", false),
    ])
  func asked(typed: String, isGranted: Bool) throws {
    let pipe = Pipe()
    let wallet = RunningWallet(
      ["--air", air, "--timeout", "5"], input: pipe.fileHandleForReading.fileDescriptor)
    let engagement = try wallet.engagement()
    let (air, request) = (air, request)
    Thread.detachNewThread {
      try? wallet.waitForRemark("Share this?")
      try? pipe.fileHandleForWriting.write(contentsOf: Data(typed.utf8))
      try? pipe.fileHandleForWriting.close()
    }
    let result = try TestReader(engagement: engagement, air: air, request: request).run()
    #expect(try wallet.status() == 0)
    let response = try DeviceResponse(try #require(result.response)[...])
    #expect(response.documents.count == (isGranted ? 1 : 0))
  }

  @Test("leaves a reader with another Ident alone, and times out")
  func wrongIdent() throws {
    let wallet = RunningWallet(["--air", air, "--timeout", "1", "--mode", "central", "--yes"])
    let reader = try TestReader(
      engagement: try wallet.engagement(), air: air, request: request, manner: .wrongIdent)
    let thread = try reader.run()
    #expect(thread.response == nil && thread.mode == nil)
    #expect(try wallet.status() == 1)
    #expect(wallet.err.contains("a reader was left alone: identMismatch\n"))
    #expect(wallet.out.hasSuffix("failed: timeout\n"))
  }

  @Test("is not ended properly by a reader that hangs up, and says so")
  func hungUp() throws {
    let (wallet, _, status) = try present("--yes", manner: .hangsUp)
    #expect(status == 1 && wallet.out.hasSuffix("not ended properly: the link was gone after the answer\n"))
  }

  @Test("fails when no reader comes")
  func alone() throws {
    let wallet = RunningWallet(["--air", air, "--timeout", "1", "--yes", "--json"])
    #expect(try wallet.status() == 1)
    let last = try #require(wallet.out.split(separator: "\n").last)
    #expect(last == #"{"event":"ended","reason":"timeout","proper":false}"#)
    #expect(try Files.list(air).isEmpty)
  }

  @Test("drops the link at the share of the answer it was told", arguments: [0, 50, 99])
  func earlyDisconnect(percent: Int) throws {
    let (_, result, status) = try present(
      "--quirk", "early-disconnect=\(percent)", "--yes", "--type", "mdl", "--portrait", "30000")
    #expect(status == 1 && result.response == nil)
    #expect(result.outcome == .failed(.transportLost) && result.linkEnd == .failed(.linkLost))
  }

  @Test("drops the link after the whole answer when told 100 percent")
  func lateDisconnect() throws {
    let (_, result, _) = try present("--quirk", "early-disconnect=100", "--yes")
    #expect(result.response != nil && result.outcome == .completed)
  }

  @Test(
    "disturbs the link as its quirk says",
    arguments: [
      ("invalid-fragment", GATTLink.End.failed(.fragmentInvalid)), ("end-state", .failed(.peerTerminated)),
      ("oversized-answer=2000000", .failed(.messageTooLarge)),
    ])
  func disturbed(quirk: String, end: GATTLink.End) throws {
    let (_, result, status) = try present("--quirk", quirk, "--yes")
    #expect(result.linkEnd == end && result.response == nil)
    // What is sent to a reader that has just gone is lost without a trace: the wallet may take it for delivered.
    if !quirk.hasPrefix("oversized") { #expect(status == 1) }
  }

  @Test(
    "stays on the link when told to linger, and the reader is done all the same", arguments: ["central", "peripheral"])
  func lingering(mode: String) throws {
    let prompt = try present("--mode", mode, "--yes", manner: .patient)
    let promptGoodbye = try #require(prompt.reader.goodbye)
    #expect(prompt.status == 0 && prompt.reader.linkEnd == .ended && promptGoodbye < .milliseconds(900))
    // A patient reader waits a second for the wallet to close, and closes then.
    let (wallet, reader, status) = try present("--mode", mode, "--yes", "--quirk", "lingering", manner: .patient)
    #expect(reader.outcome == .completed && reader.linkEnd == .ended)
    #expect(try verdict(reader).isVerified)
    #expect(try #require(reader.goodbye) >= .seconds(1))
    // It had its end from the reader before, so that this is a proper one.
    #expect(status == 0 && wallet.out.hasSuffix("done: the reader ended the session\n"))
    #expect(try Files.list(air).isEmpty)
  }

  @Test("never starts a session when told not to", arguments: ["central", "peripheral"])
  func noStart(mode: String) throws {
    let wallet = RunningWallet(["--air", air, "--timeout", "1", "--mode", mode, "--yes", "--quirk", "no-start"])
    let result = try TestReader(engagement: try wallet.engagement(), air: air, request: request).run()
    #expect(try result.response == nil && wallet.status() == 1)
  }

  @Test("writes the code as a picture that says what it printed", arguments: [false, true])
  func picture(isInverse: Bool) throws {
    let path = folder.path + "/code.png"
    let wallet = RunningWallet(
      ["--air", air, "--timeout", "1", "--qr", path, "--terminal-qr"] + (isInverse ? ["--inverse"] : []))
    _ = try wallet.status()
    let found = try #require(try QRDecoder().decodeStill(try PictureFile.read(path)))
    let engagement = try wallet.engagement()
    #expect(found.codes.map { String(decoding: $0, as: UTF8.self) } == [engagement])
    #expect(wallet.out.contains("\u{2588}\u{2588}"))
  }

  @Test("uses the documents of a folder")
  func stored() throws {
    let wallet = folder.path + "/w"
    #expect(
      WalletCommands.run(
        ["issue", "--wallet", wallet, "--auth", "mac", "--anchor-out", anchor],
        console: Console(program: "mdoc-wallet") { _, _ in }) == 0)
    let presenting = RunningWallet(["--air", air, "--timeout", "5", "--wallet", wallet, "--yes"])
    let result = try TestReader(engagement: try presenting.engagement(), air: air, request: request).run()
    #expect(try presenting.status() == 0)
    #expect(try verdict(result).isVerified)
    #expect(try RunningWallet(["--air", air, "--wallet", folder.path + "/none", "--yes"]).status() == 1)
  }

  @Test("refuses an air whose name is too long, with a hint")
  func longPath() throws {
    let wallet = RunningWallet(["--air", folder.path + "/" + String(repeating: "x", count: 90), "--yes"])
    #expect(try wallet.status() == 1)
    #expect(wallet.err.contains("use a folder with a shorter path"))
  }
}
