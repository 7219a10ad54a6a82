// seed: \xa2\x01\x82\x02\x03bab\xd8\x18C\x82\x01\x02
// seed: \x9f\x7faaabbb\xff\x5fAa\xff\xbf\xff\xff
// seeds hex: cbor/*.json
// options: -max_len=4096
import Bytes
import CBOR

/// Items lie inside the input and one another; an error points into the input.
func fuzz(_ input: [UInt8]) {
  do {
    let root = try decodeCBOR(input)
    expect(root.encoded.elementsEqual(input), "the root is the whole input")
    walk(root)
  } catch {
    expect((0...input.count).contains(error.offset), "an error lies inside its input")
    _ = error.description
  }
}

private func walk(_ item: CBORItem) {
  let range = item.encoded.indices
  expect((try? decodeCBOR(item.encoded)) != nil, "what decoded inside decodes alone")
  _ = (item.uint, item.int, item.bool, item.double, item.simpleValue, item.bytes, item.text, item.embeddedBytes)
  if let embedded = try? item.embedded() { expect(embedded.encoded.count < range.count, "embedded content is shorter") }
  if let inner = item.tagged { walk(inner) }
  if let elements = item.elements {
    for element in elements {
      expect(range.contains(element.offset), "an element lies inside its array")
      walk(element)
    }
  }
  if let entries = item.entries {
    for (key, value) in entries {
      expect(key.offset < value.offset, "a value follows its key")
      walk(key)
      walk(value)
    }
  }
}
