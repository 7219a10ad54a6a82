/// What is asked of one document: ItemsRequest of ISO/IEC 18013-5.
package struct ItemsRequest: Equatable, Sendable {
  package let docType: String
  /// In the order they are written.
  package let nameSpaces: [NameSpaceRequest]

  package init(docType: String, nameSpaces: [NameSpaceRequest]) {
    self.docType = docType
    self.nameSpaces = nameSpaces
  }

  /// The elements asked of one name space.
  package struct NameSpaceRequest: Equatable, Sendable {
    package let nameSpace: String
    package let elements: [ElementRequest]

    package init(nameSpace: String, elements: [ElementRequest]) {
      self.nameSpace = nameSpace
      self.elements = elements
    }
  }

  /// One element, and whether the reader means to keep it longer than the transaction needs.
  package struct ElementRequest: Equatable, Sendable {
    package let identifier: String
    package let intentToRetain: Bool

    package init(identifier: String, intentToRetain: Bool) {
      self.identifier = identifier
      self.intentToRetain = intentToRetain
    }
  }
}
