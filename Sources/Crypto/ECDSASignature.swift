internal import COpenSSL

// Both directions go through OpenSSL's own signature object: hand-made DER with a missing sign byte or a surplus zero
// is the classic reason why one signature in a hundred fails.

/// An ECDSA signature in DER, or nil for want of memory.
func derSignature(r: UnsafeBufferPointer<UInt8>, s: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
  let signature = ECDSA_SIG_new()
  defer { ECDSA_SIG_free(signature) }
  let first = BN_bin2bn(r.baseAddress, Int32(r.count), nil)
  let second = BN_bin2bn(s.baseAddress, Int32(s.count), nil)
  guard ECDSA_SIG_set0(signature, first, second) == 1 else {  // takes both over, when it succeeds
    BN_free(first)
    BN_free(second)
    return nil
  }
  // two integers of at most 66 + 1 bytes, their heads and that of the sequence
  return [UInt8](unsafeUninitializedCapacity: 160) { buffer, initialized in
    var end = buffer.baseAddress
    initialized = max(0, Int(i2d_ECDSA_SIG(signature, &end)))
  }
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
