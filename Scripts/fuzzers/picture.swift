// seed: P5\n3 2\n255\n\x00\x7f\xff\xff\x7f\x00
// seed: P5 # remark\n1 1 65535\n\x00\x01
// seeds files: Tests/**/*.png Tests/**/*.pgm
// options: -max_len=4096
import Pictures

func fuzz(_ input: [UInt8]) {
  if let image = try? PictureFile.decode(input) {
    expect(image.width > 0 && image.height > 0, "a picture has pixels")
  }
}
