// SPDX-License-Identifier: Apache-2.0
import RainJSON
import Synchronization
import TestSupport

/// One maker's place, in which one thing is broken.
final class FaultLab: Sendable {
    let folder: TemporaryFolder
    let maker: Maker
    let cloud: SimulatedCloud?
    let bench: FaultBench
    private let clock = Mutex(Duration.zero)

    init(folder: TemporaryFolder, maker: Maker, cloud: SimulatedCloud?, bench: FaultBench) {
        (self.folder, self.maker, self.cloud, self.bench) = (folder, maker, cloud, bench)
    }

    /// How long the last run took, from its start to its end.
    var took: Duration { clock.withLock { $0 } }

    func board(_ options: [String] = ["--security", "1"]) async throws -> SimulatedBoard {
        try await SimulatedBoard.start(["--http", "127.0.0.1:0", "--join-delay", "0"] + options, in: folder)
    }

    /// `provision` at that board, for the Wi-Fi alone.
    func provision(
        _ way: [String], pop: String? = "pop", network: [String]? = nil, environment: [String: String] = [:]
    ) async throws -> Maker.Outcome {
        let secrets = pop.map { ["--pop-file", folder.file($0)] } ?? []
        let wifi = network ?? ["--ssid", SimulatedBoard.ssid, "--passphrase-file", folder.file("wifi")]
        return try await timed(["provision", "--no-mapping"] + secrets + wifi + way, environment: environment)
    }

    func rainctl(_ arguments: String..., environment: [String: String] = [:]) async throws -> Maker.Outcome {
        try await timed(arguments, environment: environment)
    }

    /// - Parameter other: who runs it, in the place of the lab's own maker.
    func timed(
        _ arguments: [String], environment: [String: String] = [:], as other: Maker? = nil
    ) async throws -> Maker.Outcome {
        let start = ContinuousClock.now
        defer { clock.withLock { $0 = start.duration(to: .now) } }
        return try await (other ?? maker).rainctl(arguments + ["--json", "--no-input"], environment: environment)
    }

    /// Adds a deployment at that server, and uses it from now on.
    func use(_ base: String) async throws {
        for arguments in [["profile", "add", "faulty", "--base-url", base], ["profile", "use", "faulty"]] {
            let outcome = try await maker.rainctl(arguments)
            guard outcome.status == 0 else { throw ProcessError("\(arguments): \(outcome.standardError)") }
        }
    }

    func fails(_ rule: JSONValue) async throws { try await cloud?.control("faults", ["rules": [rule]]) }
}
