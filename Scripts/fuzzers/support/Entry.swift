/// What libFuzzer calls with each input; `fuzz(_:)` is the target's own.
@_cdecl("LLVMFuzzerTestOneInput")
public func entry(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  fuzz(Array(UnsafeBufferPointer(start: data, count: size)))
  return 0
}

/// A property that must hold for every input: the run ends with a finding when it does not.
func expect(_ holds: Bool, _ property: StaticString) {
  if !holds { fatalError("\(property)") }
}
