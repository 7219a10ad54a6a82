import Kernel
import Pictures
import Testing

@testable import Camera

private let full = PixelSize(1920, 1080)
private let hd = PixelSize(1280, 720)
private let vga = PixelSize(640, 480)
private let small = PixelSize(320, 240)

@Suite struct PixelFormatTests {
  @Test("codes are as the kernel has them")
  func codes() {
    #expect(PixelFormat.yuyv.fourcc == 0x5659_5559)
    #expect(PixelFormat.mjpeg.fourcc == 0x4750_4a4d)
    #expect(PixelFormat("GREY") == .grey)
    #expect(PixelFormat("Y16")?.fourcc == 0x2036_3159)
    #expect(PixelFormat("Y16")?.description == "Y16")
    #expect(PixelFormat(fourcc: 0x8020_3631).description == "0x80203631")
    #expect(PixelFormat(fourcc: 0x2020_2020).description == "0x20202020")
    #expect(PixelFormat("") == nil)
    #expect(PixelFormat("YUYV2") == nil)
  }

  @Test(
    "raw formats of sensors are known",
    arguments: ["BA81", "GBRG", "RGGB", "BG10", "RG12", "pBAA", "pgAA", "pRCC", "BYR2"])
  func bayer(code: String) {
    #expect(PixelFormat(code)?.isBayer == true)
    #expect(PixelFormat(code)?.isUsable == false)
  }

  @Test("usable formats are no raw ones", arguments: PixelFormat.preferred)
  func usable(format: PixelFormat) {
    #expect(format.isUsable)
    #expect(!format.isBayer)
  }
}

@Suite struct FormatChoiceTests {
  private func choose(
    _ offered: [OfferedFormat], wanted: PixelSize = hd, rate: Int = 30, busLimit: Int? = nil
  ) -> [String] {
    FormatChoice.candidates(offered, wanted: wanted, rate: rate, busLimit: busLimit).map(\.description)
  }

  @Test("raw formats come first, in their order, and smaller sizes last")
  func order() {
    let sizes = OfferedFormat.Sizes.discrete([hd, vga])
    #expect(
      choose([.init(.mjpeg, sizes), .init(.grey, sizes), .init(.nv12, sizes), .init(.yuyv, sizes)]) == [
        "YUYV 1280 x 720", "NV12 1280 x 720", "GREY 1280 x 720", "MJPG 1280 x 720", "YUYV 640 x 480", "NV12 640 x 480",
        "GREY 640 x 480", "MJPG 640 x 480",
      ])
  }

  @Test("compressed pictures come first where the bus cannot carry raw ones")
  func bus() {
    let sizes = OfferedFormat.Sizes.discrete([hd, vga])
    let offered = [OfferedFormat(.yuyv, sizes), .init(.mjpeg, sizes)]
    #expect(
      choose(offered, busLimit: 24_000_000) == [
        "MJPG 1280 x 720", "YUYV 1280 x 720", "YUYV 640 x 480", "MJPG 640 x 480",
      ])
    // At ten pictures a second even the large raw ones fit.
    #expect(choose(offered, rate: 10, busLimit: 24_000_000).first == "YUYV 1280 x 720")
    #expect(choose([.init(.yuyv, sizes)], busLimit: 24_000_000).first == "YUYV 1280 x 720")
  }

  @Test(
    "the speed of the USB link says what fits",
    arguments: [(12, 1_000_000), (480, 24_000_000), (5000, nil), (10000, nil)])
  func speeds(megabits: Int, limit: Int?) {
    #expect(FormatChoice.busLimit(usbMegabits: megabits) == limit)
  }

  @Test("the nearest size is taken")
  func nearest() {
    #expect(choose([.init(.grey, .discrete([small, full]))]) == ["GREY 1920 x 1080", "GREY 320 x 240"])
    #expect(choose([.init(.grey, .discrete([PixelSize(800, 600)]))]) == ["GREY 800 x 600"])
    #expect(choose([.init(.grey, .discrete([]))]) == ["GREY 1280 x 720", "GREY 640 x 480", "GREY 320 x 240"])
    let range = OfferedFormat.Sizes.range(
      smallest: PixelSize(32, 32), largest: PixelSize(1000, 600), step: PixelSize(16, 16))
    #expect(choose([.init(.grey, range)]) == ["GREY 992 x 592", "GREY 640 x 480", "GREY 320 x 240"])
    let broken = OfferedFormat.Sizes.range(smallest: PixelSize(64, 64), largest: PixelSize(0, 0), step: PixelSize(0, 0))
    #expect(choose([.init(.grey, broken)]) == ["GREY 64 x 64"])
    #expect(choose([.init(.grey, .discrete([PixelSize(0, 0), vga]))]).first == "GREY 640 x 480")
  }

  @Test("what nobody can use is no candidate")
  func none() {
    #expect(choose([]).isEmpty)
    #expect(choose([.init(PixelFormat(fourcc: 0x3131_4742), .discrete([vga]))]).isEmpty)
  }

  @Test("a small wish stays small")
  func smallWish() {
    #expect(choose([.init(.grey, .discrete([hd, vga, small]))], wanted: small) == ["GREY 320 x 240"])
  }
}

@Suite struct PictureLayoutTests {
  private func layout(
    _ format: PixelFormat, _ width: Int, _ height: Int, line: Int, bytes: Int
  ) -> Result<PictureLayout, LayoutFault> {
    do throws(LayoutFault) {
      return .success(
        try PictureLayout(GrantedFormat(format, PixelSize(width, height), bytesPerLine: line, imageBytes: bytes)))
    } catch {
      return .failure(error)
    }
  }

