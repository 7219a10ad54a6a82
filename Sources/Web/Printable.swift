/// A text that a stranger wrote, as it may stand in a message: printable ASCII without quotes and backslashes (what RFC 6749
/// section 5.2 allows in a description), cut to `limit` characters; anything else is a question mark.
package func printable(_ text: String, limit: Int = 200) -> String {
  let characters = text.unicodeScalars.prefix(limit).map { scalar -> Unicode.Scalar in
    (0x20...0x7E).contains(scalar.value) && scalar != "\"" && scalar != "\\" ? scalar : "?"
  }
  return String(String.UnicodeScalarView(characters))
}
