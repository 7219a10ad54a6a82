import Web

/// What one request brings together; libcurl's callbacks write into it.
final class Reception {
  /// Most header fields of an answer, and most bytes of them all. Libraries and servers stay far below.
  static let mostHeaders = 200
  static let mostHeaderBytes = 64 << 10

  private let limit: Int
  private(set) var body: [UInt8] = []
  private(set) var headers: [WebHeader] = []
  private(set) var isTooLarge = false
  var status = 0
  /// Where a redirect leads, resolved against the address that was asked; nil where the answer is none.
  var redirect: String?
  private var headerBytes = 0
  private var isHeadComplete = false

  /// - Parameter limit: most bytes of the body.
  init(limit: Int) { self.limit = limit }

  /// False when it would be too much.
  func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard body.count + bytes.count <= limit else {
      isTooLarge = true
      return false
    }
    body.append(contentsOf: bytes)
    return true
  }

  /// A line of the head with its end. What is no header field is left out. False when there are too many.
  func takeHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
    headerBytes += bytes.count
    guard headerBytes <= Reception.mostHeaderBytes, headers.count < Reception.mostHeaders else {
      isTooLarge = true
      return false
    }
    // A new answer begins, such as after `100 Continue`.
    if bytes.starts(with: "HTTP/".utf8) {
      headers = []
      isHeadComplete = false
      return true
    }
    // What follows the body (RFC 9110, section 6.5) is none of the head's fields.
    if bytes.elementsEqual("\r\n".utf8) || bytes.elementsEqual("\n".utf8) { isHeadComplete = true }
    guard !isHeadComplete, let line = String(validating: bytes, as: UTF8.self),
      let colon = line.utf8.firstIndex(of: UInt8(ascii: ":"))
    else { return true }
    let isBlank = { (byte: UInt8) in " \t\r\n".utf8.contains(byte) }
    let rest = line.utf8[line.utf8.index(after: colon)...].drop(while: isBlank)
    let end = rest.lastIndex { !isBlank($0) }.map { line.utf8.index(after: $0) } ?? rest.startIndex
    let header = WebHeader(String(line[..<colon]), String(line[rest.startIndex..<end]))
    if header.isWellFormed { headers.append(header) }
    return true
  }

  /// What a copy of the body can be asked about by, where a later request can repeat it.
  var validators: Validators {
    func last(_ name: String) -> String? {
      headers.last { header in
        header.name.lowercased() == name && !header.value.isEmpty && header.value.utf8.count <= 500
          && header.value.utf8.allSatisfy { (0x20...0x7E).contains($0) }
      }?.value
    }
    return Validators(entityTag: last("etag"), lastModified: last("last-modified"))
  }
}
