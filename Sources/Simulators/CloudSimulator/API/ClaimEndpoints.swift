// SPDX-License-Identifier: Apache-2.0
import RainCryptoOpenSSL
import RainJSON
import Synchronization

/// The claim service: a node id for a board, then a certificate for its key.
extension CloudAPI {
    /// A request for a certificate is about a kilobyte.
    static let maximumClaimBody = 16 << 10

    /// `POST claim/initiate`: the node id of that board.
    func initiateClaim(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let application: ClaimApplication
        do throws(ClaimRefusal) {
            application = try ClaimApplication(try claimBody(call))
        } catch {
            return refused(error, user)
        }
        let quota = options.claimQuota
        let assigned = try change { state in
            var claims = state.claims ?? ClaimTable()
            defer { state.claims = claims }
            return claims.node(
                of: application.macAddress, claimedBy: user.id, quota: quota, makeID: ClaimTable.newNodeID)
        }
        guard let node = assigned else { return refused(ClaimRefusal("Claim quota of the user is exceeded"), user) }
        journal.claim("initiated", user: user.userName, node: node)
        return Response(["node_id": .string(node)])
    }

    /// `POST claim/verify`: the certificate. From then on the node is known to the broker and to `mapping/verify`.
    func verifyClaim(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let body: Fields
        let request: CertificateRequest
        do throws(ClaimRefusal) {
            body = try claimBody(call)
            request = try CertificateRequest(pem: body.value["csr"]?.string ?? "")
            let isTheirs = readState { $0.claims?.isClaimed(request.commonName, by: user.id) ?? false }
            guard isTheirs else { throw ClaimRefusal("Node id of the CSR is invalid") }
        } catch {
            return refused(error, user)
        }
        let id = request.commonName
        let certificate: String
        do throws(SimulatorError) {
            certificate = String(decoding: try keys.certificate(for: request.key, node: id), as: UTF8.self)
        } catch {
            throw APIError(error)
        }
        let kind: Node.KeyKind = request.isElliptic ? .p256 : .rsa
        try change { state in
            var node = state.nodes[id] ?? Node(id: id, keyKind: kind, certificate: certificate)
            (node.keyKind, node.certificate) = (kind, certificate)
            state.nodes[id] = node
        }
        journal.claim("verified", user: user.userName, node: id)
        var members: [JSONValue.Member] = [.init("certificate", .string(certificate))]
        if body.value["send_mqtt_host"]?.bool == true {
            members += mqttHosts
        }
        return Response(.object(members))
    }

    private func claimBody(_ call: Call) throws(ClaimRefusal) -> Fields {
        guard call.request.body.count <= Self.maximumClaimBody, let body = try? call.body() else {
            throw ClaimRefusal("Request body is invalid")
        }
        return body
    }

    private func refused(_ refusal: ClaimRefusal, _ user: User) -> Response {
        journal.claim("refused", user: user.userName, reason: refusal.description)
        return refusal.response
    }
}
