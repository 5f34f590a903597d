// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import rainctl

@Suite("A command that does not exist")
struct SuggestionTests {
    @Test(
        "is answered with what may have been meant",
        arguments: [
            ("provison", "rainctl provision"), ("lgoin", "rainctl login"), ("node lst", "rainctl node list"),
            ("node params gte X", "rainctl node params get"), ("Node list", "rainctl node"),
            ("prov", "rainctl provision"), ("log --json", "rainctl login, rainctl logout"),
            ("scan", "rainctl device scan"), ("signup", "rainctl account signup"),
            ("ota", "rainctl node ota"), ("node scan", "rainctl device scan"), ("node login", "rainctl login"),
            ("node help", "rainctl help node"), ("help provison", "rainctl help provision"),
            (
                "list",
                """
                rainctl account list, rainctl node list, rainctl group list, rainctl automation list, \
                rainctl profile list
                """
            ),
        ])
    func sentence(line: String, meant: String) {
        let sentence = CommandSuggestion.sentence(for: line.split(separator: " ").map(String.init))
        #expect(sentence?.hasSuffix(" Did you mean: \(meant)?") == true, "\(sentence ?? "nothing")")
    }

    @Test(
        "is named where nothing is like it, with where the commands are",
        arguments: [
            ("xyzzy", "rainctl has no \"xyzzy\". See: rainctl help"),
            ("provision-all", "rainctl has no \"provision-all\". See: rainctl help"),
            ("help xyzzy", "rainctl has no \"xyzzy\". See: rainctl help"),
            ("node params xyzzy", "rainctl node params has no \"xyzzy\". See: rainctl help node params"),
        ])
    func unlike(line: String, sentence: String) {
        #expect(CommandSuggestion.sentence(for: line.split(separator: " ").map(String.init)) == sentence)
    }

    @Test(
        "one that exists is not, nor an option in its place",
        arguments: ["", "node", "--jsno", "login x", "help", "help help", "help node list", "node --help", "-h xyzzy"])
    func existing(line: String) {
        #expect(CommandSuggestion.sentence(for: line.split(separator: " ").map(String.init)) == nil)
    }

    @Test("is 64, in the style of every error")
    func ends() async throws {
        let finished = try await run(Executables.path("rainctl"), ["provison", "--ssid", "Home"])
        #expect(finished.status == .exited(64))
        #expect(finished.standardError == "error: rainctl has no \"provison\". Did you mean: rainctl provision?\n")
        let option = try await run(Executables.path("rainctl"), ["provision", "--sid", "Home"])
        #expect(option.status == .exited(64) && option.standardError.hasPrefix("error: Unknown option '--sid'"))
        for words in [["provison", "--json"], ["xyzzy", "--json"], ["help", "xyzzy", "--json"]] {
            let document = try await run(Executables.path("rainctl"), words)
            #expect(document.status == .exited(64), "\(words)")
            #expect(document.standardOutput.contains("\"no_such_command\""), "\(document.standardOutput)")
        }
    }

    @Test("has no help of its own, and is not answered with that of what is above it")
    func help() async throws {
        for words in [["help", "xyzzy"], ["xyzzy", "--help"], ["help", "node", "xyzzy"]] {
            let finished = try await run(Executables.path("rainctl"), words)
            #expect(finished.status == .exited(64) && finished.standardOutput.isEmpty, "\(words)")
            #expect(finished.standardError.contains("has no \"xyzzy\""), "\(finished.standardError)")
        }
        let known = try await run(Executables.path("rainctl"), ["help", "node", "list"])
        #expect(known.status == .exited(0) && known.standardOutput.contains("USAGE: rainctl node list"))
    }
}
