// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

/// The pages of all three programs, read by mandoc, which others wrote.
@Suite("Manual pages in mandoc")
struct MandocTests {
    @Test(
        "no page has a fault, and each can be read",
        .enabled(if: access("/usr/bin/mandoc", X_OK) == 0, "mandoc is not installed"),
        arguments: [
            ("rainctl", 120, "rainctl-node-params-set"), ("cloud-sim", 3, "cloud-sim-identity"),
            ("firmware-sim", 1, "firmware-sim"),
        ])
    func pages(program: String, least: Int, example: String) async throws {
        try await withTemporaryFolder { folder in
            let description = try await run(Executables.path(program), ["--experimental-dump-help"])
            try #require(description.status == .exited(0))
            try folder.makeFolder("man1")
            let written = try await run(
                Executables.path("rainctl"), ["manual-pages", folder.file("man1"), "--date", "2026-11-25"],
                input: .text(description.standardOutput))
            try #require(written.status == .exited(0), "\(written)")
            let pages = try filesBelow(folder.file("man1")).map { folder.file("man1/\($0)") }.sorted()
            #expect(pages.count >= least)

            let lint = try await run("mandoc", ["-Tlint", "-W", "warning"] + pages)
            #expect(lint.status == .exited(0) && lint.standardOutput.isEmpty && lint.standardError.isEmpty, "\(lint)")

            let text = try await run("mandoc", ["-Tascii", "-O", "width=200", folder.file("man1/\(example).1")])
            let page = text.standardOutput.replacing(/.\u{8}/, with: "")
            for section in [
                "NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "ENVIRONMENT", "EXIT STATUS", "EXAMPLES", "SEE ALSO",
            ] {
                #expect(page.contains("\n\(section)\n"), "\(section)")
            }
            #expect(page.contains("RainKit 0.") && !page.contains("BSD"), "the footer: \(page.suffix(200))")
            // The options and their values are those of the help.
            let command = example.split(separator: "-").map(String.init)
            let help = try await run(
                Executables.path(program), (program == "rainctl" ? Array(command.dropFirst()) : []) + ["--help"],
                environment: ["COLUMNS": "200"])
            let words =
                example == "cloud-sim-identity"
                ? ["--provider"] : help.standardOutput.matches(of: /\n  (--[a-z-]+)/).map { "\($0.1)" }
            #expect(!words.isEmpty)
            for word in words { #expect(page.contains(word), "\(word)") }
        }
    }
}
