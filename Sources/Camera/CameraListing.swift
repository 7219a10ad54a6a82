import Kernel

/// What one node is, for a technician who looks for the right one.
package struct CameraListing: Sendable {
  package let node: String
  /// Stable names of the node: what to write into the board file.
  package let links: [String]
  /// nil when the node could not be asked; `problem` says why.
  package let facts: NodeFacts?
  package let formats: [OfferedFormat]
  package let controls: [(facts: ControlFacts, value: Int?)]
  /// Why it is no camera for this reader; nil when it is one.
  package let problem: CameraProblem?

  /// All nodes. It asks each, and waits for the kernel.
  package static func all(_ system: any VideoSystem = KernelVideo()) -> [CameraListing] {
    system.nodes().map { node in
      do throws(SystemError) {
        let device = try system.open(node)
        defer { device.close() }
        return try CameraListing(node, device, system)
      } catch {
        return CameraListing(node, system.links(to: node), .failed(node, error))
      }
    }
  }

  private init(_ node: String, _ links: [String], _ problem: CameraProblem) {
    self.node = node
    self.links = links
    self.problem = problem
    facts = nil
    formats = []
    controls = []
  }

  private init(_ node: String, _ device: any VideoDevice, _ system: any VideoSystem) throws(SystemError) {
    self.node = node
    links = system.links(to: node)
    let facts = try device.facts()
    self.facts = facts
    formats = facts.isCapture ? try device.formats() : []
    controls = device.controls().filter(\.isSettable).map { ($0, try? device.value(of: $0.id)) }
    let usable = formats.filter { $0.format.isUsable }.map { FormatCandidate($0.format, PixelSize(0, 0)) }
    problem = facts.isCapture ? CameraOpening.problem(node, usable, formats) : .notCapture(node)
  }
}
