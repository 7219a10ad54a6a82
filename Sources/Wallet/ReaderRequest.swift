import Mdoc

/// What a reader asked for, as the holder gets to see it before consenting.
package struct ReaderRequest: Sendable {
  /// One for each document asked for, in the order of the request.
  package let documents: [Document]

  /// One document that was asked for.
  package struct Document: Sendable {
    package let itemsRequest: ItemsRequest
    /// Whether the wallet has a document of this type.
    package let isHeld: Bool
    /// Elements that would be given, by name space, as the credential names them: age statements may be others than
    /// the ones asked for.
    package let given: [Credential.NameSpace]
    package let reader: ReaderIdentity
  }

  init(_ request: DeviceRequest, answer: HolderAnswer, transcript: SessionTranscript, roots: ReaderRoots) {
    let whole = roots.identity(of: request, transcript: transcript)
    documents = request.documents.map { document in
      let credential = answer.document(for: document.itemsRequest)?.credential
      return Document(
        itemsRequest: document.itemsRequest, isHeld: credential != nil,
        given: credential?.selection(for: document.itemsRequest).nameSpaces ?? [],
        reader: roots.identity(of: document, transcript: transcript) ?? whole ?? .anonymous)
    }
  }
}

extension ReaderRequest {
  /// The request as lines for the holder: names only, no values.
  package var lines: [String] {
    documents.flatMap { document -> [String] in
      let request = document.itemsRequest
      var lines = ["asked for: \(terminalSafe(request.docType))" + (document.isHeld ? "" : " (not in this wallet)")]
      switch document.reader {
      case .anonymous: lines.append("  by: a reader that does not say who it is")
      case .trusted(let subject): lines.append("  by: \(terminalSafe(subject)), verified")
      case .signed(let subject):
        lines.append("  by: \(terminalSafe(subject)) (by its own word: no reader root is known here)")
      case .untrusted(let subject, let reason):
        lines.append("  by: \(terminalSafe(subject)), NOT verified: \(reason.rawValue)")
      case .invalid: lines.append("  by: a reader whose signature does not hold")
      }
      for space in request.nameSpaces {
        let elements = space.elements.map { element in
          terminalSafe(element.identifier) + (element.intentToRetain ? " (to be kept)" : "")
        }
        lines.append("  \(terminalSafe(space.nameSpace)): \(elements.joined(separator: ", "))")
      }
      for space in document.given {
        lines.append(
          "  would give from \(terminalSafe(space.name)): \(space.items.map(\.identifier).joined(separator: ", "))")
      }
      return lines
    }
  }
}
