// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

/// The options for asking a board directly over this machine's network, instead of the cloud.
struct LocalOptions: ParsableArguments {
    @Flag(help: "Talk to the board directly over this machine's network. This works without internet access.")
    var local = false

    @Flag(help: "First try to reach the board directly. If this fails, use the cloud.")
    var auto = false

    @Option(
        help: ArgumentHelp(
            "Connect to this address, and do not search for the board by its name (with --local or --auto).",
            valueName: "host[:port]"))
    var host: String?

    @Option(
        help: ArgumentHelp(
            "Read the proof of possession from a file (with --local or --auto). Without this option, rainctl gets the proof "
                + "from the cloud, if the board needs one. That requires internet access.",
            valueName: "file"), completion: .file())
    var popFile: String?

    @Option(
        name: .customLong("sec-ver"),
        help: ArgumentHelp("Require this security scheme: 0, 1 or 2 (with --local or --auto).", valueName: "version"))
    var securityVersion: Int?

    @Option(help: ArgumentHelp("Use this user name for security scheme 2 (with --local or --auto).", valueName: "name"))
    var username: String?

    func validate() throws {
        if local, auto { throw ValidationError("Give --local or --auto, but not both.") }
        guard isWanted || host == nil && popFile == nil && securityVersion == nil && username == nil else {
            throw ValidationError("--host, --pop-file, --sec-ver and --username need --local or --auto.")
        }
        if let securityVersion, !(0...2).contains(securityVersion) {
            throw ValidationError("--sec-ver must be 0, 1 or 2.")
        }
    }
}

extension LocalOptions {
    /// Whether the board itself is asked, at least first.
    var isWanted: Bool { local || auto }

    /// Returns how a change reaches boards.
    func route(within time: TimeBudget) throws(CommandFailure) -> NodeRoute {
        guard isWanted else { return .cloud }
        let node = try node(within: time)
        return local ? .local(node) : .localThenCloud(node)
    }

    private func node(within time: TimeBudget) throws(CommandFailure) -> LocalNodeOptions {
        var wanted = LocalNodeOptions(host: host, securityVersion: securityVersion, username: username)
        if let popFile {
            wanted.proof = ProofOfPossession(
                try SecretSource.contents(of: popFile, name: "proof of possession", within: time.left))
        }
        return wanted
    }

    /// Opens a session with a node on this machine's network and passes it to `body`.
    func session<Answer: Sendable>(
        with name: String, _ context: Context, _ time: TimeBudget,
        _ body: @escaping @Sendable (LocalNode) async throws -> Answer
    ) async throws -> Answer {
        var wanted = try node(within: time)
        let account = try? context.rainMakerClient()
        wanted.asksCloud = account != nil
        let (options, client) = (wanted, account ?? context.boardClient())
        let limit = auto ? min(.seconds(3), time.left / 3) : time.left
        return try await time.run { try await client.withLocalNode(name, options, within: limit, body) }
    }

    /// Does the work at the board itself, or by the cloud. With `--auto`, the cloud does it if the board is not reached.
    func run(locally: () async throws -> Void, byCloud: () async throws -> Void) async throws {
        guard isWanted else { return try await byCloud() }
        do {
            return try await locally()
        } catch let error as RainKitError where auto && error.mayBeReachedByCloud && !Task.isCancelled {
            try await byCloud()
        }
    }
}
