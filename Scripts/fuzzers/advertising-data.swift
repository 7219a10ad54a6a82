// seed: \x02\x01\x06\x11\x07\x24\x45\xea\xde\x93\xb4\x9e\xa3\x1c\x44\xeb\x47\x46\x8f\x68\xa4
// seed: \x02\x01\x06\x11\x06\x24\x45\xea\xde\x93\xb4\x9e\xa3\x1c\x44\xeb\x47\x46\x8f\x68\xa4\x05\x09mdoc
// seed: \x02\x01\x06\x00\x00
// options: -max_len=300
import Bluetooth
import Bytes

/// What a stranger advertises: what is read, written again, is read as the same, and no service is offered that is not
/// there.
func fuzz(_ input: [UInt8]) {
  let data = AdvertisingData(parsing: input[...])
  expect(AdvertisingData(parsing: ([0xff] + input)[1...]) == data, "where bytes begin does not matter")
  let byteCount = data.fields.reduce(0) { $0 + 2 + $1.data.count }
  expect(byteCount <= input.count, "fields are in what was read")
  do throws(AdvertisingData.Violation) {
    let written = try data.encoded()
    expect(written.count == byteCount && written.count <= AdvertisingData.limit, "what is advertised has room")
    expect(written.elementsEqual(input.prefix(byteCount)), "fields are written as they were")
    expect(AdvertisingData(parsing: written[...]) == data, "advertising data is stable")
  } catch {
    expect(error == .tooLong(byteCount: byteCount, limit: AdvertisingData.limit), "too much says how much")
    expect(byteCount > AdvertisingData.limit, "what has room is written")
  }
  guard let service = UUID128(text: "a4688f46-47eb-441c-a3e9-b493deea4524") else { return }
  if data.offers(service) {
    let wire = service.wire128
    let places = 0..<max(input.count - 15, 0)
    expect(places.contains { input[$0..<$0 + 16].elementsEqual(wire) }, "an offered service is in the bytes")
  }
  expect(AdvertisingData(data.fields + AdvertisingData.service(service).fields).offers(service), "a service is found")
}
