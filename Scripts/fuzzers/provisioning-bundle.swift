// seed: \244\146\146\157\162\155\141\164\001\146\156\165\155\142\145\162\007\147\143\162\145\141\164\145\144\300\164\062\060\062\066\055\061\061\055\063\060\124\060\060\072\060\060\072\060\060\132\145\146\151\154\145\163\241\153\162\145\141\144\145\162\056\164\157\155\154\101\001
// options: -max_len=4096
import Bytes
import CBOR
import COSE
import CivilTime
import Crypto
import Provisioning

private let key = try? PrivateKey.generate(.p256)

/// A bundle that nobody signed, and one whose payload is the input, signed.
func fuzz(_ input: [UInt8]) {
  guard let key else { return }
  _ = try? ProvisioningBundle(input[...], signedByAnyOf: [key.publicKey])
  let purpose = Array("mdoc-reader provisioning bundle".utf8)
  guard let signed = try? COSESign1.sign(input, with: key, externalData: purpose, isDetached: false) else { return }
  let encoded = CBORValue.tag(18, signed).encode()
  guard let bundle = try? ProvisioningBundle(encoded[...], signedByAnyOf: [key.publicKey]) else { return }
  expect(bundle.files.allSatisfy { !$0.path.contains("..") && !$0.path.hasPrefix("/") }, "no path leads outside")
  expect((try? bundle.encoded(signedBy: key)) != nil, "what was read can be written")
}
