// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

/// The options for asking a board directly over this machine's network, instead of the cloud.
struct LocalOptions: ParsableArguments {
    @Flag(help: "Ask the board itself over this machine's network, even without the internet.")
    var local = false

    @Option(
        help: ArgumentHelp(
            "Connect to this address if the board is not found by its name (--local).", valueName: "host[:port]"))
    var host: String?

    @Option(
        help: ArgumentHelp(
            "Read the proof of possession from a file (--local) (default: ask the cloud for it).",
            valueName: "file"), completion: .file())
    var popFile: String?

    @Option(
        name: .customLong("sec-ver"),
        help: ArgumentHelp("Require this security scheme: 0, 1 or 2 (--local).", valueName: "version"))
    var securityVersion: Int?

    @Option(help: ArgumentHelp("Use this user name of Security 2 (--local).", valueName: "name"))
    var username: String?

    func validate() throws {
        guard local || host == nil && popFile == nil && securityVersion == nil && username == nil else {
            throw ValidationError("--host, --pop-file, --sec-ver and --username need --local.")
        }
        if let securityVersion, !(0...2).contains(securityVersion) {
            throw ValidationError("--sec-ver must be 0, 1 or 2.")
        }
    }
}

extension LocalOptions {
    /// Opens a session with a node on this machine's network and passes it to `body`.
    func session<Answer: Sendable>(
        with name: String, _ context: Context, _ time: TimeBudget,
        _ body: @escaping @Sendable (LocalNode) async throws -> Answer
    ) async throws -> Answer {
        var wanted = LocalNodeOptions(host: host, securityVersion: securityVersion, username: username)
        if let popFile {
            wanted.proof = ProofOfPossession(
                try SecretSource.contents(of: popFile, name: "proof of possession", within: time.left))
        }
        let account = try? context.rainMakerClient()
        wanted.asksCloud = account != nil
        let (options, client) = (wanted, account ?? context.boardClient())
        return try await time.run { try await client.withLocalNode(name, options, within: time.left, body) }
    }
}
