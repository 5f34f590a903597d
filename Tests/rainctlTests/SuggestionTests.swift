// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import rainctl

@Suite("A command that does not exist")
struct SuggestionTests {
    @Test(
        "is answered with what may have been meant",
        arguments: [
            ("provison", "rainctl provision"), ("lgoin", "rainctl login"), ("prov", "rainctl provision"),
            ("scan", "rainctl device scan"), ("signup", "rainctl account signup"),
            ("list", "rainctl account list, rainctl node list, rainctl node schedule list"),
            ("node lst", "rainctl node list"), ("node params gte X", "rainctl node params get"),
            ("node", nil), ("--jsno", nil), ("", nil), ("Node list", "rainctl node"),
        ])
    func sentence(line: String, meant: String?) {
        let sentence = CommandSuggestion.sentence(for: line.split(separator: " ").map(String.init))
        #expect(sentence?.contains("Did you mean: \(meant ?? "")?") ?? (meant == nil), "\(sentence ?? "nothing")")
        if meant == nil { #expect(sentence == nil) }
    }

    @Test("is named, also where nothing is like it", arguments: ["xyzzy", "provision-all", "node frobnicate"])
    func unknown(line: String) throws {
        let words = line.split(separator: " ").map(String.init)
        let sentence = try #require(CommandSuggestion.sentence(for: words))
        #expect(sentence.contains("has no \"\(words.last!)\". rainctl") && sentence.contains("--help"), "\(sentence)")
    }

    @Test("is 64, in the style of every error")
    func ends() async throws {
        let finished = try await run(Executables.path("rainctl"), ["provison", "--ssid", "Home"])
        #expect(finished.status == .exited(64))
        #expect(finished.standardError == "error: rainctl has no \"provison\". Did you mean: rainctl provision?\n")
        let option = try await run(Executables.path("rainctl"), ["provision", "--sid", "Home"])
        #expect(option.status == .exited(64) && option.standardError.hasPrefix("error: Unknown option '--sid'"))
        let document = try await run(Executables.path("rainctl"), ["provison", "--json"])
        #expect(document.standardOutput.contains("no_such_command"))
        let other = try await run(Executables.path("rainctl"), ["frobnicate", "--json"])
        #expect(
            other.status == .exited(64) && other.standardOutput.contains("no_such_command"), "\(other.standardOutput)")
    }
}
