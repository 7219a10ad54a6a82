import Bytes
import Crypto

/// Certificates in whatever form people have them: PEM with text around, DER, or the bare base64 that they paste.
package enum CertificateInput {
  /// Longest input looked at, in bytes: some hundred certificates with text.
  package static let maximumSize = 1 << 20

  /// Why an input gives no certificates.
  package enum Violation: Error, Equatable, Sendable {
    case tooLarge
    /// Nothing in it is a certificate; `labels` are the PEM blocks that there are instead.
    case noCertificate(labels: [String])
    case pem(PEM.Violation)
    /// A certificate that cannot be read; `index` counts from 1.
    case certificate(index: Int, CertificateError)
  }

  /// All certificates of an input, in order, at least one. One that cannot be read refuses the whole input.
  package static func certificates(in input: [UInt8]) throws(Violation) -> [Certificate] {
    guard input.count <= maximumSize else { throw .tooLarge }
    var encoded: [[UInt8]] = []
    if beginOfPEM(in: input) != nil {
      let blocks: [PEM.Block]
      do { blocks = try PEM.blocks(in: input) } catch { throw .pem(error) }
      encoded = blocks.filter { $0.label == "CERTIFICATE" || $0.label == "X509 CERTIFICATE" }.map(\.bytes)
      if encoded.isEmpty { throw .noCertificate(labels: blocks.map(\.label)) }
    } else if isDER(input) {
      encoded = [input]
    } else if let pasted = pastedBase64(input), isDER(pasted) {
      encoded = [pasted]
    } else {
      throw .noCertificate(labels: [])
    }
    var certificates: [Certificate] = []
    for der in encoded {
      do throws(CertificateError) {
        certificates.append(try Certificate(der))
      } catch {
        throw .certificate(index: certificates.count + 1, error)
      }
    }
    return certificates
  }

  private static let beginLine = Array("-----BEGIN ".utf8)

  /// Where the first PEM block begins, when there is one.
  package static func beginOfPEM(in bytes: [UInt8]) -> Int? {
    var rest = bytes[...]
    while let place = rest.firstIndex(of: UInt8(ascii: "-")) {
      if rest[place...].starts(with: beginLine) { return place }
      rest = rest[(place + 1)...]
    }
    return nil
  }

  /// Whether bytes begin as a certificate does, with a SEQUENCE of a long length. "0" is also a base64 digit, but what
  /// follows is none; and in CBOR these two bytes would be the whole item.
  package static func isDER(_ bytes: [UInt8]) -> Bool { bytes.count > 2 && bytes[0] == 0x30 && bytes[1] >= 0x80 }

  /// The bytes of base64 with white space anywhere, with or without its padding.
  private static func pastedBase64(_ input: [UInt8]) -> [UInt8]? {
    let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    var characters = (input.starts(with: byteOrderMark) ? input[3...] : input[...]).filter {
      $0 != 0x20 && !(0x09...0x0D).contains($0)
    }
    while !characters.count.isMultiple(of: 4) { characters.append(UInt8(ascii: "=")) }
    return try? Base64.standard.decode(String(decoding: characters, as: UTF8.self))
  }
}

extension CertificateInput.Violation: CustomStringConvertible {
  package var description: String {
    switch self {
    case .tooLarge: "more than \(CertificateInput.maximumSize) bytes: that is no certificate"
    case .noCertificate(let labels) where labels.contains { $0.contains("PRIVATE KEY") }:
      "a private key and no certificate"
    case .noCertificate(let labels) where labels.contains("CERTIFICATE REQUEST"):
      "a certificate request and no certificate"
    case .noCertificate: "no certificate in it (neither PEM, nor DER, nor base64)"
    case .pem(.unterminated(let line)): "the PEM block that begins in line \(line) has no end: it was cut"
    case .pem(.notBase64(let line)): "the PEM block that begins in line \(line) is not base64: it was damaged"
    case .certificate(let index, .malformed): "certificate \(index) is damaged, or is no X.509 certificate"
    case .certificate(let index, .dateUnreadable): "certificate \(index) has a date that is none"
    case .certificate(let index, .tooLarge): "certificate \(index) is longer than \(Certificate.maximumSize) bytes"
    }
  }
}
