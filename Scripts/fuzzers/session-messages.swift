// seeds files: annex-d/*
// seeds hex: transport/*.json transcripts/*.json
// options: -max_len=4096
import Bytes
import Mdoc

/// What a session carries in the clear: establishment, data, transcripts.
func fuzz(_ input: [UInt8]) {
  if let establishment = try? SessionEstablishment(input[...]) {
    _ = try? establishment.eReaderKey()
    let again = SessionEstablishment.encode(
      eReaderKeyBytes: establishment.eReaderKeyBytes, data: establishment.data)
    expect((try? SessionEstablishment(again[...]))?.data == establishment.data, "an establishment is stable")
  }
  if let data = try? SessionData(input[...]) {
    expect((try? SessionData(data.encode()[...])) == data, "session data is stable")
  }
  _ = try? SessionTranscript(encoded: input[...])
}
