// SPDX-License-Identifier: Apache-2.0
import RainJSON
import Synchronization
import TestSupport

/// One maker's place, in which one thing is broken.
final class FaultLab: Sendable {
    let folder: TemporaryFolder
    let maker: Maker
    let cloud: SimulatedCloud?
    private let clock = Mutex(Duration.zero)

    init(folder: TemporaryFolder, maker: Maker, cloud: SimulatedCloud?) {
        (self.folder, self.maker, self.cloud) = (folder, maker, cloud)
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

    func timed(_ arguments: [String], environment: [String: String] = [:]) async throws -> Maker.Outcome {
        let start = ContinuousClock.now
        defer { clock.withLock { $0 = start.duration(to: .now) } }
        return try await maker.rainctl(arguments + ["--json", "--no-input"], environment: environment)
    }

    func fails(_ rule: JSONValue) async throws { try await cloud?.control("faults", ["rules": [rule]]) }
}
