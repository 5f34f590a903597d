// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Logging
import RainCore
import RainJSON
import RainKit

/// Whether a board is asked itself, over this machine's network, in place of the cloud.
struct LocalOptions: ParsableArguments {
    @Flag(help: "Ask the board itself, over this machine's network: also without the internet.")
    var local = false

    @Option(
        help: ArgumentHelp("Where the board is, if it is not found by its name (--local).", valueName: "host[:port]"))
    var host: String?

    @Option(
        help: ArgumentHelp(
            "Read the proof of possession from a file (--local); the cloud is asked for it unless given.",
            valueName: "file"), completion: .file())
    var popFile: String?

    @Option(
        name: .customLong("sec-ver"),
        help: ArgumentHelp("Insist on this security scheme: 0, 1 or 2 (--local).", valueName: "version"))
    var securityVersion: Int?

    @Option(help: ArgumentHelp("The user name of Security 2 (--local).", valueName: "name"))
    var username: String?

    func validate() throws {
        guard local || host == nil && popFile == nil && securityVersion == nil && username == nil else {
            throw ValidationError("--host, --pop-file, --sec-ver and --username go with --local.")
        }
        if let securityVersion, !(0...2).contains(securityVersion) { throw ValidationError("--sec-ver is 0, 1 or 2.") }
    }
}

/// A node that is asked over this machine's network.
struct LocalNode {
    private let context: Context
    private let options: LocalOptions
    private let name: String
    private let time: TimeBudget

    init(_ name: String, _ options: LocalOptions, _ context: Context, _ time: TimeBudget) {
        self.name = name
        self.options = options
        self.context = context
        self.time = time
    }

    /// What the node has, and what may be done with it while the session stands.
    struct Session: Sendable {
        let control: LocalControl
        let configuration: JSONValue
        let parameters: LocalControl.Property
        let values: JSONValue
        /// As the node names itself; what the user typed where it does not.
        let nodeID: String

        /// The node as the cloud would describe it.
        var described: NodeConfiguration? { NodeConfiguration(configuration) }

        /// An address says nothing of which board answers there: it may have been given to another one since.
        fileprivate func check(isNamed name: String, at host: String) throws(CommandFailure) {
            let given = (described?.components ?? []).flatMap { component in
                component.parameters.filter { $0.type == "esp.param.name" }
                    .compactMap { values[component.name]?[$0.name]?.string }
            }
            let names = given + [configuration["info"]?["name"]?.string].compactMap(\.self)
            guard nodeID != name, !names.contains(where: { $0.lowercased() == name.lowercased() }) else { return }
            throw CommandFailure(
                .badData, reason: "other_node",
                message: "\(host.onOneLine) is \(nodeID.onOneLine), not \(name.onOneLine): check the address.")
        }
    }

    /// Opens a session with the node, and ends it.
    func session<Answer: Sendable>(
        _ body: @escaping @Sendable (Session) async throws -> Answer
    ) async throws -> Answer {
        let (credentials, isUntold) = try await credentials()
        let kit = context.boardClient()
        let (name, host) = (name, options.host)
        return try await time.run { [time] in
            let board = try await Self.open(kit, name, at: host, credentials, time)
            do {
                _ = try await board.identify()
                try await board.secure()
                let control = LocalControl(board)
                let properties = try await control.properties()
                guard let configuration = properties.first(where: { $0.name == "config" }),
                    let parameters = properties.first(where: { $0.name == "params" }),
                    let json = try? JSONValue(parsing: configuration.value)
                else {
                    throw CommandFailure(
                        .unavailable, reason: "not_rain_maker",
                        message: "\(board.peer.onOneLine) has local control, and is no RainMaker node.")
                }
                guard let values = try? JSONValue(parsing: parameters.value) else {
                    throw CommandFailure(
                        .badData, message: "\(board.peer.onOneLine) tells its values, and they cannot be read.")
                }
                let session = Session(
                    control: control, configuration: json, parameters: parameters, values: values,
                    nodeID: json["node_id"]?.string ?? name)
                if let host { try session.check(isNamed: name, at: host) }
                let answer = try await body(session)
                await board.close()
                return answer
            } catch {
                await board.close()
                if let failure = proofFailure(error, isUntold: isUntold) { throw failure }
                if let error = error as? ProvisioningError { throw Self.failure(error) }
                throw error
            }
        }
    }

