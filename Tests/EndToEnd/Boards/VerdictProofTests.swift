// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Many runs that go wrong at random moments, and what is true of each by the board's journal and the cloud's status of the node.
///
/// `make test` runs a short cut; `RAINKIT_SOAK=1` runs the two hundred of each promise.
@Suite("rainctl provision: verdicts are true", .serialized)
struct VerdictProofTests {
    static let isSoak = currentEnvironment()["RAINKIT_SOAK"] == "1"
    static let runs = isSoak ? 200 : 6
    static let atOnce = isSoak ? 20 : 6

    /// What a run came to, and what it should have come to.
    struct Verdict: Sendable {
        var index: Int
        var what: String
        var isTrue: Bool
        var detail: String
    }

    private func prove(_ body: @escaping @Sendable (Int) async throws -> Verdict) async throws -> [Verdict] {
        try await withThrowingTaskGroup(of: Verdict.self) { group in
            var verdicts: [Verdict] = []
            for index in 0..<Self.runs {
                if index >= Self.atOnce, let verdict = try await group.next() { verdicts.append(verdict) }
                group.addTask { try await body(index) }
            }
            for try await verdict in group { verdicts.append(verdict) }
            return verdicts
        }
    }

    private func report(_ verdicts: [Verdict], _ name: String) {
        let kinds = Dictionary(grouping: verdicts, by: \.what).mapValues(\.count).sorted { $0.key < $1.key }
        print(
            "\(name): \(verdicts.count { $0.isTrue }) of \(Self.runs) true; "
                + kinds.map { "\($0.key): \($0.value)" }.joined(separator: ", "))
        for verdict in verdicts where !verdict.isTrue {
            #expect(Bool(false), "run \(verdict.index), \(verdict.what): \(verdict.detail)")
        }
        #expect(verdicts.count == Self.runs)
    }

    @Test(
        "boards that sign, and vanish at a random moment: the exit agrees with the board's journal and the node's status"
    )
    func vanishing() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(
                nodes: (0..<Self.runs).map { "verdict-\($0)" }, in: folder)
            let verdicts = try await prove { index in
                try await withTemporaryFolder { folder in
                    var random = SeededGenerator(seed: UInt64(index) &+ 1)
                    let vanish = Bool.random(using: &random) ? "power" : "link"
                    // One in ten with the answer to the Apply; the others up to three seconds later.
                    let moment =
                        Int.random(in: 0..<10, using: &random) == 0 ? 0 : Int.random(in: 1...3000, using: &random)
                    let join = [100, 400, 1400, 1900].randomElement(using: &random)!
                    let isWrong = Int.random(in: 0..<3, using: &random) == 0
                    let maker = try Maker(folder)
                    try await maker.signIn(to: cloud)
                    let board = try await SimulatedBoard.start(
                        [
                            "--http", "127.0.0.1:0", "--security", "1", "--mapping", "ch-resp", "--attempts", "0",
                            "--join-delay", "\(Double(join) / 1000)", "--vanish", "\(vanish)=\(Double(moment) / 1000)",
                        ] + cloud.boardOptions(node: "verdict-\(index)"), in: folder)
                    defer { board.process.kill() }
                    let outcome = try await maker.provision(
                        board, passphrase: isWrong ? "wrong" : "wifi", ["--json", "--timeout", "170"])
                    let list = try await maker.rainctl("node", "list", "--json")
                    let node = list.document?["nodes"]?.array?
                        .first { $0["node_id"]?.string == "verdict-\(index)" }
                    let expected = Self.expected(try board.journal.entries(), node)
                    return Verdict(
                        index: index, what: "exit \(outcome.status)", isTrue: outcome.status == expected,
                        detail:
                            "\(vanish) after \(moment) ms, join \(join) ms, wrong \(isWrong): expected \(expected), "
                            + "\(outcome.standardOutput)")
                }
            }
            report(verdicts, "boards that vanish")
        }
    }

    /// The exit that the two journals stand for: the board's own word where it could give it, then the cloud's.
    private static func expected(_ journal: [JSONValue], _ node: JSONValue?) -> Int {
        /// Whether the board answered a question about its Wi-Fi after that.
        func hasTold(_ change: String) -> Bool {
            guard let index = journal.firstIndex(where: { $0["change"]?.string == change }) else { return false }
            return journal[index...].contains {
                $0["event"] == "request" && $0["endpoint"] == "prov-config" && $0["outcome"] == "reply"
            }
        }
        if hasTold("joined") { return 0 }
        if hasTold("join_failed") { return 11 }
        return node?["connected"] == true ? 0 : 14
    }

    @Test("a predecessor with a wrong password, killed at a random moment: the next run puts the board on its network")
    func corrected() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(
                nodes: (0..<Self.runs).map { "corrected-\($0)" }, in: folder)
            let verdicts = try await prove { index in
                try await withTemporaryFolder { folder in
                    var random = SeededGenerator(seed: UInt64(index) &+ 100_001)
                    let node = "corrected-\(index)"
                    var options = [
                        "--http", "127.0.0.1:0", "--security", Bool.random(using: &random) ? "1" : "2",
                        "--mapping", Bool.random(using: &random) ? "ch-resp" : "user",
                        "--attempts", Bool.random(using: &random) ? "3" : "0",
                        "--join-delay", ["0.4", "1.4", "2.1"].randomElement(using: &random)!,
                    ]
                    if Bool.random(using: &random) { options.append("--reset-on-failure") }
                    let moment = Int.random(in: 0...2500, using: &random)
                    let maker = try Maker(folder)
                    try await maker.signIn(to: cloud)
                    let board = try await SimulatedBoard.start(
                        options + cloud.boardOptions(node: node), in: folder)
                    defer { board.process.kill() }
                    let killed = try await maker.start(
                        ["provision"] + Maker.way(to: board) + [
                            "--pop-file", folder.file("pop"), "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                            folder.file("wrong"), "--events", "ndjson",
                        ])
                    try await killed.output(containing: #""step":"associate""#)
                    try await Task.sleep(for: .milliseconds(moment))
                    killed.kill()
                    let outcome = try await maker.provision(
                        board, ["--json", "--timeout", "170"])
                    let joined = try board.journal.entries(where: ["change": "joined", "ssid": "Home"]).count == 1
                    let wasBusy = try board.journal.entries(where: ["change": "credentials_received"]).count > 1
                    return Verdict(
                        index: index, what: wasBusy ? "after another attempt" : "first attempt",
                        isTrue: outcome.status == 0 && joined,
                        detail: "\(options), killed after \(moment) ms: \(outcome.standardOutput)")
                }
            }
            report(verdicts, "corrected passwords")
        }
    }
}
