// SPDX-License-Identifier: Apache-2.0
import RainKit
import TestSupport
import Testing

/// Standard streams that are closed, full, or that nobody reads any more.
@Suite("rainctl: the standard streams")
struct StandardStreamsTests {
    static let closed = [">&-", "<&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"]

    /// What a shell makes of the command, with the planted session of a token that lives for long.
    private func shell(
        _ redirections: String, _ arguments: String, expiresIn seconds: Double = 3000
    ) async throws -> FinishedProcess {
        try await withTemporaryFolder { folder in
            let server = try await FaultyServer.start(.refuse, in: folder)
            let stored = try await StoredSession(in: folder, at: server, expiresIn: seconds)
            return try await run(
                "bash", ["-c", "\"$0\" \(arguments) \(redirections)", try Executables.path("rainctl")],
                environment: stored.maker.environment)
        }
    }

    @Test(
        "a command does its work whichever of them are closed, and a result that is lost with one is 73",
        arguments: closed)
    func closedStreams(redirections: String) async throws {
        let outcome = try await shell(redirections, "account token --timeout 120")
        let isLost = redirections.contains(">&-") && !redirections.hasPrefix("2")
        #expect(outcome.status == .exited(isLost ? 73 : 0), "\(outcome.standardError)")
        #expect(outcome.standardOutput == (isLost ? "" : "planted-access-token\n"))
        let isSaid = isLost && !redirections.contains("2>&-")
        #expect(outcome.standardError.contains("could not be written to standard output: Bad file") == isSaid)
        #expect(isSaid || outcome.standardError == "", "\(outcome.standardError)")
    }

    @Test("a command that has nothing to print does not miss a standard output that is closed")
    func nothingToPrint() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let outcome = try await run(
                "bash", ["-c", "\"$0\" account list >&-", try Executables.path("rainctl")],
                environment: maker.environment)
            #expect(outcome.status == .exited(0), "\(outcome.standardError)")
        }
    }

    @Test(
        "a result that cannot be written is 73, and said",
        arguments: ["account token", "account header", "account status --json", "profile list", "--version"])
    func full(arguments: String) async throws {
        let outcome = try await shell(">/dev/full", arguments)
        #expect(outcome.status == .exited(73))
        #expect(outcome.standardError.contains("could not be written to standard output: No space left on device"))
    }

    @Test("a log that cannot be written is a warning at once, and 73 at the end", arguments: ["", " --quiet"])
    func fullLog(option: String) async throws {
        // The renewal that fails is logged.
        let outcome = try await shell("", "account token --log-file /dev/full" + option, expiresIn: 50)
        #expect(outcome.status == .exited(73))
        #expect(outcome.standardOutput == "planted-access-token\n")
        let lines = outcome.standardError.split(separator: "\n")
        #expect(lines.first == "warning: The log cannot be written to /dev/full: No space left on device.")
        #expect(
            lines.last
                == "error: The log /dev/full is incomplete: No space left on device. The command itself succeeded."
                && lines.count == 2)
    }

    @Test("a command that fails keeps its code where its log cannot be written, too")
    func failureWithFullLog() async throws {
        let outcome = try await shell("", "account token --log-file /dev/full --account nobody", expiresIn: 50)
        #expect(outcome.status == .exited(77))
        #expect(outcome.standardError.contains("error: ") && !outcome.standardError.contains("The command succeeded"))
    }

    @Test("a reader that has left is 73 too, without a word")
    func readerLeft() async throws {
        let outcome = try await shell("| true; exit ${PIPESTATUS[0]}", "account token")
        // Whether the reader has left by then is for the scheduler to say.
        #expect([.exited(73), .exited(0)].contains(outcome.status))
        #expect(outcome.standardError == "")
    }

    @Test(
        "help and completions for a reader that has left are 73, too, and no signal",
        arguments: ["--help", "--version", "--generate-completion-script bash"])
    func nobodyReads(arguments: String) async throws {
        // A pipe without a reader from the start, and the signal as a terminal's shell has it, whatever these tests do with it.
        let script = "mkfifo pipe; exec 3<>pipe 4>pipe 3>&-; env --default-signal=PIPE \"$0\" \(arguments) >&4"
        try await withTemporaryFolder { folder in
            let outcome = try await run(
                "bash", ["-c", script, try Executables.path("rainctl")], environment: try Maker(folder).environment,
                directory: folder.path)
            #expect(outcome.status == .exited(73), "\(outcome)")
            #expect(outcome.standardError == "")
        }
    }

    @Test("an error that standard output does not take is said on standard error, and keeps its code")
    func failureIsSaid() async throws {
        let outcome = try await shell(">/dev/full", "account token --json --account nobody")
        #expect(outcome.status == .exited(77))
        #expect(outcome.standardError.contains("error: "))
    }
}