    /// The proof of local control is not the one on the board's label: the firmware makes it and tells the cloud, and counts no wrong ones.
    /// - Parameter isUntold: whether the cloud was asked for it, and has none.
    private func proofFailure(_ error: any Error, isUntold: Bool) -> CommandFailure? {
        guard let error = error as? ProvisioningError,
            error.code == .wrongProofOfPossession || error.remedies.contains(.proofOfPossession)
        else { return nil }
        var failure = CommandFailure(error)
        failure.message =
            (error.code == .wrongProofOfPossession
                ? "The board refused the proof of possession of its local control."
                : "The board's local control wants a proof of possession, and none is known.")
            + " The firmware makes it, and it is not the one on the label: "
            + (isUntold
                ? "\(name.onOneLine) has not told the cloud one, so it has to be known from the firmware: give it with --pop-file FILE."
                : "sign in, so that the cloud is asked for it, or ask where you are signed in with rainctl node params get NODE "
                    + "\"Local Control.POP\", and give it with --pop-file.")
        return failure
    }

    /// The same error with the option for the address that these commands have.
    private static func failure(_ error: ProvisioningError) -> CommandFailure {
        guard error.remedies.contains(.host) else { return CommandFailure(error) }
        var own = error
        own.remedies.removeAll { $0 == .host }
        var failure = CommandFailure(own)
        failure.message += " Give the address with --host HOST or HOST:PORT."
        return failure
    }

    private static func open(
        _ kit: RainKitClient, _ name: String, at host: String?, _ credentials: BoardCredentials, _ time: TimeBudget
    ) async throws(CommandFailure) -> any Board {
        do throws(ProvisioningError) {
            return try await kit.open(
                .localControl(host, name: host == nil ? name : nil), with: credentials, within: time.left)
        } catch {
            var failure = Self.failure(error)
            let shown = name.onOneLine
            switch failure.reason {
            case "not_found":
                failure.message =
                    "No board \(shown) announces local control on this machine's network: check that it is powered, on this network, and that its "
                    + "firmware has it; or say where it is with --host."
            case "several_boards":
                failure.message = "Several boards on the network are called \(shown): use a node id, or --host."
            case "no_avahi", "no_bus", "not_allowed":
                failure.message = "\(error.message) Say where it is with --host."
            default: break
            }
            throw failure
        }
    }

    /// The proof of possession that is given; or the one that the node has told the cloud, where the cloud can be asked. And whether it was
    /// asked and has none.
    private func credentials() async throws -> (BoardCredentials, isUntold: Bool) {
        var proof: Secret?
        var isUntold = false
        if let file = options.popFile {
            proof = try SecretSource.contents(of: file, name: "proof of possession", within: time.left)
        } else if options.securityVersion != 0 {
            (proof, isUntold) = await proofFromCloud()
        }
        return (
            BoardCredentials(
                proof: proof.map { ProofOfPossession($0) },
                username: options.username ?? BoardCredentials.defaultUsername,
                securityVersion: options.securityVersion), isUntold
        )
    }

    private func proofFromCloud() async -> (Secret?, isUntold: Bool) {
        do {
            let choice = NodeChoice(client: try context.rainMakerClient())
            let name = name
            let node = try await withTimeout(min(time.left / 3, .seconds(5))) { try await choice.node(name) }
            let proof = node.localProof.map { Secret($0) }
            return (proof, proof == nil)
        } catch {
            // Not signed in, or no internet: the board says itself whether it wants one.
            context.logger.debug("the cloud was not asked for the proof of possession: \(CommandFailure(error).reason)")
            return (nil, false)
        }
    }
}

extension Node {
    /// What the node has told the cloud for clients of its local control (`esp.param.local_control_pop`).
    fileprivate var localProof: String? {
        let services = NodeConfiguration(configuration)?.components ?? []
        guard let service = services.first(where: { $0.type == "esp.service.local_control" }),
            let parameter = service.parameters.first(where: { $0.type == "esp.param.local_control_pop" }),
            let proof = parameters?[service.name]?[parameter.name]?.string, !proof.isEmpty
        else { return nil }
        return proof
    }
}
