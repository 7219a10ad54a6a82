// swift-tools-version:6.0
//
// One target exists for each set of allowed imports; dependencies point down only. ARCHITECTURE.md says what
// each layer is for, and Scripts/check-layers refuses an import that this file does not declare.

import PackageDescription

/// A pure target: no Foundation, no Dispatch, no Glibc, no C module (Crypto and Configuration apart).
func core(_ name: String, _ dependencies: [Target.Dependency] = [], settings: [SwiftSetting] = []) -> Target {
  .target(name: name, dependencies: dependencies, path: "Sources/\(name)", swiftSettings: settings)
}

/// A target that touches the world: one device or one service each.
func edge(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, path: "Sources/\(name)")
}

#if compiler(<6.1)
  /// Swift 6.0.3 crashes in this optimisation over values that cannot be copied (release builds only).
  let sparesCopyPropagation: [SwiftSetting] = [
    .unsafeFlags(["-Xllvm", "-sil-disable-pass=copy-propagation"], .when(configuration: .release))
  ]
  /// Nor does it take all tests; what they test is as it is shipped.
  let sparesTests: [SwiftSetting] = [.unsafeFlags(["-Onone"], .when(configuration: .release))]
#else
  let sparesCopyPropagation: [SwiftSetting] = []
  let sparesTests: [SwiftSetting] = []
#endif

func tests(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .testTarget(
    name: "\(name)Tests",
    dependencies: [.target(name: name), "TestSupport"] + dependencies,
    path: "Tests/\(name)Tests",
    swiftSettings: sparesTests)
}

