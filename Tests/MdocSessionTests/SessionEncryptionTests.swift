import Bytes
import CBOR
@testable import Crypto
import Mdoc
import TestSupport
import Testing

@testable import MdocSession

/// Both sides of a fresh session on a curve.
func sessionPair(on curve: Curve) throws -> (reader: PrivateKey, holder: PrivateKey, transcript: SessionTranscript) {
  let reader = try PrivateKey.generate(curve)
  let holder = try PrivateKey.generate(curve)
  let engagement = DeviceEngagementDraft(key: holder.publicKey).encode()
  let transcript = try SessionTranscript(
    engagement: DeviceEngagement(engagement), eReaderKey: reader.publicKey, handover: .qrCode)
  return (reader, holder, transcript)
}

let agreeingCurves = Curve.allCases.filter { $0.kind != .edwards }

@Suite("Session encryption")
struct SessionEncryptionTests {
  private func annexD(_ side: SessionEncryption.Side) throws -> SessionEncryption {
    let device = try PrivateKey(curve: .p256, scalar: AnnexD.eDeviceKeyScalar)
    let reader = try PrivateKey(curve: .p256, scalar: AnnexD.eReaderKeyScalar)
    let transcript = try SessionTranscript(encoded: AnnexD.sessionTranscript[...])
    return side == .reader
      ? try SessionEncryption(side: side, ownKey: reader, peerKey: device.publicKey, transcript: transcript)
      : try SessionEncryption(side: side, ownKey: device, peerKey: reader.publicKey, transcript: transcript)
  }

  @Test("secret, salt and both keys are those of Annex D, from either side")
  func annexDKeys() throws {
    let device = try PrivateKey(curve: .p256, scalar: AnnexD.eDeviceKeyScalar)
    let reader = try PrivateKey(curve: .p256, scalar: AnnexD.eReaderKeyScalar)
    let salt = try SessionTranscript(encoded: AnnexD.sessionTranscript[...]).salt
    #expect(salt == AnnexD.salt)
    for (own, peer) in [(device, reader), (reader, device)] {
      let secret = try own.sharedSecret(with: peer.publicKey)
      #expect(secret.withBytes { Array($0) } == AnnexD.sharedSecret)
      let readerKey = SessionEncryption.key(of: .reader, secret: secret, salt: salt)
      #expect(readerKey.withBytes { Array($0) } == AnnexD.skReader)
      let deviceKey = SessionEncryption.key(of: .holder, secret: secret, salt: salt)
      #expect(deviceKey.withBytes { Array($0) } == AnnexD.skDevice)
    }
  }

  @Test("an IV is the side's identifier and the counter")
  func nonces() {
    #expect(SessionEncryption.nonce(of: .reader, counter: 1).hex == "000000000000000000000001")
    #expect(SessionEncryption.nonce(of: .holder, counter: 1).hex == "000000000000000100000001")
    #expect(SessionEncryption.nonce(of: .holder, counter: 0x0102_0304).hex == "000000000000000101020304")
    #expect(SessionEncryption.nonce(of: .reader, counter: .max).hex == "0000000000000000ffffffff")
  }

