import CBOR
import COSE
import CivilTime
import Crypto

/// A list of issuer roots before it is signed. Everything can be made wrong.
package struct VICALDraft: Sendable {
  /// An entry of the list.
  package struct Entry: Sendable {
    package var members: [(key: String, value: CBORValue)]

    /// As a root says it of itself.
    package init(_ certificate: Certificate, docTypes: [String]) {
      members = [
        ("certificate", .bytes(certificate.encoded)),
        ("serialNumber", .tag(2, .bytes(certificate.serialNumber.magnitude))),
        ("ski", .bytes(Array(certificate.subjectKeyIdentifier.value ?? []))),
        ("docType", .array(docTypes.map { .text($0) })),
        ("issuingCountry", .text(certificate.subject.countries.first ?? "")),
      ]
    }

    package subscript(key: String) -> CBORValue? {
      get { members.first { $0.key == key }?.value }
      set {
        members.removeAll { $0.key == key }
        if let newValue { members.append((key, newValue)) }
      }
    }
  }

  package var version: String = "1.0"
  package var provider: String
  package var date: UnixTime
  package var nextUpdate: UnixTime?
  package var issueID: UInt64?
  package var entries: [Entry]
  /// The signer's certificates; nil for the signer's own alone.
  package var chain: [[UInt8]]?
  /// Changes the members before they are signed.
  package var edit: (@Sendable (inout [CBORValue.Pair]) -> Void)?

  package init(provider: String, date: UnixTime, nextUpdate: UnixTime? = nil, issueID: UInt64? = 1, entries: [Entry]) {
    self.provider = provider
    self.date = date
    self.nextUpdate = nextUpdate
    self.issueID = issueID
    self.entries = entries
  }

  /// The list, an untagged COSE_Sign1.
  package func encoded(signedBy signer: DocumentSigner, key: PrivateKey? = nil) throws(IssuerError) -> [UInt8] {
    let date = { (instant: UnixTime) in CBORValue.tag(0, .text("\(instant)")) }
    var pairs: [CBORValue.Pair] = [
      CBORValue.Pair("version", .text(version)), CBORValue.Pair("vicalProvider", .text(provider)),
      CBORValue.Pair("date", date(self.date)),
      CBORValue.Pair(
        "certificateInfos",
        .array(entries.map { .map($0.members.map { CBORValue.Pair(.text($0.key), $0.value) }) })),
    ]
    if let nextUpdate { pairs.append(CBORValue.Pair("nextUpdate", date(nextUpdate))) }
    if let issueID { pairs.append(CBORValue.Pair("vicalIssueID", .unsigned(issueID))) }
    edit?(&pairs)
    let certificates = chain ?? [signer.certificate]
    let x5chain =
      certificates.count == 1 ? CBORValue.bytes(certificates[0]) : .array(certificates.map { CBORValue.bytes($0) })
    do {
      return try COSESign1.sign(
        CBORValue.map(pairs).encode(), with: key ?? signer.key, unprotected: .map(labels: [33: x5chain]),
        isDetached: false
      ).encode()
    } catch {
      throw .cryptography("list: \(error)")
    }
  }
}
