// seed: pkcs11:token=door;object=reader?pin-source=file:/etc/mdoc-reader/pin
// seed: pkcs11:token=The%20door;id=%01%02;type=private?pin-value=1234&module-name=softhsm2
// seed: PKCS11:;;?&&
// options: -max_len=256
import Crypto

/// The address of a key in a token: what may be shown holds nothing of the query, where a PIN can be.
func fuzz(_ input: [UInt8]) {
  guard let address = PKCS11Address(String(decoding: input, as: UTF8.self)) else { return }
  expect(!address.shown.contains("?"), "the query is not shown")
  if let file = address.pinFile { expect(file.hasPrefix("/"), "a file is named by its whole path") }
  if let again = PKCS11Address(address.shown) {
    expect(again.shown == address.shown && !again.hasPIN && again.pinSource == nil, "nothing of the query is left")
  } else {
    expect(false, "what is shown is such an address")
  }
}