  @Test("both messages of Annex D are opened and made byte for byte")
  func annexDMessages() throws {
    var reader = try annexD(.reader)
    var holder = try annexD(.holder)
    let establishment = try SessionEstablishment(AnnexD.sessionEstablishment[...])
    #expect(try holder.open(establishment.data) == AnnexD.deviceRequest)
    let sealed = try reader.seal(AnnexD.deviceRequest[...])
    #expect(
      SessionEstablishment.encode(eReaderKeyBytes: establishment.eReaderKeyBytes, data: sealed)
        == AnnexD.sessionEstablishment)
    let answer = try #require(SessionData(AnnexD.sessionData[...]).data)
    let response = try reader.open(answer)
    #expect(response == AnnexD.deviceResponse)
    #expect(SessionData(data: try holder.seal(response[...])[...]).encode() == AnnexD.sessionData)
    #expect(SessionData(status: SessionData.Status.termination).encode() == AnnexD.sessionTermination)
  }

  @Test(
    "the counter goes up by one with each message, apart for each side",
    arguments: [
      (
        SessionEncryption.Side.reader, "reader message ",
        [
          "82afb5ada9b78a92f9da49890ebac0399801efd1a7686d9b14d1970db7c2d5c8",
          "b17a1cfa9afb8a484bd71211dc9935166b452771a372c8058452c4cf46bc903a",
          "2ac46ce3bb0479d9c21b54c84123d2d29dde8e8aa74c81fa48c452fbc36fbac7",
        ]
      ),
      (
        SessionEncryption.Side.holder, "device message ",
        [
          "81d85fbe83b1c108f89f6c02c9be7a94a67d93d72f1a18c39d429b7dd48d70b5",
          "e441bbcbb265e25fae823ecc400d67020e5ac162b0b5c1e85a5dc2be105c62c8",
          "e38db73532e1dcfe64f0d8fcf0df038286d681797bf8b36e1818846824ea2c0a",
        ]
      ),
    ])
  func counters(side: SessionEncryption.Side, text: String, sealed: [String]) throws {
    var sender = try annexD(side)
    var receiver = try annexD(side == .reader ? .holder : .reader)
    for (index, expected) in sealed.enumerated() {
      let plaintext = Array((text + "\(index + 1)").utf8)
      let message = try sender.seal(plaintext[...])
      #expect(message.hex == expected)
      #expect(try receiver.open(message[...]) == plaintext)
    }
  }

  @Test("only the next message is opened, and after a wrong one none at all")
  func onlyTheNext() throws {
    var reader = try annexD(.reader)
    let messages = try (0..<3).map { _ in try reader.seal([1, 2, 3]) }
    for wrong in [[1], [0, 0], [0, 2], [2]] {
      var holder = try annexD(.holder)
      for place in wrong.dropLast() { _ = try holder.open(messages[place][...]) }
      let last = try #require(wrong.last)
      #expect(decryptionFails(&holder, messages[last][...]))
      for message in messages { #expect(decryptionFails(&holder, message[...])) }
    }
  }

  @Test("the last counter is used once and does not wrap")
  func noWrap() throws {
    #expect(SessionEncryption.counter(after: 1) == 2)
    #expect(SessionEncryption.counter(after: .max - 1) == .max)
    #expect(SessionEncryption.counter(after: .max) == nil)
    var reader = try annexD(.reader)
    var holder = try annexD(.holder)
    reader.nextSent = .max
    holder.nextReceived = .max
    let last = try reader.seal([7])
    #expect(try holder.open(last[...]) == [7])
    do {
      _ = try reader.seal([8])
      Issue.record("a counter wrapped")
    } catch {
      #expect(error == .encryptionFailed)
    }
    #expect(decryptionFails(&holder, last[...]))
  }

  @Test("two sides agree on every curve of cipher suite 1", arguments: agreeingCurves)
  func curves(curve: Curve) throws {
    let pair = try sessionPair(on: curve)
    var reader = try SessionEncryption(
      side: .reader, ownKey: pair.reader, peerKey: pair.holder.publicKey, transcript: pair.transcript)
    var holder = try SessionEncryption(
      side: .holder, ownKey: pair.holder, peerKey: pair.reader.publicKey, transcript: pair.transcript)
    for size in [0, 1, 15, 16, 17, 100_000] {
      let plaintext = [UInt8](repeating: UInt8(size & 255), count: size)
      let request = try reader.seal(plaintext[...])
      #expect(request.count == size + 16)
      #expect(try holder.open(request[...]) == plaintext)
      let answer = try holder.seal(plaintext[...])
      #expect(answer != request)
      #expect(try reader.open(answer[...]) == plaintext)
    }
  }

  @Test("a key of another curve and one that gives no secret are refused")
  func noAgreement() throws {
    let pair = try sessionPair(on: .x25519)
    let zero = try PublicKey(curve: .x25519, raw: [UInt8](repeating: 0, count: 32))
    for peer in [zero, try PrivateKey.generate(.p256).publicKey, try PrivateKey.generate(.ed25519).publicKey] {
      do {
        _ = try SessionEncryption(
          side: .reader, ownKey: pair.reader, peerKey: peer, transcript: pair.transcript)
        Issue.record("agreed with \(peer.curve)")
      } catch {
        #expect(error == .agreementFailed)
      }
    }
  }

  @Test("another transcript gives other keys")
  func transcriptBinds() throws {
    let pair = try sessionPair(on: .p256)
    let other = SessionTranscript(engagement: [0xa0], eReaderKeyBytes: [0xd8, 0x18, 0x41, 0xa0], handover: .qrCode)
    var reader = try SessionEncryption(
      side: .reader, ownKey: pair.reader, peerKey: pair.holder.publicKey, transcript: pair.transcript)
    var holder = try SessionEncryption(
      side: .holder, ownKey: pair.holder, peerKey: pair.reader.publicKey, transcript: other)
    let sealed = try reader.seal([1])
    #expect(decryptionFails(&holder, sealed[...]))
  }
}

/// Whether opening is refused; `#expect(throws:)` cannot take a value that is not copyable.
func decryptionFails(_ encryption: inout SessionEncryption, _ sealed: ByteView) -> Bool {
  do {
    _ = try encryption.open(sealed)
    return false
  } catch {
    return error == .decryptionFailed
  }
}
