// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainIO
import Subprocess
import SystemPackage

/// Runs another program to its end, and keeps its output.
///
/// The program loads nothing from the folder in which this process was started. It runs in another folder, and its `PATH` has no entries
/// that depend on the folder. Python does not look for modules there either: `PYTHONSAFEPATH` (since 3.11) prevents it, and in older
/// versions the other folder does.
package struct ChildProgram: Sendable {
    /// The end of a program. `output` holds both of its streams, in order.
    package struct Outcome: Sendable {
        package var isSuccess: Bool
        package var output: String
    }

    private let environment: [String: String]
    private let timer: any Clock<Duration>
    private static let maximumOutput = 1 << 20

    /// - Parameters:
    ///   - environment: the program's variables. The folder-dependent entries of `PATH` are left out.
    ///   - timer: measures the time limit of ``run(_:in:within:)``.
    package init(environment: [String: String], timer: any Clock<Duration> = ContinuousClock()) {
        self.environment = environment
        self.timer = timer
    }

    /// Runs a program and waits for its end.
    ///
    /// - Parameters:
    ///   - words: the program, by name or path, and its arguments. They must hold no secret: every user of a machine can read them.
    ///   - folder: the folder in which it runs. Only this user and root may be able to write there.
    ///   - limit: the time after which it is ended. It is also ended on cancellation.
    /// - Throws: `RainKitError`: `no_program` if it cannot be started, `deadline`, `cancelled`.
    package func run(_ words: [String], in folder: String = "/", within limit: Duration) async throws -> Outcome {
        let program = words[0].onOneLine
        let search = ProgramSearch(path: environment["PATH"])
        guard let file = search.file(of: words[0]) else {
            let place = words[0].contains("/") ? "" : " in \(search.path)"
            throw Self.absent("\(program) cannot be run: there is no such program\(place.onOneLine).")
        }
        let own = ["PATH": search.path, "PYTHONSAFEPATH": "1"]
        let variables = environment.merging(own) { $1 }.reduce(into: [Environment.Key: String]()) { result, entry in
            if let key = Environment.Key(rawValue: entry.key) { result[key] = entry.value }
        }
        let ended = await withDeadline(limit, sleep: { [timer] in try await timer.sleep(for: $0) }) {
            var options = PlatformOptions()
            options.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: .milliseconds(500))]
            do {
                let ended = try await Subprocess.run(
                    .path(FilePath(file)), arguments: Arguments(Array(words.dropFirst())),
                    environment: .custom(variables), workingDirectory: FilePath(folder), platformOptions: options,
                    output: .string(limit: Self.maximumOutput), error: .combinedWithOutput)
                // If the program was ended by us, its output is not an answer.
                try Task.checkCancellation()
                return Outcome(isSuccess: ended.terminationStatus.isSuccess, output: ended.standardOutput)
            } catch let error as SubprocessError {
                try Task.checkCancellation()
                throw Self.absent("\(program) cannot be run: \("\(error)".onOneLine)".asSentence)
            }
        }
        switch ended {
        case .success(let outcome)?: return outcome
        case .failure(let error)?: throw RainKitError(wrapping: error)
        case nil: throw RainKitError(.deadline, message: "\(program) did not end in time.")
        }
    }

    private static func absent(_ message: String) -> RainKitError {
        RainKitError(.request(.unavailable, reason: "no_program"), message: message)
    }
}
