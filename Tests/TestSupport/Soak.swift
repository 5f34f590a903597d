// SPDX-License-Identifier: Apache-2.0
import Testing

/// Whether this run does in full length what is shortened otherwise (`make soak` sets `RAINKIT_SOAK=1`).
public let isSoak = currentEnvironment()["RAINKIT_SOAK"] == "1"

/// Whether nothing else runs on this machine (`make timings` sets `RAINKIT_ALONE=1`): only then a test may expect something within a time.
public let isAlone = currentEnvironment()["RAINKIT_ALONE"] == "1"

/// Runs `body`, which is the whole of a test. In a soak the test runs again in its own process: there its memory can be measured,
/// and a crash fails only this test. Otherwise a crash ends the whole run, which fails it, too.
///
/// - Parameter name: tells the cases of a test with arguments apart; each gets its own process.
public func withOwnProcessInSoak(
    _ name: String = "", sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async throws {
    guard isSoak else { return try await body() }
    if let own = SoakProcess.ownCase {
        if own == name { try await body() }
        return
    }
    let test = try #require(Test.current, "only a test can be run again", sourceLocation: sourceLocation)
    let finished = try await SoakProcess.run(test, case: name)
    let words = finished.standardOutput.suffix(8000) + finished.standardError.suffix(8000)
    #expect(finished.status == .exited(0), "\(words)", sourceLocation: sourceLocation)
    #expect(words.contains("Test run with 1 test in "), "\(words)", sourceLocation: sourceLocation)
}

/// A process of this program that runs one test of a soak.
public enum SoakProcess {
    private static let variable = "RAINKIT_SOAK_CASE"

    /// In such a process, the name of the case that it is for.
    static let ownCase = currentEnvironment()[variable]

    /// Returns the memory of such a process, in bytes. Nil in others, where the memory of other tests would count.
    public static let memory: (@Sendable () -> Int)? = ownCase == nil ? nil : residentMemory

    static func run(_ test: Test, case name: String) async throws -> FinishedProcess {
        // Every character but letters and digits may mean something in a regular expression.
        let id = String(describing: test.id).map { $0.isLetter || $0.isNumber ? "\($0)" : "\\\($0)" }.joined()
        return try await TestSupport.run(
            Executables.testProgram, ["--testing-library", "swift-testing", "--filter", "^\(id)$"],
            environment: [variable: name], within: .seconds(4 * 3600))
    }
}
