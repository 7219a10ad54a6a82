internal import CLinux

/// The two ends of a new pipe, for the caller to close: close-on-exec, and blocking, as programs expect of their input and output.
package func makePipe() throws(SystemError) -> (reading: CInt, writing: CInt) {
  var ends: [CInt] = [-1, -1]
  _ = try check("pipe2") { linux_pipe(&ends) }
  return (ends[0], ends[1])
}
