// seed: \x00\x03\x00\x02\x00\x08\x00\x00\x00\x00\x00\x00\x00\x01\x63\x02\x63\x03\x63\x63\x63\x04\x63\x05\x63\x06
// seed: \x01\x03\x00\x02\x00\x03\x00\x00\x00\x00\x00\x00\x00\x01\x02\x03\x04\x05\x06\x63\x63\x63
// seed: \x02\x03\x00\x02\x00\x04\x00\x00\x00\x08\x00\x00\x00\x01\x02\x03\x63\x04\x05\x06\x63
// seed: \x03\x03\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x63\x01\x63\x02\x63\x03\x63\x04\x63\x05\x63\x06
// seed: \x07\x80\x02\xe0\x01\x00\x00\x00\x00\x00\x60\x09\x00
// options: -max_len=2048
import Pictures

@testable import Camera

/// A format as a driver grants it (its place in the list, width, height, bytes in a row, bytes in a buffer), and behind
/// it a buffer as the driver filled it.
func fuzz(_ input: [UInt8]) {
  guard input.count >= 13 else { return }
  func number(_ place: Int, _ count: Int) -> Int {
    input[place..<place + count].reversed().reduce(0) { $0 << 8 | Int($1) }
  }
  let formats = PixelFormat.preferred
  let isKnown = Int(input[0]) < formats.count
  let format = isKnown ? formats[Int(input[0])] : PixelFormat(fourcc: UInt32(truncatingIfNeeded: number(0, 4)))
  expect(!format.description.isEmpty, "a format has a name")
  let size = PixelSize(number(1, 2), number(3, 2))
  choose(format, size, number(5, 4), number(9, 4))
  let granted = GrantedFormat(format, size, bytesPerLine: number(5, 4), imageBytes: number(9, 4))
  let layout: PictureLayout
  do throws(LayoutFault) { layout = try PictureLayout(granted) } catch {
    expect(!error.description.isEmpty, "a refusal says why")
    return
  }
  // Exactly so long: the address sanitizer sees a read behind the end.
  let content = input.dropFirst(13)
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: content.count, alignment: 1)
  defer { buffer.deallocate() }
  buffer.copyBytes(from: content)
  do throws(PictureFault) {
    let image = try layout.luma(in: UnsafeRawBufferPointer(buffer))
    guard let luma = format.luma else { return expect(false, "only luma in the open is taken as it is") }
    expect(image.width == size.width && image.height == size.height, "a picture has the granted size")
    for row in Set([0, size.height / 2, size.height - 1]) {
      for column in 0..<size.width {
        let byte = buffer[row * layout.stride + luma.offset + column * luma.step]
        expect(image.pixels[row * size.width + column] == byte, "a pixel is the luma at its place")
      }
    }
  } catch {
    let isShort = error == .short(buffer.count, needed: layout.bytesNeeded) && buffer.count < layout.bytesNeeded
    expect(isShort || format.isCompressed && error == .undecodable, "only what is too short is refused")
  }
}

/// What to ask for when a driver says that it has these sizes.
private func choose(_ format: PixelFormat, _ size: PixelSize, _ width: Int, _ height: Int) {
  let other = PixelSize(width, height)
  for sizes in [
    OfferedFormat.Sizes.discrete([size, other]), .range(smallest: size, largest: other, step: PixelSize(16, 16)),
    .range(smallest: PixelSize(16, 16), largest: size, step: other),
  ] {
    let candidates = FormatChoice.candidates(
      [OfferedFormat(format, sizes)], wanted: PixelSize(1280, 720), rate: 15, busLimit: 24_000_000)
    expect(Set(candidates).count == candidates.count, "no candidate is there twice")
    expect(candidates.allSatisfy { $0.format == format }, "only what is offered is a candidate")
  }
}
