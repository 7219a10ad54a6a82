import Kernel

/// Why there is no Bluetooth: what, and what to do. Each has a stable code.
package enum AdapterProblem: Error, Equatable, Sendable {
  /// The kernel has no Bluetooth sockets.
  case kernelLacksBluetooth
  /// The program may not use them.
  case notPermitted(call: String)
  case noAdapter
  /// There is none of this name.
  case adapterMissing(String, present: [String])
  /// Another program has the adapter.
  case held(String, by: [AdapterHolder])
  /// Switched off by rfkill.
  case blocked(String)
  case noLowEnergy(String)
  case refused(String, command: String, reason: String)
  /// The adapter did not answer in time.
  case silent(String, command: String)
  /// It is gone from the system.
  case removed(String)
  /// Somebody else switched it off, or it reset itself.
  case poweredOff(String)
  case hardwareError(String, code: UInt8)
  case system(SystemError)

  /// The stable text form of the reason.
  package var code: String {
    switch self {
    case .kernelLacksBluetooth: "kernelLacksBluetooth"
    case .notPermitted: "notPermitted"
    case .noAdapter: "noAdapter"
    case .adapterMissing: "adapterMissing"
    case .held: "adapterHeld"
    case .blocked: "adapterBlocked"
    case .noLowEnergy: "noLowEnergy"
    case .refused: "commandRefused"
    case .silent: "adapterSilent"
    case .removed: "adapterRemoved"
    case .poweredOff: "adapterPoweredOff"
    case .hardwareError: "hardwareError"
    case .system: "systemError"
    }
  }

  /// One line what to do.
  package var remedy: String {
    switch self {
    case .kernelLacksBluetooth: "load the modules of the kernel: modprobe bluetooth"
    case .notPermitted: "the service needs the capabilities CAP_NET_ADMIN and CAP_NET_RAW; by hand, run it as root"
    case .noAdapter:
      "dmesg | grep -i -e bluetooth -e hci says why; on a Raspberry Pi, take dtoverlay=disable-bt out of config.txt"
    case .adapterMissing(_, let present):
      present.isEmpty ? "plug it in" : "write one of these into the board's file: \(present.joined(separator: ", "))"
    case .held(_, let holders):
      holders.contains { $0.isDaemon }
        ? "systemctl disable --now bluetooth.service: this reader needs the adapter for itself"
        : "end that program; of this reader, one at a time: systemctl stop mdoc-reader"
    case .blocked: "rfkill unblock bluetooth"
    case .noLowEnergy: "use an adapter with Bluetooth 4.0 or later"
    case .refused, .silent, .hardwareError:
      "it is tried again; if it stays so, switch the power off and on, or use another adapter"
    case .removed: "plug it in again; it is used as soon as it is there"
    case .poweredOff: "find out who switches it off; it is switched on again"
    case .system: "it is tried again"
    }
  }
}

extension AdapterProblem {
  /// Whether what was said before is only a consequence of this: an adapter that is gone is also off, and says nothing.
  func explains(_ earlier: AdapterProblem) -> Bool {
    guard case .removed(let name) = self else { return false }
    switch earlier {
    case .poweredOff(name), .silent(name, _), .refused(name, _, _), .hardwareError(name, _): return true
    default: return false
    }
  }
}

extension AdapterProblem: CustomStringConvertible {
  package var description: String {
    switch self {
    case .kernelLacksBluetooth: "the kernel has no Bluetooth"
    case .notPermitted(let call): "\(call): not permitted"
    case .noAdapter: "there is no Bluetooth adapter"
    case .adapterMissing(let name, _): "there is no adapter \(name)"
    case .held(let name, let holders):
      "\(name) is held by "
        + (holders.isEmpty ? "another program" : holders.map(\.description).joined(separator: ", "))
    case .blocked(let name): "\(name) is blocked by rfkill"
    case .noLowEnergy(let name): "\(name) has no Bluetooth Low Energy"
    case .refused(let name, let command, let reason): "\(name): \(command): \(reason)"
    case .silent(let name, let command): "\(name): \(command): no answer"
    case .removed(let name): "\(name) is gone"
    case .poweredOff(let name): "\(name) was switched off"
    case .hardwareError(let name, let code): "\(name): hardware error \(code)"
    case .system(let error): error.description
    }
  }
}
