// SPDX-License-Identifier: Apache-2.0

/// What a program that ran to its end has left.
public struct FinishedProcess: Sendable {
    public let status: ChildExit
    public let standardOutput: String
    public let standardError: String
}

/// Runs a program to its end. One that takes longer than `limit` is killed, and that is an error.
@discardableResult
public func run(
    _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:], directory: String? = nil,
    input: ChildProcess.Input = .empty, within limit: Duration = .waitLimit
) async throws -> FinishedProcess {
    try await withChildProcess(
        executable, arguments, environment: environment, directory: directory, input: input
    ) { child in
        let status = try await child.wait(within: limit)
        child.kill()  // whatever it started and left behind
        try await child.drained()
        return FinishedProcess(
            status: status, standardOutput: child.standardOutput, standardError: child.standardError)
    }
}
