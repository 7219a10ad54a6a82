// seeds hex: requests/*.json
// options: -max_len=8192
import Bytes
import Mdoc

func fuzz(_ input: [UInt8]) {
  _ = try? DeviceRequest(input)
}
