// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainAccount
import RainCore
import RainIO
import RainJSON
import RainMaker

/// How to reach the local control of a node on this machine's network.
public struct LocalNodeOptions: Sendable {
    /// The node's address, with or without `:PORT`; nil to find it by what it announces.
    public var host: String?
    /// The proof of possession of local control; nil to ask the cloud for it. Firmware makes it, and it is not the one on the label.
    public var proof: ProofOfPossession?
    /// The only security scheme to accept: 0, 1 or 2; nil for the node's own.
    public var securityVersion: Int?
    /// The user name of Security 2; nil for the usual one.
    public var username: String?

    /// Whether the cloud may be asked for the proof of possession. It is asked only if no proof is given.
    public var asksCloud: Bool

    public init(
        host: String? = nil, proof: ProofOfPossession? = nil, securityVersion: Int? = nil, username: String? = nil,
        asksCloud: Bool = true
    ) {
        self.host = host
        self.asksCloud = asksCloud
        self.proof = proof
        self.securityVersion = securityVersion
        self.username = username
    }
}

/// A node that is asked directly, in a secured session and without the cloud: on this machine's network (ESP-IDF's `esp_local_ctrl`), or
/// while it is provisioned.
public struct LocalNode: Sendable {
    /// The id that the node gives itself. It is the name that the caller gave if the node does not give one.
    public let nodeID: NodeID
    /// The node's description of itself; nil if it lists no devices.
    public let configuration: NodeConfiguration?
    /// The values when the session began: `{"Light":{"Power":true}}`.
    public let values: JSONValue
    private let write: @Sendable ([UInt8]) async throws(BoardError) -> Void
    private let read: @Sendable () async throws(BoardError) -> [UInt8]

    fileprivate init(onNetwork board: any Board, name: String, host: String?) async throws {
        let control = LocalControl(board)
        let properties = try await control.properties()
        guard let configuration = properties.first(where: { $0.name == "config" }),
            let parameters = properties.first(where: { $0.name == "params" }),
            let json = try? JSONValue(parsing: configuration.value)
        else {
            throw RainKitError(
                .request(.unavailable, reason: "not_rain_maker"),
                message: "\(board.peer.onOneLine) has local control, but it is not a RainMaker node.")
        }
        guard let values = try? JSONValue(parsing: parameters.value) else {
            throw RainKitError(
                .request(.badData, reason: "bad_data"),
                message: "The values that \(board.peer.onOneLine) reports cannot be read.")
        }
        write = { (bytes) async throws(BoardError) in try await control.set(parameters, to: bytes) }
        read = { () async throws(BoardError) in try await control.property("params").value }
        self.values = values
        self.configuration = NodeConfiguration(json)
        nodeID = NodeID(json["node_id"]?.string ?? name)
        if let host { try check(isNamed: name, at: host, info: json) }
    }

    /// Reads the node of a board that is being provisioned, over an open session (rmaker_extra's `local_ctrl`).
    ///
    /// - Throws: `RainKitError`: `unsupported` for firmware without these endpoints; `bad_data` for an answer that is not JSON.
    public init(provisioning board: any Board) async throws {
        do throws(BoardError) {
            let identity = try await board.identify()
            guard !identity.speaksImprov else {
                throw BoardError(
                    .unsupported,
                    message:
                        "The board at \(board.peer.onOneLine) does not report its values over this connection: it speaks Improv, which has no "
                        + "endpoints.", remedies: [.nodeInAccount])
            }
            guard identity.capabilities.contains(NodeData.capability) else {
                throw BoardError(
                    .unsupported,
                    message:
                        "\(board.peer.onOneLine) does not report its values during provisioning: its firmware was probably built without "
                        + "local control (local_ctrl of rmaker_extra).", remedies: [.nodeInAccount])
            }
            try await board.secure()
            let data = NodeData(board)
            let given = try await data.configuration()
            guard let json = try? JSONValue(parsing: given),
                let values = try? JSONValue(parsing: try await data.parameters()), values.members != nil
            else {
                throw BoardError(
                    .malformed, message: "The board's description is not JSON.", reason: "bad_data")
            }
            configuration = NodeConfiguration(json)
            self.values = values
            nodeID = NodeID(json["node_id"]?.string ?? board.peer)
            write = { (bytes) async throws(BoardError) in try await data.setParameters(bytes) }
            read = { () async throws(BoardError) in try await data.parameters() }
        } catch {
            throw RainKitError(error)
        }
    }

