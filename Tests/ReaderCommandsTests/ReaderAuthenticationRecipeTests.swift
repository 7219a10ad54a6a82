import Commands
import Foundation
import TestSupport
import Testing

@testable import ReaderCommands

/// The recipe of the README, as it stands there, and what the reader makes of its result.
@Suite("The README's reader certificate")
struct ReaderAuthenticationRecipeTests {
  private static var recipe: String? {
    guard let text = try? repositoryFile("README.md"), let start = text.range(of: "```sh\nopenssl"),
      let end = text.range(of: "\n```", range: start.upperBound..<text.endIndex)
    else { return nil }
    return "openssl" + text[start.upperBound..<end.lowerBound]
  }

  private func shell(_ script: String, in folder: String) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-euc", script]
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// What `check` says about the reader certificate, and whether `run` would start.
  private func check(_ folder: String) -> [String] {
    var out = ""
    let console = Console(program: "mdoc-reader") { if $1 { out += $0 } }
    _ = ReaderCommands.run(["check", "--config", folder + "/reader.toml"], console: console)
    return out.split(separator: "\n").filter { $0.contains("reader certificate") }.map(String.init)
  }

  @Test("makes a certificate that passes; each spoiled step is named")
  func recipe() throws {
    let recipe = try #require(ReaderAuthenticationRecipeTests.recipe)
    let folder = NSTemporaryDirectory() + "mdoc-recipe-\(UInt64.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: folder + "/board/simulated", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    guard try shell("command -v openssl", in: folder) == 0 else {
      print("skipped: the README's reader certificate: no openssl command")
      return
    }
    let board =
      "name = \"simulated\"\n[camera]\nkind = \"pictures\"\n[radio]\nkind = \"air\"\n[panel]\nkind = \"terminal\"\n"
    try board.write(toFile: folder + "/board/simulated/board.toml", atomically: true, encoding: .utf8)
    let configuration = """
      board = "simulated"
      [[request.document]]
      doc_type = "org.iso.18013.5.1.mDL"
      [request.document.name_spaces]
      "org.iso.18013.5.1" = ["age_over_18"]
      [reader_authentication]
      certificate = "reader.pem"
      key = "reader.key"
      """
    try configuration.write(toFile: folder + "/reader.toml", atomically: true, encoding: .utf8)

    #expect(try shell(recipe, in: folder) == 0)
    // Run by root, it also hears that the service is another user.
    let good = check(folder).filter { !$0.contains("only root may read the key") }
    #expect(good.count == 1 && good.allSatisfy { $0.hasPrefix("pass") && $0.contains("CN=Door 1") }, "\(good)")

    #expect(try shell(recipe.replacingOccurrences(of: "1.0.18013.5.1.6", with: "1.0.18013.5.1.2"), in: folder) == 0)
    #expect(check(folder).contains { $0.hasPrefix("fail") && $0.contains("(extendedKeyUsage)") })
    #expect(try shell(recipe.replacingOccurrences(of: "-days 365", with: "-days 1200"), in: folder) == 0)
    #expect(check(folder).contains { $0.hasPrefix("warn") && $0.contains("(validityPeriod)") })
    #expect(try shell("chmod 0644 reader.key", in: folder) == 0)
    #expect(check(folder).contains { $0.hasPrefix("fail") && $0.contains("others may read") })
    #expect(try shell("chmod 0600 reader.key; cp ca.pem reader.pem", in: folder) == 0)
    #expect(check(folder).contains { $0.hasPrefix("fail") && $0.contains("another key") })

    // A reader that cannot say who it is does not start as one that says nothing.
    var err = ""
    let console = Console(program: "mdoc-reader") { if !$1 { err += $0 } }
    #expect(ReaderCommands.run(["run", "--config", folder + "/reader.toml"], console: console) == 2)
    #expect(err.contains("reader_authentication") && err.contains("another key"))
  }
}