let package = Package(
  name: "mdoc-reader",
  products: [
    .executable(name: "mdoc-reader", targets: ["mdoc-reader"]),
    .executable(name: "mdoc-wallet", targets: ["mdoc-wallet"]),
  ],
  targets: [
    // C headers and shims
    .target(name: "CLinux", path: "Sources/CLinux"),
    .target(name: "CBluetooth", path: "Sources/CBluetooth"),
    .systemLibrary(
      name: "COpenSSL", path: "Sources/COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CZBar", path: "Sources/CZBar", pkgConfig: "zbar", providers: [.apt(["libzbar-dev"])]),
    .systemLibrary(name: "CPNG", path: "Sources/CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
    .systemLibrary(
      name: "CJansson", path: "Sources/CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
    .systemLibrary(name: "CJOSE", path: "Sources/CJOSE", pkgConfig: "jose", providers: [.apt(["libjose-dev"])]),
    .systemLibrary(name: "CZlib", path: "Sources/CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(
      name: "CQREncode", path: "Sources/CQREncode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
    .target(
      name: "CTOML",
      path: "Sources/CTOML",
      cxxSettings: [.define("TOML_HEADER_ONLY", to: "0"), .define("TOML_SHARED_LIB", to: "1")],
      linkerSettings: [.linkedLibrary("tomlplusplus"), .linkedLibrary("stdc++")]),
    // Over libgpiod 1.6 or 2.2, whichever is installed
    .target(name: "CGPIOD", path: "Sources/CGPIOD", linkerSettings: [.linkedLibrary("gpiod")]),
    // libcurl is loaded by the verb that fetches, not linked: the reader's process has no code that opens IP sockets
    .target(name: "CCurl", path: "Sources/CCurl"),
    // Over libmicrohttpd 0.9 or 1.0
    .target(name: "CMicroHTTPD", path: "Sources/CMicroHTTPD", linkerSettings: [.linkedLibrary("microhttpd")]),
    // Wipes memory that is given back; it replaces `free` for the whole program
    .target(name: "CWipe", path: "Sources/CWipe"),
    .target(name: "CV4L2", path: "Sources/CV4L2", linkerSettings: [.linkedLibrary("v4lconvert")]),

    // Bytes, time, codecs, cryptography
    core("Bytes"),
    core("CivilTime"),
    core("CBOR", ["Bytes"]),
    core("Crypto", ["Bytes", "CivilTime", "COpenSSL"]),
    core("COSE", ["Bytes", "CBOR", "Crypto"]),
    core("Inflate", ["Bytes", "CZlib"]),
    // jansson reads and writes it
    core("JSON", ["CJansson"]),
    // Signed and encrypted JSON: libjose does the work
    core("JOSE", ["Bytes", "JSON", "Crypto", "CJOSE"]),
    // HTTP messages, forms and addresses as values
    core("Web", ["Bytes"]),

    // The mdoc model, trust rules, sans-IO engines
    core("Bluetooth", ["Bytes", "CBOR"]),
    core("Mdoc", ["Bytes", "CivilTime", "CBOR", "COSE", "Crypto", "Bluetooth"]),
    core("Trust", ["Bytes", "CivilTime", "Crypto"]),
    core("MdocSession", ["Bytes", "CBOR", "COSE", "Crypto", "Mdoc"], settings: sparesCopyPropagation),
    core("VICAL", ["Bytes", "CivilTime", "CBOR", "COSE", "Crypto", "Trust"]),
    core("StatusLists", ["Bytes", "CivilTime", "CBOR", "COSE", "Crypto", "Inflate", "Mdoc", "Trust"]),
    core("StatusJWT", ["JSON", "Bytes", "CivilTime", "StatusLists"]),
    core("MdocVerification", ["Bytes", "CivilTime", "CBOR", "COSE", "Crypto", "Mdoc", "StatusLists", "Trust"]),

    // What the site wants, and the machine that does it
    core("Panel"),
    core("Policy", ["CivilTime", "Mdoc", "MdocVerification"]),
    core("ReaderCore", ["Bytes", "Crypto", "Bluetooth", "Mdoc", "MdocSession", "Panel"]),
    core(
      "Configuration",
      ["CTOML", "Bytes", "CivilTime", "Crypto", "Mdoc", "MdocVerification", "Policy", "Panel", "ReaderCore", "Trust"]),

    // Presentation online: the wallet's side and a verifier's
    core(
      "OpenID4VP",
      ["Bytes", "CivilTime", "CBOR", "JSON", "Web", "COSE", "Crypto", "JOSE", "Mdoc", "MdocVerification", "Trust"]),

    core("Provisioning", ["Bytes", "CivilTime", "CBOR", "COSE", "Crypto"]),

    // Edges
    edge("Kernel", ["CLinux"]),
    edge("GPIO", ["Kernel", "CGPIOD", "Bytes", "Panel"]),
    edge("Commands", ["Kernel", "Bytes"]),
    edge("Pictures", ["Kernel", "CPNG"]),
    edge("QRScan", ["Kernel", "Pictures", "CZBar"]),
    edge("Camera", ["Kernel", "Pictures", "CV4L2"]),
    edge("Links", ["Kernel", "CLinux", "Bluetooth"]),
    edge("SimulatedAir", ["Kernel", "CLinux", "Bluetooth", "Links"]),
    edge("KernelBluetooth", ["Kernel", "CBluetooth", "CLinux", "Bluetooth", "Bytes", "Links"]),
    edge("TerminalPanel", ["Kernel", "Panel"]),
    edge("TrustStore", ["Kernel", "Bytes", "CivilTime", "Crypto", "Trust", "VICAL"]),
    // The only targets that open IP sockets, for `refresh` and the wallet; the reader has none
    edge("HTTPFetch", ["CCurl", "Bytes", "Web"]),
    edge("HTTPServer", ["Kernel", "CLinux", "CMicroHTTPD", "Bytes", "Web"]),
    // Copies of lists that were fetched, and what is due
    edge(
      "ListCache", ["Kernel", "JSON", "StatusJWT", "Bytes", "CivilTime", "Crypto", "StatusLists", "Trust", "VICAL"]),

    // The test issuer and the wallet
    core("Issuer", ["CivilTime", "CBOR", "COSE", "Crypto", "Mdoc"]),
    // How documents come from an issuer into a wallet: both sides, as rules over HTTP messages
    core(
      "OpenID4VCI",
      [
        "Web", "JSON", "JOSE", "Bytes", "CivilTime", "CBOR", "COSE", "Crypto", "Mdoc", "MdocVerification", "Trust",
        "Issuer",
      ]),
    edge(
      "Wallet",
      [
        "Commands", "JSON", "Kernel", "Links", "SimulatedAir", "CQREncode", "Bytes", "CivilTime", "CBOR", "COSE",
        "Crypto", "Mdoc", "Bluetooth", "MdocSession", "OpenID4VP", "StatusJWT", "StatusLists", "Web", "Issuer", "Trust",
      ]),

    // Composition
    .target(
      name: "Appliance",
      dependencies: [
        "Camera", "GPIO", "JSON", "Kernel", "KernelBluetooth", "Links", "Pictures", "QRScan", "SimulatedAir",
        "TerminalPanel", "CivilTime", "Crypto", "Mdoc", "Trust", "StatusLists", "Bluetooth", "MdocVerification",
        "Panel", "Bytes", "ListCache",
        "Policy", "ReaderCore", "Configuration",
      ]),
    .target(
      name: "ReaderCommands",
      dependencies: [
        "Appliance", "Bluetooth", "Camera", "Commands", "GPIO", "JSON", "Kernel", "KernelBluetooth", "Pictures",
        "QRScan",
        "HTTPFetch", "ListCache", "Provisioning", "StatusLists", "TerminalPanel", "TrustStore", "VICAL", "Bytes",
        "CivilTime", "CBOR",
        "COSE", "Crypto", "Mdoc", "Trust",
        "MdocVerification", "Policy", "Panel", "ReaderCore", "Configuration",
      ]),
    .target(
      name: "WalletCommands",
      dependencies: [
        "Wallet", "Commands", "HTTPFetch", "HTTPServer", "JSON", "Kernel", "Links", "Pictures", "Bluetooth", "Bytes",
        "CivilTime", "Crypto", "Issuer", "JOSE", "Mdoc", "MdocVerification", "OpenID4VCI", "OpenID4VP", "Trust",
        "Web",
      ]),
    .executableTarget(name: "mdoc-reader", dependencies: ["ReaderCommands", "Commands", "CWipe"]),
    .executableTarget(name: "mdoc-wallet", dependencies: ["WalletCommands", "Commands", "CWipe"]),
    // Scripts/bench; no product
    .executableTarget(
      name: "mdoc-bench",
      dependencies: [
        "Camera", "Kernel", "QRScan", "CQREncode", "Bytes", "CivilTime", "CBOR", "COSE", "Crypto", "Mdoc",
        "ListCache", "MdocVerification", "Trust", "StatusLists", "VICAL", "Issuer", "CWipe",
      ]),
    // Scripts/soak; no product
    .executableTarget(
      name: "mdoc-soak",
      dependencies: [
        "Appliance", "Commands", "Kernel", "Pictures", "Wallet", "Bytes", "CivilTime", "Crypto", "Mdoc", "Issuer",
        "Configuration", "ReaderCore", "Trust", "CWipe",
      ]),

    // Tests
    .target(name: "TestSupport", dependencies: ["Bytes"], path: "Tests/TestSupport"),
    tests("Bytes"),
    tests("CivilTime"),
    tests("CBOR", ["Bytes"]),
    tests("Crypto", ["Bytes", "CivilTime"]),
    tests("Web", ["Bytes"]),
    tests("COSE", ["Bytes", "CBOR", "Crypto"]),
    tests("Mdoc", ["Bytes", "CivilTime", "CBOR", "COSE", "Crypto", "Bluetooth"]),
    tests("Trust", ["Bytes", "CivilTime", "Crypto", "Issuer"]),
    tests("Bluetooth", ["Bytes"]),
    tests("MdocSession", ["Bytes", "CBOR", "COSE", "Crypto", "Mdoc", "Issuer"]),
    tests("Inflate", ["Bytes"]),
    tests("VICAL", ["Bytes", "CivilTime", "CBOR", "Crypto", "Trust", "Issuer"]),
    tests("StatusLists", ["Bytes", "CivilTime", "CBOR", "COSE", "Crypto", "Mdoc", "Trust", "Issuer"]),
    tests("StatusJWT", ["Bytes", "CivilTime", "Crypto", "Mdoc", "StatusLists", "Trust", "Issuer"]),
    tests(
      "MdocVerification", ["Bytes", "CivilTime", "CBOR", "COSE", "Crypto", "Mdoc", "StatusLists", "Trust", "Issuer"]),
    tests("Panel"),
    tests("Policy", ["Bytes", "CivilTime", "CBOR", "Mdoc", "MdocVerification"]),
    tests(
      "ReaderCore",
      [
        "Bytes", "CivilTime", "CBOR", "Crypto", "Bluetooth", "Mdoc", "MdocSession", "MdocVerification", "Trust",
        "Policy", "Panel", "Issuer",
      ]),
    tests("Configuration", ["Bytes", "CivilTime", "Mdoc", "MdocVerification", "Policy", "Panel", "Trust"]),
    tests("Kernel", ["CLinux"]),
    tests("GPIO", ["Kernel", "Panel"]),
    tests("JSON"),
    tests("JOSE", ["Bytes", "JSON", "Crypto", "CJOSE"]),
    tests("Commands", ["Kernel"]),
    tests("Pictures", ["Kernel"]),
    tests("QRScan", ["Kernel", "Pictures", "CQREncode"]),
    tests("Camera", ["CLinux", "Kernel", "Pictures"]),
    tests("SimulatedAir", ["Kernel", "CLinux", "Bluetooth", "Links"]),
    tests("KernelBluetooth", ["Kernel", "Bluetooth", "Links"]),
    tests("TerminalPanel", ["Kernel", "Panel"]),
    tests(
      "OpenID4VP",
      ["Bytes", "CivilTime", "CBOR", "JSON", "Web", "Crypto", "JOSE", "Mdoc", "MdocVerification", "Trust", "Issuer"]),
    tests("Provisioning", ["Bytes", "CivilTime", "CBOR", "COSE", "Crypto"]),
    tests("TrustStore", ["Kernel", "Bytes", "CivilTime", "CBOR", "Crypto", "Trust", "Issuer", "VICAL"]),
    tests("Issuer", ["Bytes", "CivilTime", "CBOR", "COSE", "Crypto", "Mdoc"]),
    tests(
      "OpenID4VCI",
      [
        "Web", "JSON", "JOSE", "Bytes", "CivilTime", "CBOR", "COSE", "Crypto", "Mdoc", "Trust", "Issuer",
      ]),
    tests(
      "Wallet",
      [
        "Commands", "Kernel", "Links", "SimulatedAir", "Pictures", "QRScan", "Bytes", "CivilTime", "CBOR", "COSE",
        "Crypto", "Mdoc", "Bluetooth", "MdocSession", "MdocVerification", "OpenID4VP", "StatusLists", "Web", "Trust",
        "Issuer",
      ]),
    tests(
      "WalletCommands",
      [
        "Wallet", "Commands", "Kernel", "Links", "SimulatedAir", "Pictures", "QRScan", "Bytes", "CivilTime", "CBOR",
        "COSE", "Crypto", "Mdoc", "Bluetooth", "MdocSession", "MdocVerification", "OpenID4VP", "Trust", "Issuer",
      ]),
    tests(
      "Appliance",
      [
        "Commands", "GPIO", "Kernel", "Links", "Pictures", "QRScan", "SimulatedAir", "TerminalPanel", "TrustStore",
        "Bytes",
        "CivilTime",
        "CBOR", "COSE", "Crypto", "Mdoc", "Trust", "Bluetooth", "MdocSession", "MdocVerification", "Panel", "Policy",
        "ReaderCore", "Configuration", "Issuer", "ListCache", "OpenID4VCI", "Wallet", "WalletCommands", "Web",
      ]),
    tests("HTTPFetch", ["Bytes", "Web"]),
    tests("HTTPServer", ["HTTPFetch", "Kernel", "Bytes", "CivilTime", "Crypto", "Web"]),
    tests(
      "ListCache", ["Kernel", "JSON", "Bytes", "CivilTime", "Crypto", "StatusLists", "Trust", "Issuer"]),
    tests(
      "ReaderCommands",
      [
        "Appliance", "Commands", "Configuration", "HTTPFetch", "JSON", "Kernel", "ListCache", "Pictures",
        "Provisioning",
        "TrustStore", "Bytes",
        "CivilTime", "CBOR", "Crypto", "Mdoc", "StatusLists", "VICAL",
        "MdocVerification", "Trust", "Issuer", "Wallet", "WalletCommands", "MdocSession", "Bluetooth",
      ]),
  ],
  cxxLanguageStandard: .cxx17
)
