import CBOR
import CivilTime
import Crypto
import Mdoc

/// Part E: what of a verified document was asked for and may be used.
extension DocumentVerification {
  mutating func matchRequest(
    issuerSigned: IssuerSigned, deviceSigned: DeviceSigned, signer: Certificate?, object: MobileSecurityObject
  ) -> VerifiedDocument? {
    var statements: [AgeStatement] = []
    var elements: [VerifiedElement] = []
    elements.reserveCapacity(requests.reduce(0) { $0 + $1.nameSpaces.reduce(0) { $0 + $1.elements.count } })
    for nameSpace in issuerSigned.nameSpaces ?? [] {
      let requested = requestedElements(of: nameSpace.nameSpace)
      // By place: an item that is copied costs a reference for each of its parts.
      for place in nameSpace.items.indices {
        let name = ElementName(nameSpace: nameSpace.nameSpace, element: nameSpace.items[place].elementIdentifier)
        var isWanted = requested.contains(name.element)
        // Issuer-signed booleans only: a device-signed statement proves nothing about age.
        if let value = nameSpace.items[place].elementValue.bool, let age = AgeOver(element: name.element) {
          let statement = AgeStatement(nameSpace: name.nameSpace, age: age, value: value)
          isWanted = isWanted || answersLimit(statement)
          statements.append(statement)
        }
        if isWanted {
          let value = ElementValue(nameSpace.items[place].elementValue)
          elements.append(VerifiedElement(name: name, value: value, isDeviceSigned: false))
        } else {
          add(.dropped, .unrequestedElement(nameSpace: name.nameSpace, element: name.element))
        }
      }
    }
    for nameSpace in deviceSigned.nameSpaces {
      let requested = requestedElements(of: nameSpace.nameSpace)
      for element in nameSpace.elements {
        let name = ElementName(nameSpace: nameSpace.nameSpace, element: element.identifier)
        if !requested.contains(name.element) {
          add(.dropped, .unrequestedElement(nameSpace: name.nameSpace, element: name.element))
        } else if object.keyAuthorizations.covers(name.element, in: name.nameSpace) {
          elements.append(VerifiedElement(name: name, value: ElementValue(element.value), isDeviceSigned: true))
        }
      }
    }
    let ages = answerAges(from: statements)
    describe(elements)
    return VerifiedDocument(
      docType: document.docType, issuingCountry: signer?.subject.countries.first, elements: elements, ages: ages,
      missing: missing(elements, ages: ages))
  }

  /// The identifiers that were asked for under exactly this name space.
  private func requestedElements(of nameSpace: String) -> [String] {
    var result: [String] = []
    for request in requests {
      for candidate in request.nameSpaces where candidate.nameSpace == nameSpace {
        result += candidate.elements.map(\.identifier)
      }
    }
    return result
  }

  /// Whether an age statement answers a limit that was asked for in its name space, though nobody named it.
  private func answersLimit(_ statement: AgeStatement) -> Bool {
    requestedLimits.contains { request in
      request.nameSpace == statement.nameSpace
        && (statement.value ? statement.age >= request.limit : statement.age <= request.limit)
    }
  }

  private mutating func answerAges(from statements: [AgeStatement]) -> [AgeResult] {
    var results: [AgeResult] = []
    for request in requestedLimits {
      let answer = request.limit.answer(
        from: statements.compactMap { $0.nameSpace == request.nameSpace ? ($0.age, $0.value) : nil })
      if answer == .contradictory {
        add(.failure, .ageContradictory(nameSpace: request.nameSpace, element: request.limit.element))
      }
      results.append(AgeResult(nameSpace: request.nameSpace, limit: request.limit, answer: answer))
    }
    return results
  }

  /// E2 to E4: facts about the content, not about its authenticity.
  private mutating func describe(_ elements: [VerifiedElement]) {
    let today = circumstances.now.date(offsetSeconds: circumstances.utcOffsetSeconds)
    for element in elements {
      let name = element.name
      if name.nameSpace == MDLElements.nameSpace, !MDLElements.isRightKind(element.value, for: name.element) {
        add(.information, .elementTypeInvalid(nameSpace: name.nameSpace, element: name.element))
      }
      if name.element == MDLElements.expiryDate, let date = element.value.calendarDate, date < today {
        add(.information, .documentExpired)
      }
      if name.element == MDLElements.portrait, !MDLElements.looksLikeImage(element.value) {
        add(.information, .portraitUnreadable)
      }
    }
  }

  private func missing(_ elements: [VerifiedElement], ages: [AgeResult]) -> [ElementName] {
    var missing: [ElementName] = []
    for request in requests {
      for nameSpace in request.nameSpaces {
        for element in nameSpace.elements {
          let name = ElementName(nameSpace: nameSpace.nameSpace, element: element.identifier)
          // Both sides are as long as the request at most: what came twice or was not asked for is not here.
          if elements.contains(where: { $0.name == name }) || isAnswered(name, by: ages) { continue }
          missing.append(name)
        }
      }
    }
    return missing
  }

  private func isAnswered(_ name: ElementName, by ages: [AgeResult]) -> Bool {
    guard let limit = AgeOver(element: name.element) else { return false }
    return ages.contains {
      $0.limit == limit && $0.nameSpace == name.nameSpace && ($0.answer == .yes || $0.answer == .no)
    }
  }
}

/// An `age_over_NN` that came, and is a boolean.
private struct AgeStatement {
  let nameSpace: String
  let age: AgeOver
  let value: Bool
}
