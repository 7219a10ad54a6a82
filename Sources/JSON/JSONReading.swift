internal import CJansson

extension JSONValue {
  /// The document that `text` is, strict RFC 8259: no duplicate keys, nothing after it. Nil for anything else.
  package init?(reading text: [UInt8]) {
    let flags = Int(JSON_REJECT_DUPLICATES) | Int(JSON_DECODE_ANY) | Int(JSON_ALLOW_NUL)
    let document = text.withUnsafeBufferPointer { buffer -> UnsafeMutablePointer<json_t>? in
      // The library reads the bytes while this closure lasts and keeps none of them.
      buffer.withMemoryRebound(to: CChar.self) { json_loadb($0.baseAddress, $0.count, flags, nil) }
    }
    guard let document else { return nil }
    defer { json_decref(document) }
    self.init(document)
  }

  private init(_ value: UnsafeMutablePointer<json_t>) {
    switch value.pointee.type {
    case JSON_STRING:
      let bytes = UnsafeRawBufferPointer(start: json_string_value(value), count: json_string_length(value))
      self = .string(String(decoding: bytes, as: UTF8.self))
    case JSON_INTEGER: self = .integer(Int(json_integer_value(value)))
    case JSON_REAL: self = .double(json_real_value(value))
    case JSON_TRUE: self = .bool(true)
    case JSON_FALSE: self = .bool(false)
    case JSON_ARRAY:
      self = .array((0..<json_array_size(value)).compactMap { json_array_get(value, $0).map(JSONValue.init) })
    case JSON_OBJECT:
      var members: [Member] = []
      var iterator = json_object_iter(value)
      while let current = iterator {
        if let key = json_object_iter_key(current), let content = json_object_iter_value(current) {
          members.append(Member(String(cString: key), JSONValue(content)))
        }
        iterator = json_object_iter_next(value, current)
      }
      self = .object(members)
    default: self = .null
    }
  }

  /// The member of an object; nil when there is none or this is no object.
  package subscript(key: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.key == key }?.value
  }

  /// The text; nil for anything else.
  package var string: String? {
    if case .string(let text) = self { return text }
    return nil
  }

  /// The whole number; nil for anything else.
  package var integer: Int? {
    if case .integer(let number) = self { return number }
    return nil
  }

  /// The texts of an array; empty for anything else.
  package var strings: [String] {
    guard case .array(let elements) = self else { return [] }
    return elements.compactMap(\.string)
  }

  /// The elements of an array; nil for anything else.
  package var elements: [JSONValue]? {
    if case .array(let elements) = self { return elements }
    return nil
  }

  /// The members of an object; nil for anything else.
  package var members: [Member]? {
    if case .object(let members) = self { return members }
    return nil
  }

  /// True or false; nil for anything else.
  package var bool: Bool? {
    if case .bool(let flag) = self { return flag }
    return nil
  }
}