  @Test("the luma is found in every format, rows longer than needed included")
  func extraction() throws {
    // 3 x 2 pixels, luma 1...6; 99 is colour or padding.
    for (format, line, bytes) in [
      (PixelFormat.grey, 3, [1, 2, 3, 4, 5, 6]), (.grey, 4, [1, 2, 3, 99, 4, 5, 6, 99]),
      (.grey, 4, [1, 2, 3, 99, 4, 5, 6]), (.yuyv, 6, [1, 99, 2, 99, 3, 99, 4, 99, 5, 99, 6, 99]),
      (.yuyv, 8, [1, 99, 2, 99, 3, 99, 99, 99, 4, 99, 5, 99, 6]),
      (.yuyv, 0, [1, 99, 2, 99, 3, 99, 4, 99, 5, 99, 6, 99]),
      (.uyvy, 6, [99, 1, 99, 2, 99, 3, 99, 4, 99, 5, 99, 6]), (.nv12, 3, [1, 2, 3, 4, 5, 6, 99, 99, 99, 99]),
      (.nv21, 3, [1, 2, 3, 4, 5, 6, 99]), (.yuv420, 5, [1, 2, 3, 99, 99, 4, 5, 6, 99, 99, 99]),
      (.yvu420, 3, [1, 2, 3, 4, 5, 6]),
    ] as [(PixelFormat, Int, [UInt8])] {
      let layout = try layout(format, 3, 2, line: line, bytes: 0).get()
      let image = try bytes.withUnsafeBytes { try layout.luma(in: $0) }
      #expect(image.pixels == [1, 2, 3, 4, 5, 6], "\(format) \(line)")
      #expect(image.width == 3 && image.height == 2)
    }
  }

  @Test("a buffer that is one byte too short is refused, whatever the format")
  func short() throws {
    for (format, line, needed) in [
      (PixelFormat.grey, 4, 7), (.yuyv, 8, 13), (.uyvy, 8, 14), (.nv12, 3, 6),
    ] as [(PixelFormat, Int, Int)] {
      let layout = try layout(format, 3, 2, line: line, bytes: 0).get()
      #expect(layout.bytesNeeded == needed)
      for count in 0..<needed {
        let bytes = [UInt8](repeating: 7, count: count)
        #expect(throws: PictureFault.short(count, needed: needed)) {
          _ = try bytes.withUnsafeBytes { try layout.luma(in: $0) }
        }
      }
    }
  }

  @Test("what a driver grants is checked before it is believed")
  func grants() {
    func fault(_ format: PixelFormat, _ width: Int, _ height: Int, line: Int = 0, bytes: Int = 0) -> LayoutFault? {
      if case .failure(let fault) = layout(format, width, height, line: line, bytes: bytes) { fault } else { nil }
    }
    #expect(fault(.grey, 0, 480) == .unusableSize(PixelSize(0, 480)))
    #expect(fault(.yuyv, 8193, 480) == .unusableSize(PixelSize(8193, 480)))
    #expect(fault(.yuyv, 640, 480, line: 640) == .overlappingRows(bytesPerLine: 640, needed: 1279))
    #expect(fault(.yuyv, 640, 480, line: -8) == .overlappingRows(bytesPerLine: -8, needed: 1279))
    #expect(fault(.grey, 640, 480, line: 640, bytes: 300_000) == .smallBuffers(300_000, needed: 307_200))
    #expect(fault(.grey, 640, 480, line: Int.max / 100) == .unusableSize(PixelSize(640, 480)))
    #expect(fault(PixelFormat(fourcc: 1), 640, 480) == .unusableFormat(PixelFormat(fourcc: 1)))
    #expect(fault(.grey, 640, 480, line: 640, bytes: 307_200) == nil)
    #expect(fault(.mjpeg, 640, 480) == nil)
  }
}

@Suite struct ControlTests {
  @Test("controls have numbers, and names old and new")
  func names() {
    #expect(ControlID("focus_auto") == .automaticFocus)
    #expect(ControlID("focus_automatic_continuous") == .automaticFocus)
    #expect(ControlID("exposure_absolute") == ControlID("Exposure_Time_Absolute"))
    #expect(ControlID("0x009a090a") == .focus)
    #expect(ControlID("focus") == nil)
    #expect(ControlID("0xzz") == nil)
    #expect(ControlID(0x009a_090a).description == "focus_absolute")
    #expect(ControlID(0x0098_0999).description == "0x00980999")
    #expect(Set(ControlID.knownNames).count == ControlID.knownNames.count)
  }

  @Test("an automatic is stopped before what it governs is set")
  func plan() {
    var settings = CameraSettings()
    #expect(PlannedControl.plan(settings).isEmpty)
    settings.exposure = 100
    settings.focus = 40
    settings.gain = 8
    settings.controls = [ControlSetting(ControlID(0x0098_0918), 1)]
    #expect(
      PlannedControl.plan(settings).map { "\($0.choices.map(\.description).joined(separator: "|"))=\($0.value)" } == [
        "auto_exposure=1", "exposure_time_absolute|exposure=100", "focus_automatic_continuous=0", "focus_absolute=40",
        "gain_automatic=0", "gain|analogue_gain=8", "power_line_frequency=1",
      ])
  }
}
