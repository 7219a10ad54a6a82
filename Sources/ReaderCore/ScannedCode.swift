import Mdoc

/// What the content of a code turned out to be.
package enum ScannedCode: Sendable {
  /// An engagement that this reader can go on with.
  case usable(DeviceEngagement)
  /// Something else, with the code of the reason; the engagement where there is one that offers no way to go on.
  case refused(String, DeviceEngagement?)

  /// - Parameter content: the bytes of the code, as they were decoded.
  package init(_ content: [UInt8]) {
    let uri: EngagementURI
    do throws(EngagementURI.Violation) {
      uri = try EngagementURI(content: content)
    } catch {
      self = .refused(error.code, nil)
      return
    }
    var found: DeviceEngagement?
    do throws(DeviceEngagement.Violation) {
      let engagement = try DeviceEngagement(uri.engagement)
      found = engagement
      _ = try engagement.requiredBluetooth()
      self = .usable(engagement)
    } catch {
      self = .refused(error.code, found)
    }
  }
}
