// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import rainctl

@Suite("A command that does not exist")
struct SuggestionTests {
    @Test("is 64, in the style of every error")
    func ends() async throws {
        let finished = try await run(Executables.path("rainctl"), ["provison", "--ssid", "Home"])
        #expect(finished.status == .exited(64))
        #expect(
            finished.standardError == "error: rainctl has no command \"provison\". Did you mean: rainctl provision?\n")
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
            #expect(finished.standardError.contains("has no command \"xyzzy\""), "\(finished.standardError)")
        }
        let known = try await run(Executables.path("rainctl"), ["help", "node", "list"])
        #expect(known.status == .exited(0) && known.standardOutput.contains("USAGE: rainctl node list"))
    }
}
