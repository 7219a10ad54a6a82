import Bytes
internal import COpenSSL

/// An ECDSA signature in DER: a sequence of two integers, each in its fewest bytes and with a sign byte where the
/// first bit is set. Hand-made DER without one of these is the classic reason why one signature in a hundred fails, so
/// the tests compare this with OpenSSL's own writer; that one costs four allocations.
func derSignature(r: ByteView, s: ByteView) -> [UInt8] {
  func integer(_ number: ByteView) -> (hasSignByte: Bool, bytes: ByteView) {
    let bytes = number.dropFirst(number.prefix { $0 == 0 }.count)
    // zero is one byte of zeros
    guard let first = bytes.first else { return (true, bytes) }
    return (first >= 0x80, bytes)
  }
  let numbers = (integer(r), integer(s))
  func size(_ number: (hasSignByte: Bool, bytes: ByteView)) -> Int { number.bytes.count + (number.hasSignByte ? 1 : 0) }
  // at most 2 * (66 + 1 + 2): one length byte after 0x81
  let content = size(numbers.0) + size(numbers.1) + 4
  var der: [UInt8] = []
  der.reserveCapacity(content + 3)
  der.append(DERTag.sequence)
  if content >= 0x80 { der.append(0x81) }
  der.append(UInt8(content))
  func append(_ number: (hasSignByte: Bool, bytes: ByteView)) {
    der.append(DERTag.integer)
    der.append(UInt8(size(number)))
    if number.hasSignByte { der.append(0) }
    der += number.bytes
  }
  append(numbers.0)
  append(numbers.1)
  return der
}

/// r || s of a DER signature, each of `size` bytes, or nil where it is not one.
func rawSignature(der: [UInt8], size: Int) -> [UInt8]? {
  der.withUnsafeBufferPointer { bytes -> [UInt8]? in
    var next = bytes.baseAddress
    guard let signature = d2i_ECDSA_SIG(nil, &next, bytes.count) else { return nil }
    defer { ECDSA_SIG_free(signature) }
    var raw = [UInt8](repeating: 0, count: 2 * size)
    let good = raw.withUnsafeMutableBufferPointer { raw in
      guard let base = raw.baseAddress else { return false }
      return BN_bn2binpad(ECDSA_SIG_get0_r(signature), base, Int32(size)) == size
        && BN_bn2binpad(ECDSA_SIG_get0_s(signature), base + size, Int32(size)) == size
    }
    return good ? raw : nil
  }
}
