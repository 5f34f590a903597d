// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON
import RainMaker

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
