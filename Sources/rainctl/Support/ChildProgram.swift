// SPDX-License-Identifier: Apache-2.0
import RainKit
import Subprocess
import SystemPackage

/// Runs another program to its end, and keeps what it says.
struct ChildProgram: Sendable {
    /// What came of it. `output` holds both of its streams, in order.
    struct Outcome: Sendable {
        var isSuccess: Bool
        var output: String
    }

    var environment: [String: String]
    private static let maximumOutput = 1 << 20

    /// - Parameter words: the program, by name or path, and its arguments. No secret may be among them: every user of a machine can read them.
    /// - Throws: `unavailable` (`no_program`) where it does not start, `deadline` where it does not end in time. It is ended then, as it is on
    ///   cancellation.
    func run(_ words: [String], within limit: Duration) async throws -> Outcome {
        let program = words[0]
        let variables = environment.reduce(into: [Environment.Key: String]()) { result, entry in
            if let key = Environment.Key(rawValue: entry.key) { result[key] = entry.value }
        }
        return try await withTimeout(limit) {
            var options = PlatformOptions()
            options.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: .milliseconds(500))]
            do {
                let ended = try await Subprocess.run(
                    program.contains("/") ? .path(FilePath(program)) : .name(program),
                    arguments: Arguments(Array(words.dropFirst())), environment: .custom(variables),
                    platformOptions: options, output: .string(limit: Self.maximumOutput), error: .combinedWithOutput)
                // It may have ended because it was told to, and what it says then is nobody's answer.
                try Task.checkCancellation()
                return Outcome(isSuccess: ended.terminationStatus.isSuccess, output: ended.standardOutput)
            } catch let error as SubprocessError {
                try Task.checkCancellation()
                throw CommandFailure(
                    .unavailable, reason: "no_program",
                    message: "\(program.onOneLine) cannot be run: \("\(error)".onOneLine)".asSentence)
            }
        }
    }
}
