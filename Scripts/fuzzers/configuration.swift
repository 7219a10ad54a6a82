// seeds files: config/reader.toml board/*/board.toml
// seed: [request]\ndocument = [{doc_type = "a", elements = ["b"]}]\n
// options: -max_len=4096
import Configuration

/// The configuration and a board's facts: what toml++ throws must not come across.
func fuzz(_ input: [UInt8]) {
  _ = try? ReaderConfiguration(bytes: input)
  _ = try? BoardFacts(bytes: input)
}
