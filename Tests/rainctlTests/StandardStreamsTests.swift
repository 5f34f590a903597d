// SPDX-License-Identifier: Apache-2.0
import RainKit
import TestSupport
import Testing

/// Standard streams that are closed, full, or that nobody reads any more.
@Suite("rainctl: the standard streams")
struct StandardStreamsTests {
    static let closed = [">&-", "<&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"]

    /// What a shell makes of the command, with the planted session of a token that lives for long.
    private func shell(_ redirections: String, _ arguments: String) async throws -> FinishedProcess {
        try await withTemporaryFolder { folder in
            let server = try await FaultyServer.start(.refuse, in: folder)
            let stored = try await StoredSession(in: folder, at: server, expiresIn: 3000)
            return try await run(
                "bash", ["-c", "\"$0\" \(arguments) \(redirections)", try Executables.path("rainctl")],
                environment: stored.maker.environment)
        }
    }

    @Test("a command does its work whichever of them are closed", arguments: closed)
    func closedStreams(redirections: String) async throws {
        let outcome = try await shell(redirections, "account token --timeout 20")
        #expect(outcome.status == .exited(0), "\(outcome.standardError)")
        let printsNothing = redirections.contains(">&-") && !redirections.hasPrefix("2")
        #expect(outcome.standardOutput == (printsNothing ? "" : "planted-access-token\n"))
        #expect(outcome.standardError == "")
    }

    @Test(
        "a result that cannot be written is 73, and said",
        arguments: ["account token", "account header", "account status --json", "profile list", "--version"])
    func full(arguments: String) async throws {
        let outcome = try await shell(">/dev/full", arguments)
        #expect(outcome.status == .exited(73))
        #expect(outcome.standardError.contains("could not be written to standard output: No space left on device"))
    }

    @Test("a reader that has left is 73 too, without a word")
    func readerLeft() async throws {
        let outcome = try await shell("| true; exit ${PIPESTATUS[0]}", "account token")
        // Whether the reader has left by then is for the scheduler to say.
        #expect([.exited(73), .exited(0)].contains(outcome.status))
        #expect(outcome.standardError == "")
    }

    @Test("an error that standard output does not take is said on standard error, and keeps its code")
    func failureIsSaid() async throws {
        let outcome = try await shell(">/dev/full", "account token --json --account nobody")
        #expect(outcome.status == .exited(77))
        #expect(outcome.standardError.contains("error: "))
    }
}
