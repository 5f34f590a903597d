// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Boards that are online in an account, and the people around them.
struct OnlineBoards: Sendable {
    static let friend = "friend@example.com"

    let cloud: SimulatedCloud
    let maker: Maker
    let boards: [SimulatedBoard]

    /// - Parameters:
    ///   - nodes: their ids.
    ///   - options: of each board.
    ///   - cloud: more options of the cloud.
    static func with(
        _ nodes: [String] = ["nodelight"], options: [String] = [], cloud cloudOptions: [String] = [],
        _ body: (OnlineBoards) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(
                nodes: nodes, arguments: ["--user", "\(friend):\(SimulatedCloud.password)"] + cloudOptions,
                in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            var boards: [SimulatedBoard] = []
            for node in nodes {
                let board = try await SimulatedBoard.start(
                    ["--http", "127.0.0.1:0", "--security", "1", "--mapping", "user", "--join-delay", "0.2"] + options
                        + cloud.boardOptions(node: node), in: folder)
                let outcome = try await maker.provision(board, ["--json"])
                #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
                for what in ["config", "params"] {
                    _ = try await cloud.journal.entry(where: [
                        "event": "node", "what": .string(what), "node": .string(node),
                    ])
                }
                boards.append(board)
            }
            try await body(OnlineBoards(cloud: cloud, maker: maker, boards: boards))
        }
    }

    func rainctl(_ arguments: String...) async throws -> Maker.Outcome { try await maker.rainctl(arguments) }

    /// The same, which is to succeed.
    @discardableResult
    func done(
        _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Maker.Outcome {
        let outcome = try await maker.rainctl(arguments)
        #expect(
            outcome.status == 0, "\(arguments): \(outcome.standardOutput)\(outcome.standardError)",
            sourceLocation: sourceLocation)
        return outcome
    }

    /// As the other user.
    @discardableResult
    func asFriend(
        _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Maker.Outcome {
        let folder = maker.folder
        let home = ["XDG_STATE_HOME": folder.file("friend-state"), "XDG_CONFIG_HOME": folder.file("friend-config")]
        if (try? folder.read("friend-config/rainkit/deployments.json")) == nil {
            for setUp in [
                ["profile", "add", "sim", "--base-url", cloud.api], ["profile", "use", "sim"],
                ["login", Self.friend, "--password-file", folder.file("password")],
            ] {
                let outcome = try await maker.rainctl(setUp, environment: home)
                #expect(outcome.status == 0, "\(outcome.standardError)", sourceLocation: sourceLocation)
            }
        }
        return try await maker.rainctl(arguments, environment: home)
    }

    /// A value, once it is so.
    func value(_ path: String, of node: String = "nodelight", becomes wanted: String) async throws -> Bool {
        let end = ContinuousClock.now + .waitLimit
        while ContinuousClock.now < end {
            if try await rainctl("node", "params", "get", node, path).standardOutput == wanted + "\n" { return true }
            try await Task.sleep(for: .milliseconds(50))
        }
        return false
    }
}
