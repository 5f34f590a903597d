// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKit
import Subprocess
import SystemPackage

/// Runs another program to its end, and keeps its output.
///
/// Nothing that the program loads comes from the folder in which rainctl was started: it runs in another folder, without entries of `PATH` that
/// depend on the folder, and a Python does not look for modules there (`PYTHONSAFEPATH`, since 3.11; before, only the folder helps).
struct ChildProgram: Sendable {
    /// What came of it. `output` holds both of its streams, in order.
    struct Outcome: Sendable {
        var isSuccess: Bool
        var output: String
    }

    var environment: [String: String]
    private static let maximumOutput = 1 << 20

    /// - Parameters:
    ///   - words: the program, by name or path, and its arguments. No secret may be among them: every user of a machine can read them.
    ///   - folder: where it runs. Nobody but this user and root may write there.
    /// - Throws: `unavailable` (`no_program`) where it does not start, `deadline` where it does not end in time. It is ended then, as it is on
    ///   cancellation.
    func run(_ words: [String], in folder: String = "/", within limit: Duration) async throws -> Outcome {
        let program = words[0]
        let search = ProgramSearch(path: environment["PATH"])
        guard let file = search.file(of: program) else {
            let place = program.contains("/") ? "" : " in \(search.path)"
            throw CommandFailure(
                .unavailable, reason: "no_program",
                message: "\(program.onOneLine) cannot be run: there is no such program\(place.onOneLine).")
        }
        let own = ["PATH": search.path, "PYTHONSAFEPATH": "1"]
        let variables = environment.merging(own) { $1 }.reduce(into: [Environment.Key: String]()) { result, entry in
            if let key = Environment.Key(rawValue: entry.key) { result[key] = entry.value }
        }
        return try await withTimeout(limit) {
            var options = PlatformOptions()
            options.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: .milliseconds(500))]
            do {
                let ended = try await Subprocess.run(
                    .path(FilePath(file)), arguments: Arguments(Array(words.dropFirst())),
                    environment: .custom(variables), workingDirectory: FilePath(folder), platformOptions: options,
                    output: .string(limit: Self.maximumOutput), error: .combinedWithOutput)
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
