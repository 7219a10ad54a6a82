import CivilTime
import Crypto
import Trust
import VICAL

/// Lists of issuers that were fetched, beside those that were imported. They are verified in the same way; of one provider
/// the list that was issued last counts, wherever it came from.
extension StoreContents {
  /// Takes a list that was fetched from an address. One that does not verify is a problem, and changes nothing.
  package mutating func take(
    issuerList bytes: [UInt8], from address: String, isRevoked: (Certificate, Certificate) -> Bool = { _, _ in false }
  ) {
    do throws(VICALFault) {
      let list = try UnverifiedVICAL(bytes[...]).verified(under: listSigners, at: nil, isRevoked: isRevoked)
      take(StoredList(list: list, file: address, isFetched: true))
      if state == .empty { state = .loaded }
    } catch {
      problems.append(StoreProblem(file: address, reason: .issuerList(error)))
    }
  }

  /// Verifies a list that has just been fetched, with the certificates valid now. Throws why it may not be used.
  package func verify(
    fetched bytes: [UInt8], at now: UnixTime, isRevoked: (Certificate, Certificate) -> Bool = { _, _ in false }
  ) throws(VICALFault) -> VICAL {
    let list = try UnverifiedVICAL(bytes[...]).verified(under: listSigners, at: now, isRevoked: isRevoked)
    for other in lists where other.list.isKin(of: list) { _ = try list.succeed(other.list) }
    return list
  }
}