    /// An address does not show which node answers there: the network may have given it to another one since.
    private func check(isNamed name: String, at host: String, info: JSONValue) throws(RainKitError) {
        let given = (configuration?.components ?? []).flatMap { component in
            component.parameters.filter { $0.type == "esp.param.name" }
                .compactMap { values[component.name]?[$0.name]?.string }
        }
        let names = given + [info["info"]?["name"]?.string].compactMap(\.self)
        guard nodeID.rawValue != name, !names.contains(where: { $0.lowercased() == name.lowercased() }) else { return }
        throw RainKitError(
            .request(.badData, reason: "other_node"),
            message: "\(host.onOneLine) is \(nodeID.rawValue.onOneLine), not \(name.onOneLine): check the address.")
    }

    /// Sets values, and reads back what the node has then.
    ///
    /// - Parameter changes: makes the changes from the node's configuration. They are checked before anything is sent.
    /// - Throws: `RainKitError`: the codes of `ParameterError`; `rejected` for values that the node does not take.
    public func set(
        _ changes: (NodeConfiguration) throws(ParameterError) -> [ParameterChange]
    ) async throws -> ParameterSetOutcome {
        let wanted: [ParameterChange]
        do throws(ParameterError) {
            guard let configuration else {
                throw ParameterError(.noConfiguration, message: "The board has not reported its devices.")
            }
            wanted = try configuration.checked(try changes(configuration))
        } catch {
            throw RainKitError(error, at: nodeID.rawValue)
        }
        do throws(BoardError) {
            try await write(wanted.json.serialized())
            var outcome = ParameterSetOutcome(node: nodeID)
            outcome.leaveOut(wanted.unreported(by: configuration), of: wanted)
            // A node that restarts now cannot be asked.
            guard !outcome.isSentOnly else { return outcome }
            let now = try await read()
            guard let values = try? JSONValue(parsing: now) else {
                throw BoardError(
                    .malformed,
                    message:
                        "\(nodeID.rawValue.onOneLine) has accepted the values, but its report of the values cannot be read.",
                    reason: "bad_data")
            }
            let reported = wanted.reported(by: configuration)
            outcome.isReported = ParameterSetter.holds(reported, in: values)
            outcome.seen = ParameterSetter.others(reported, in: values, configuration)
            return outcome
        } catch {
            throw RainKitError(error)
        }
    }
}

extension RainKitError {
    fileprivate static var noLocalControlOfNeo: RainKitError {
        RainKitError(
            AccountError(
                .unsupported,
                message:
                    "RainKit does not support local control of RainMaker Neo yet, because Neo boards answer differently from RainMaker "
                    + "boards. Use the cloud instead"))
    }
}

extension RainKitClient {
    /// Opens a session with a node on this machine's network, hands it to `body`, and closes it. The cloud is asked only for the proof of
    /// possession, and only if none is given.
    ///
    /// - Parameters:
    ///   - name: the node id, or the name that the node announces.
    ///   - limit: how long finding and opening may take.
    /// - Throws: `RainKitError`: `not_found` if no such node announces itself; `other_node` if another node answers at the host;
    ///   `wrong_proof_of_possession`; `not_rain_maker`; `unsupported` at a deployment of RainMaker Neo, before anything is searched.
    public func withLocalNode<Answer: Sendable>(
        _ name: String, _ options: LocalNodeOptions = LocalNodeOptions(), within limit: Duration,
        _ body: @Sendable (LocalNode) async throws -> Answer
    ) async throws -> Answer {
        guard configuration.deployment.neo == nil else { throw RainKitError.noLocalControlOfNeo }
        let proof = await localProof(of: name, options, within: min(limit / 3, .seconds(5)))
        let credentials = BoardCredentials(
            proof: proof.value, username: options.username ?? BoardCredentials.defaultUsername,
            securityVersion: options.securityVersion)
        let board = try await openLocalControl(name, at: options.host, credentials, within: limit)
        do {
            _ = try await board.identify()
            try await board.secure()
            let answer = try await body(try await LocalNode(onNetwork: board, name: name, host: options.host))
            await board.close()
            return answer
        } catch {
            await board.close()
            guard let error = error as? BoardError else { throw RainKitError(wrapping: error) }
            throw RainKitError(
                error.isAboutLocalProof
                    ? error.aboutLocalProof(of: name, proof) : error.withLocalHost)
        }
    }

