// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON
import RainMaker

extension RainKitClient {
    /// Returns the nodes in the account, with their last reported values.
    public func nodes() async throws -> [Node] {
        try await RainKitError.rethrowing { () async throws(AccountError) in
            let nodes = try await cloud().nodes()
            rememberNames(nodes.map { RememberedNode($0) })
            return nodes
        }
    }

    /// Passes on all nodes of the account, and remembers their names if the configuration asks for that.
    func listNodes(
        tagged tags: [String] = [], _ take: (Node) throws(AccountError) -> Void
    ) async throws(AccountError) {
        var names: [RememberedNode] = []
        try await cloud().eachNode(tagged: tags) { node throws(AccountError) in
            if names.count < NodeNameFile.maximumNodes { names.append(RememberedNode(node)) }
            try take(node)
        }
        // A part of the nodes does not replace what is known of all.
        if tags.isEmpty { rememberNames(names) }
    }

    /// Passes on the nodes one by one while the cloud lists them, and keeps none: for accounts with thousands.
    ///
    /// - Parameters:
    ///   - tags: only nodes with one of these tags, each of the form `key:value`; empty for all nodes.
    ///   - take: called for each node. An error that it throws ends the listing, and is thrown unchanged.
    public func eachNode(tagged tags: [String] = [], _ take: (Node) throws -> Void) async throws {
        var failure: (any Error)?
        do throws(AccountError) {
            try await listNodes(tagged: tags) { node throws(AccountError) in
                do { try take(node) } catch {
                    failure = error
                    throw AccountError(.cancelled, message: "Cancelled.")
                }
            }
        } catch {
            throw failure ?? RainKitError(error)
        }
    }

    /// Returns the node with this id. Throws `rejected` if the account has no such node.
    public func node(_ id: NodeID) async throws -> Node {
        try await RainKitError.rethrowing { () async throws(AccountError) in try await cloud().node(id) }
    }

    /// Returns all calls of the account's cloud for its nodes: those of RainMaker, or of RainMaker Neo. Their errors are `AccountError`.
    ///
    /// - Throws: `unsupported` for an account of another identity system.
    public func rainMakerNodes() throws -> any NodeCloud {
        try RainKitError.rethrowing { () throws(AccountError) in try cloud() }
    }

    package func cloud() throws(AccountError) -> any NodeCloud {
        let account = try accountInUse()
        if let nodes = account.nodes { return nodes }
        throw AccountError(
            .unsupported, message: "\(account.name) has no list of boards; only RainMaker has one")
    }

    /// Sends a request to the account's cloud, and throws the client's own error.
    @discardableResult
    func asking<Answer>(
        _ question: (any NodeCloud) async throws(AccountError) -> Answer
    ) async throws(RainKitError) -> Answer {
        do throws(AccountError) { return try await question(try cloud()) } catch { throw RainKitError(error) }
    }
}

extension RainKitClient {
    /// Claims in place of a board that cannot do so itself: makes its key here, and has the cloud certify it.
    ///
    /// The credentials belong in the board's flash (`NodeCredentials.partitionRows`), and nowhere else. ``claimOverCable(_:report:)``
    /// claims and also writes them there. The same board gets the same node id each time, and a new certificate.
    ///
    /// - Parameter mac: the board's address as claim services write it: twelve hexadecimal digits, `7CDFA1000042`.
    /// - Throws: `notSignedIn`; `unsupported` for a deployment without a claim service; the service's refusals as `rejected`.
    public func claimForBoard(mac: String) async throws -> NodeCredentials {
        try await RainKitError.rethrowing { () async throws(AccountError) in try await claim(mac) }
    }

    func claim(_ mac: String) async throws(AccountError) -> NodeCredentials {
        let account = try accountInUse()
        guard let deployment = account.deployment, let nodes = account.nodes,
            let service = ClaimService(deployment, session: account.session)
        else {
            throw .withoutClaimService(account.name)
        }
        let hosts = try await nodes.nodeHosts()
        let board: JSONValue = ["mac_addr": .string(mac), "platform": "host"]
        let invitation = try await service.initiateClaim(board.serialized())
        let (key, request) = try Self.keyAndRequest(for: invitation.node)
        let application: JSONValue = ["csr": .string(request)]
        let reply = try await service.verifyClaim(application.serialized())
        let certificate = (try? JSONValue(parsing: reply))?["certificate"]?.string ?? ""
        return NodeCredentials(
            node: invitation.node, certificate: certificate, key: key, mqttHost: hosts.mqtt,
            credentialsHost: hosts.credentials,
            random: Secret(configuration.tools.randomBytes(NodeCredentials.randomBytes)))
    }

    private static func keyAndRequest(for node: NodeID) throws(AccountError) -> (key: Secret, request: String) {
        do {
            let key = try PrivateKey(generating: .p256)
            let request = try key.certificateRequest(commonName: Array(node.rawValue.utf8))
            return (Secret(key.pem), String(decoding: request, as: UTF8.self))
        } catch {
            throw AccountError(.unsupported, message: "the system could not create a key for the board")
        }
    }
}
