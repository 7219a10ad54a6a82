import Bytes
import Crypto
import Foundation
import Issuer
import Mdoc
import TestSupport
import Testing
import Wallet

/// The reader of the reference peer in a process of its own: one line in, one line out.
private final class PeerReader {
  /// Makes a session with an engagement, then checks the answer: signatures, digests, device authentication.
  private static let script = """
    import json, sys
    import mdoc_reader_sim as sim
    for line in sys.stdin:
        uri, doc_type, name_space, *elements = line.split()
        reader = sim.ReaderSim(uri)
        request = sim.make_request([(doc_type, {name_space: {e: False for e in elements}})])
        print(reader.send(request).hex(), flush=True)
        plain, status = reader.receive(bytes.fromhex(sys.stdin.readline().strip()))
        facts = sim.check_response(plain, reader.transcript, reader.key)
        print(json.dumps([{"docType": f.doc_type, "issuer": f.issuer_signature, "device": f.device_auth,
                           "method": f.device_method, "bad": f.bad_digests,
                           "elements": {n: sorted(v) for n, v in f.elements.items()}} for f in facts]), flush=True)
    """

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var received = Data()

  /// Nil, with the reason printed, where Python or its cryptography package is missing.
  init?(peer: URL) {
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-c", PeerReader.script]
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["PYTHONPATH": peer.path, "PYTHONDONTWRITEBYTECODE": "1"]
    ) { $1 }
    process.standardInput = input
    process.standardOutput = output
    let probe = Process()
    probe.executableURL = process.executableURL
    probe.arguments = ["python3", "-c", "import cryptography"]
    probe.standardError = FileHandle.nullDevice
    guard (try? probe.run()) != nil else { return nil }
    probe.waitUntilExit()
    guard probe.terminationStatus == 0, (try? process.run()) != nil else {
      print("skipped: the reference peer's reader: no python3 with the cryptography package")
      return nil
    }
  }

  deinit {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  func ask(_ line: String) throws -> String {
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    while !received.contains(UInt8(ascii: "\n")) {
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { throw Silent() }
      received += more
    }
    let end = received.firstIndex(of: UInt8(ascii: "\n")) ?? received.endIndex
    let answer = String(decoding: received[..<end], as: UTF8.self)
    received = Data(received[received.index(after: end)...])
    return answer
  }

  struct Silent: Error {}

  struct Facts: Decodable, Equatable {
    let docType: String
    let issuer: Bool
    let device: Bool
    let method: String
    let bad: [[String]]
    let elements: [String: [String]]
  }
}

@Suite("The reader of the reference peer")
struct PeerReaderTests {
  @Test("takes our documents, by signature and by MAC, on the curves it knows")
  func accepts() throws {
    guard let peer = shared("peer"), let reader = PeerReader(peer: peer) else { return }
    let cases: [(DocumentKind, Curve, DeviceAuthenticationMethod, [String])] =
      DocumentKind.allCases.flatMap { kind in
        DeviceAuthenticationMethod.allCases.map { (kind, .p256, $0, ["age_over_17", "birth_date"]) }
      }
      + Curve.allCases.filter { $0.kind == .weierstrass }.map { (.age, $0, .mac, ["age_over_18"]) }
      + [(.age, .x25519, .mac, ["age_over_18"]), (.age, .ed25519, .signature, ["age_over_18"])]
    for (kind, curve, method, elements) in cases {
      let facts = try exchange(
        with: reader, try storedDocument(kind, key: curve, method: method), kind: kind, elements: elements)
      let given = kind == .age ? ["age_over_18"] : elements.map { $0 == "age_over_17" ? "age_over_18" : $0 }
      #expect(
        facts == [
          PeerReader.Facts(
            docType: kind.docType, issuer: true, device: true, method: method.rawValue, bad: [],
            elements: [kind.ageNameSpace: given.sorted()])
        ], "\(kind.rawValue) \(curve.rawValue) \(method.rawValue)")
    }
  }

  @Test("sees what our quirks break", arguments: [Quirk.digestMismatch, .otherTranscript, .issuerSignature])
  func sees(quirk: Quirk) throws {
    guard let peer = shared("peer"), let reader = PeerReader(peer: peer) else { return }
    let facts = try exchange(
      with: reader, try storedDocument(), kind: .mdl, elements: ["family_name"], quirks: Quirks(quirk))
    #expect(facts.map(\.issuer) == [quirk != .issuerSignature])
    #expect(facts.map(\.device) == [quirk != .otherTranscript])
    #expect(facts.map(\.bad) == [quirk == .digestMismatch ? [["org.iso.18013.5.1", "family_name"]] : []])
  }

  private func exchange(
    with reader: PeerReader, _ stored: StoredCredential, kind: DocumentKind, elements: [String],
    quirks: Quirks = Quirks()
  ) throws -> [PeerReader.Facts] {
    let curve = stored.credential.deviceKey.curve
    let key = try PrivateKey.generate(curve.kind == .edwards ? .p256 : curve)
    let engagement = EngagementURI(engagement: DeviceEngagementDraft(key: key.publicKey).encode())
    var holder = HolderConversation(
      engagement: engagement.engagement, key: key, answer: HolderAnswer(documents: [stored], quirks: quirks), at: .now)
    let line = ([engagement.text, kind.docType, kind.ageNameSpace] + elements).joined(separator: " ")
    let establishment = try #require(bytes(hex: try reader.ask(line)))
    while holder.nextOutput() != nil {}
    holder.handle(.message(establishment[...]), at: .now)
    while holder.nextOutput() != nil {}
    holder.handle(.consent([true]), at: .now)
    var answer: [UInt8] = []
    while let output = holder.nextOutput() { if case .send(let message, _) = output { answer = message } }
    return try JSONDecoder().decode([PeerReader.Facts].self, from: Data(try reader.ask(answer.hex).utf8))
  }
}