    private func openLocalControl(
        _ name: String, at host: String?, _ credentials: BoardCredentials, within limit: Duration
    ) async throws(RainKitError) -> any Board {
        do throws(BoardError) {
            return try await locateBoard(
                .localControl(host, name: host == nil ? name : nil), with: credentials, within: limit
            ).open()
        } catch {
            var error = error.withLocalHost
            let shown = name.onOneLine
            switch error.reason {
            case "not_found":
                error.message =
                    "No board \(shown) announces local control on this machine's network. Check that the board is powered and on this "
                    + "network, and that its firmware has local control."
                error.remedies = [.localHost]
            case "several_boards":
                error.message = "Several boards on the network are called \(shown): use a node id."
                error.remedies = [.localHost]
            default: break
            }
            throw RainKitError(error)
        }
    }

    /// The proof that is given, or the one that the node has reported to the cloud. `isUnknown` if the cloud was asked and has none.
    private func localProof(
        of name: String, _ options: LocalNodeOptions, within limit: Duration
    ) async -> LocalProof {
        if options.proof != nil || options.securityVersion == 0 || !options.asksCloud {
            return LocalProof(value: options.proof)
        }
        let timer = configuration.tools.timer
        let outcome = await withDeadline(limit, sleep: { try await timer.sleep(for: $0) }) {
            try await self.node(named: name)
        }
        guard case .success(let node)? = outcome else {
            // Nobody is signed in, or there is no internet. The node itself says whether it wants a proof.
            configuration.logger.debug("the proof of possession of local control could not be read from the cloud")
            var isAbsent = false
            if case .failure(let error)? = outcome { isAbsent = (error as? RainKitError)?.reason == "no_such_node" }
            return LocalProof(isUnknown: isAbsent, isOfNoBoard: isAbsent)
        }
        let proof = node.localProof
        return LocalProof(value: proof.map { ProofOfPossession(Secret($0)) }, isUnknown: proof == nil)
    }
}

/// What is known about the proof of possession for a node's local control.
private struct LocalProof {
    var value: ProofOfPossession?
    /// Whether the cloud was asked and does not have it.
    var isUnknown = false
    /// Whether the account has no board of that name.
    var isOfNoBoard = false
}

extension BoardError {
    /// The same error with the remedy that fits local control.
    fileprivate var withLocalHost: BoardError {
        guard remedies.contains(.host) else { return self }
        var error = self
        error.remedies.removeAll { $0 == .host }
        error.remedies.append(.localHost)
        return error
    }

    fileprivate var isAboutLocalProof: Bool {
        code == .wrongProofOfPossession || remedies.contains(.proofOfPossession)
    }

    fileprivate func aboutLocalProof(of name: String, _ proof: LocalProof) -> BoardError {
        var error = self
        if proof.isOfNoBoard, code != .wrongProofOfPossession {
            error.message =
                "There is no board \(name.asGiven) in your account, so the proof of possession for its local control is not known."
            error.remedies = [.localProof(isInCloud: false), .knownNode]
            return error
        }
        error.message =
            (code == .wrongProofOfPossession
                ? "The board refused the proof of possession for its local control."
                : "The board's local control requires a proof of possession, but no proof is known.")
            + " The firmware makes this proof, so it differs from the proof on the label."
            + (proof.isUnknown && !proof.isOfNoBoard
                ? " \(name.onOneLine) has not reported this proof to the cloud, so the proof is known only to the firmware."
                : "")
        error.remedies = [.localProof(isInCloud: !proof.isUnknown)]
        return error
    }
}

extension Node {
    /// The proof that the node has reported to the cloud for clients of its local control (`esp.param.local_control_pop`).
    var localProof: String? {
        let services = NodeConfiguration(configuration)?.components ?? []
        guard let service = services.first(where: { $0.type == "esp.service.local_control" }),
            let parameter = service.parameters.first(where: { $0.type == "esp.param.local_control_pop" }),
            let proof = parameters?[service.name]?[parameter.name]?.string, !proof.isEmpty
        else { return nil }
        return proof
    }
}
