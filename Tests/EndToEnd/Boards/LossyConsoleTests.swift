// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Many boards on cables that lose and double lines. They log in the middle of answers, boot for a random time, and restart when the port
/// is opened. The cloud confirms each in one run.
///
/// `make test` runs a short cut; `RAINKIT_SOAK=1` runs the thousand.
@Suite("rainctl provision: cables that lose lines", .serialized)
struct LossyConsoleTests {
    static let isSoak = currentEnvironment()["RAINKIT_SOAK"] == "1"
    static let runs = isSoak ? 1000 : 12
    static let atOnce = isSoak ? 20 : 6

    /// What is wrong with one cable, and what is on it.
    struct Scene: Sendable {
        let index: Int
        let dialect: String
        let options: [String]

        /// A cable that loses and doubles single bytes, of a console whose packets or commands show that.
        static func losingBytes(_ index: Int) -> Scene {
            let dialect = ["protocomm", "rainmaker", "improv"][index % 3]
            return Scene(
                index: index, dialect: dialect,
                options: [
                    "--console-dialect", dialect, "--console-noise", "between", "--console-fault", "drop-byte=0.0005",
                    "--console-fault", "double-byte=0.0005", "--seed", "\(index)", "--join-delay", "0.2", "--mapping",
                    dialect == "improv" ? "ch-resp" : "user", "--security", "1",
                ] + (dialect == "improv" ? ["--on-network", "127.0.0.1:0"] : []))
        }

        private init(index: Int, dialect: String, options: [String]) {
            (self.index, self.dialect, self.options) = (index, dialect, options)
        }

        init(_ index: Int) {
            var random = SeededGenerator(seed: UInt64(index) &+ 17)
            self.index = index
            dialect = ["protocomm", "rainmaker", "log-only", "improv"][index % 4]
            let boot = Double(Int.random(in: 0...(LossyConsoleTests.isSoak ? 8000 : 2000), using: &random)) / 1000
            var options = [
                "--console-dialect", dialect, "--boot-delay", "\(boot)", "--console-noise", "inside",
                "--console-fault", "drop-line=0.01", "--console-fault", "double-line=0.01",
                "--console-fault", "storm=\(Int.random(in: 1...20, using: &random))", "--seed", "\(index)",
                "--join-delay", "0.2", "--mapping", dialect == "improv" ? "ch-resp" : "user", "--security",
                dialect == "log-only" ? "2" : "1",
            ]
            // A pty has no lines to restart a board by, which is what a QR code that got lost needs: opening the port does it.
            if Bool.random(using: &random) || dialect == "log-only" { options.append("--reset-on-open") }
            if dialect == "log-only" {
                options += [
                    "--http", "127.0.0.1:0", "--boot-log", ["led-light", "switch"].randomElement(using: &random)!,
                ]
            }
            if dialect == "improv" { options += ["--on-network", "127.0.0.1:0"] }
            self.options = options
        }
    }

    @Test("every board is found for what it is, and confirmed")
    func lines() async throws { try await provision(Self.runs, "lines") { Scene($0) } }

    @Test("single bytes, too")
    func bytes() async throws { try await provision(Self.isSoak ? 300 : 6, "bytes") { .losingBytes($0) } }

    private func provision(_ runs: Int, _ what: String, _ scene: (Int) -> Scene) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: (0..<runs).map { "lossy-\($0)" }, in: folder)
            let failures = try await withThrowingTaskGroup(of: String?.self) { group in
                var failures: [String] = []
                for index in 0..<runs {
                    if index >= Self.atOnce, case let failure?? = try await group.next() { failures.append(failure) }
                    let scene = scene(index)
                    group.addTask { try await Self.failure(of: scene, cloud) }
                }
                for try await case let failure? in group { failures.append(failure) }
                return failures
            }
            print("cables that lose \(what): \(runs - failures.count) of \(runs) confirmed")
            for failure in failures { Issue.record("\(failure)") }
        }
    }

    private static func failure(of scene: Scene, _ cloud: SimulatedCloud) async throws -> String? {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                ["--console", folder.file("tty")] + scene.options + cloud.boardOptions(node: "lossy-\(scene.index)"),
                in: folder)
            defer { board.process.kill() }
            // Where the log carries the proof of possession, nobody types it.
            let proof = scene.dialect == "log-only" ? [] : ["--pop-file", folder.file("pop")]
            let more = proof + ((board.http ?? board.onNetwork).map { ["--device-host", $0] } ?? [])
            let outcome = try await maker.rainctl(
                ["provision", "--port", folder.file("tty"), "--ssid", SimulatedBoard.ssid, "--json"]
                    + ["--passphrase-file", folder.file("wifi"), "--timeout", "110"] + more)
            guard outcome.status == 0, outcome.document?["mapping"]?.string == "confirmed" else {
                return "\(scene.index) \(scene.dialect) \(scene.options): \(outcome.standardOutput)"
            }
            return nil
        }
    }
}
