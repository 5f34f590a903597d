// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// A cloud, a board, a broker and a bridge, each of which can be killed and started again.
private final class RestartScene {
    private enum Part: CaseIterable { case broker, bridge, board, cloud }

    private static let node = "nodelamp"
    private static let lamp = "rainkit/nodelamp/Lamp"

    private let folder: TemporaryFolder
    private let place: [String]
    private let maker: Maker
    private let broker: HomeBroker
    private var cloud: SimulatedCloud
    private var board: SimulatedBoard
    private var bridge: ChildProcess
    private let boardOptions: [String]
    private var journals: [Journal] = []
    private(set) var commands = 0

    init(in folder: TemporaryFolder) async throws {
        self.folder = folder
        place = ["--data", folder.file("cloud-data"), "--listen", "127.0.0.1:\(try LoopbackServer.assignablePort())"]
        cloud = try await SimulatedCloud.start(nodes: [Self.node], arguments: place, in: folder)
        maker = try Maker(folder)
        try await maker.signIn(to: cloud)
        boardOptions = ["--no-basic-ingest", "--device", "lamp"] + (try cloud.boardOptions(node: Self.node))
        let new = try await SimulatedBoard.start(
            ["--http", "127.0.0.1:0", "--security", "1", "--mapping", "user", "--join-delay", "0.2"] + boardOptions,
            in: folder)
        #expect(try await maker.provision(new, ["--json"]).status == 0)
        _ = try await cloud.journal.entry(where: ["event": "node", "what": "params", "node": .string(Self.node)])
        try await new.process.terminate()
        board = try await Self.board(boardOptions, in: folder)
        journals.append(board.journal)
        broker = try await HomeBroker.start(in: folder)
        bridge = try await Self.bridge(maker, broker)
    }

    func end() {
        bridge.kill()
        broker.kill()
        board.process.kill()
        cloud.process.kill()
    }

    /// On its network from the start.
    private static func board(_ options: [String], in folder: TemporaryFolder) async throws -> SimulatedBoard {
        let board = try await SimulatedBoard.start(
            ["--on-network", "127.0.0.1:0", "--mapping", "ch-resp"] + options, in: folder)
        _ = try await board.journal.entry(where: ["change": "mqtt_connected"])
        return board
    }

    private static func bridge(_ maker: Maker, _ broker: HomeBroker) async throws -> ChildProcess {
        let bridge = try await maker.start(["bridge", broker.address, "--interval", "1s"])
        try await bridge.output(containing: "ready: ")
        return bridge
    }

    private func connections() throws -> Int { try board.journal.entries(where: ["change": "mqtt_connected"]).count }

    func restartOne(_ number: Int) async throws {
        switch Part.allCases[number % Part.allCases.count] {
        case .broker: try await broker.restart()
        case .bridge:
            bridge.signal(SIGKILL)
            _ = try await bridge.wait()
            bridge = try await Self.bridge(maker, broker)
        case .board:
            board.process.signal(SIGKILL)
            _ = try await board.process.wait()
            board = try await Self.board(boardOptions, in: folder)
            journals.append(board.journal)
            // It has forgotten its brightness.
            try await broker.state("\(Self.lamp)/state", contains: "\"brightness\":0,")
        case .cloud:
            let before = try connections()
            cloud.process.signal(SIGKILL)
            _ = try await cloud.process.wait()
            cloud = try await SimulatedCloud.start(arguments: place, in: folder)
            let end = ContinuousClock.now + .waitLimit
            while try connections() == before {
                try #require(ContinuousClock.now < end)
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        try await broker.state("rainkit/bridge/availability", contains: "online")
        try await broker.state("rainkit/nodelamp/availability", contains: "online")
    }

    /// Sets a brightness, and waits until the broker, and so Home Assistant, has what the cloud has.
    func set(_ number: Int) async throws {
        let percent = 1 + number % 99
        let shown = Int((Double(percent) / 100 * 255).rounded())
        commands += 1
        try await broker.publish("\(Self.lamp)/set", "{\"state\":\"ON\",\"brightness\":\(shown)}")
        try await broker.state("\(Self.lamp)/state", contains: "\"brightness\":\(shown),")
        let kept = try await maker.rainctl(["node", "params", "get", Self.node, "Lamp.Brightness"])
        #expect(kept.standardOutput == "\(percent)\n")
    }

    /// How many times the boards were set.
    func executed() throws -> Int {
        try journals.map { try $0.entries(where: ["change": "parameters_set"]).count }.reduce(0, +)
    }
}

@Suite("rainctl bridge and restarts")
struct BridgeRestartTests {
    @Test("broker, bridge, board and cloud are killed in any order, and every command is carried out once")
    func anyOrder() async throws {
        try await withTemporaryFolder { folder in
            let scene = try await RestartScene(in: folder)
            defer { scene.end() }
            var random = SeededGenerator(seed: 20_261_129)
            // Each part once, then in any order: 200 times in `make soak`.
            for round in 0..<(isSoak ? 200 : 8) {
                try await scene.restartOne(round < 4 ? round : Int.random(in: 0..<4, using: &random))
                try await scene.set(round)
            }
            #expect(try scene.executed() == scene.commands)
        }
    }
}
