// seeds files: config/reader.toml
// seed: [request]\ndocument = [{doc_type = "a", elements = ["b"]}]\n
// options: -max_len=8192
import Configuration

/// The configuration: what toml++ throws must not come across.
func fuzz(_ input: [UInt8]) {
  _ = try? ReaderConfiguration(bytes: input)
}
