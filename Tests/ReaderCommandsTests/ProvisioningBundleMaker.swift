import CivilTime
import Crypto
import Provisioning

@testable import ReaderCommands

/// A bundle of whatever is in a folder, without looking at it first.
enum ProvisioningBundleMaker {
  static func bundle(of folder: String, number: UInt64, key: PrivateKey) throws -> [UInt8] {
    try ProvisioningBundle(
      number: number, created: UnixTime(seconds: 1_796_000_000), serial: nil, files: SiteContent.files(of: folder)
    ).encoded(signedBy: key)
  }
}
