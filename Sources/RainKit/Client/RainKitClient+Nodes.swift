// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON
import RainMaker

extension RainKitClient {
    /// The boards in the account, with what they last reported.
    public func nodes() async throws(AccountError) -> [Node] { try await rainMakerNodes().nodes() }

    /// Hands them on one by one while the cloud lists them, and holds none: for accounts with thousands.
    public func eachNode(_ take: (Node) throws(AccountError) -> Void) async throws(AccountError) {
        try await rainMakerNodes().eachNode(take)
    }

    /// One board of the account. Throws `rejected` if there is no such board.
    public func node(_ id: NodeID) async throws(AccountError) -> Node { try await rainMakerNodes().node(id) }

    /// All that can be asked of RainMaker's cloud about the boards in the account.
    /// - Throws: `unsupported` for an account of another identity system.
    public func rainMakerNodes() throws(AccountError) -> RainMakerCloud {
        let account = try account()
        if let nodes = account.nodes { return nodes }
        throw AccountError(
            .unsupported, message: "\(account.name) keeps no list of boards; RainMaker does")
    }
}

extension RainKitClient {
    /// Claims in the place of a board that cannot do so itself: makes its key here, and has the cloud certify it.
    ///
    /// What comes back belongs into the board's flash (`NodeCredentials.partitionRows`), and nowhere else. The same board gets the
    /// same node id each time, and a new certificate.
    ///
    /// - Parameter mac: the board's address as claim services write it: twelve hexadecimal digits, `7CDFA1000042`.
    /// - Throws: `notSignedIn`; `unsupported` for a deployment without a claim service; the service's refusals as `rejected`.
    public func claimForBoard(mac: String) async throws(AccountError) -> NodeCredentials {
        let account = try account()
        guard let deployment = account.deployment, let nodes = account.nodes,
            let service = ClaimService(deployment, session: account.session)
        else {
            throw AccountError(
                .unsupported, message: "\(account.name) has no claim service, so boards cannot be claimed there")
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
            throw AccountError(.unsupported, message: "no key could be made for the board")
        }
    }
}
