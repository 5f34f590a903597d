// SPDX-License-Identifier: Apache-2.0
import RainCore
import CRainOpenSSL
import RainCrypto
import RainCryptoOpenSSL
import RainJSON
import Synchronization

/// The claim service: a node id for a board, then a certificate for its key.
extension CloudAPI {
    /// A request for a certificate is about a kilobyte.
    private static let maximumClaimBody = 16 << 10

    /// `POST claim/initiate` returns the node id of that board.
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

    /// `POST claim/verify` returns the certificate. From then on the broker and `mapping/verify` know the node.
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

/// The data of a board that the client passes to `claim/initiate`.
private struct ClaimApplication: Equatable {
    /// Twelve upper-case hex digits.
    var macAddress: String
    var platform: String

    /// The chips that can be claimed, and `host` for a program that claims for a board.
    static let platforms: Set<String> = [
        "host", "esp32", "esp32s2", "esp32s3", "esp32c2", "esp32c3", "esp32c5", "esp32c6", "esp32c61", "esp32h2",
        "esp32p4",
    ]

    init(_ fields: Fields) throws(ClaimRefusal) {
        let (mac, platform) = (fields.value["mac_addr"]?.string ?? "", fields.value["platform"]?.string ?? "")
        guard mac.utf8.count == 12, mac.utf8.allSatisfy({ Hex.value(of: $0) != nil && !(0x61...0x66).contains($0) })
        else {
            throw ClaimRefusal("MAC address is invalid")
        }
        guard Self.platforms.contains(platform) else { throw ClaimRefusal("Platform is invalid") }
        (macAddress, self.platform) = (mac, platform)
    }
}

/// A refusal of the claim service. It has no error codes.
private struct ClaimRefusal: Error, Equatable {
    var description: String
    init(_ description: String) { self.description = description }

    var response: Response {
        Response(status: 400, ["status": "failure", "description": .string(description)])
    }
}

/// The node ids of claimed boards. The same user always gets the same id for the same board; another user gets another id.
struct ClaimTable: Codable, Sendable, Equatable {
    /// By user, then by MAC address.
    private var nodes: [String: [String: String]] = [:]

    /// Returns the node id; nil if the user has claimed as many nodes as allowed.
    ///
    /// - Parameter makeID: makes a new id.
    fileprivate mutating func node(
        of macAddress: String, claimedBy userID: String, quota: Int, makeID: () -> String
    ) -> String? {
        if let known = nodes[userID]?[macAddress] { return known }
        guard nodes[userID]?.count ?? 0 < quota else { return nil }
        let id = makeID()
        nodes[userID, default: [:]][macAddress] = id
        return id
    }

    func isClaimed(_ nodeID: String) -> Bool { nodes.values.contains { $0.values.contains(nodeID) } }
    fileprivate func isClaimed(_ nodeID: String, by userID: String) -> Bool {
        nodes[userID]?.values.contains(nodeID) ?? false
    }

    /// 22 characters, like the ids of private deployments.
    fileprivate static func newNodeID() -> String {
        var random = OpenSSLRandom()
        let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
        return String(random.bytes(22).map { alphabet[Int($0) % alphabet.count] })
    }
}

/// A PKCS #10 request that is signed with its own key.
private struct CertificateRequest {
    var commonName: String
    var key: PublicKey
    var isElliptic: Bool

    /// More than any P-256 or RSA-2048 request needs.
    static let maximumBytes = 4096

    init(pem: String) throws(ClaimRefusal) {
        let malformed = ClaimRefusal("CSR is invalid")
        let text = Array(pem.utf8)
        guard text.count <= Self.maximumBytes else { throw malformed }
        defer { ERR_clear_error() }
        guard let input = BIO_new_mem_buf(text, Int32(text.count)) else { throw malformed }
        defer { BIO_free(input) }
        guard let request = PEM_read_bio_X509_REQ(input, nil, refusePassword, nil) else { throw malformed }
        defer { X509_REQ_free(request) }
        guard let key = X509_REQ_get0_pubkey(request), X509_REQ_verify(request, key) == 1 else { throw malformed }
        switch (EVP_PKEY_get_base_id(key), EVP_PKEY_get_bits(key)) {
        case (EVP_PKEY_EC, 256): isElliptic = true
        case (EVP_PKEY_RSA, 2048...4096): isElliptic = false
        default: throw ClaimRefusal("Key of the CSR is invalid")
        }
        var name = [CChar](repeating: 0, count: 128)
        let length = X509_NAME_get_text_by_NID(
            X509_REQ_get_subject_name(request), NID_commonName, &name, Int32(name.count))
        guard length > 0 else { throw malformed }
        commonName = String(decoding: name.prefix(Int(length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let publicKey = Self.publicKey(of: key) else { throw malformed }
        self.key = publicKey
    }

    private static func publicKey(of key: OpaquePointer) -> PublicKey? {
        guard let output = BIO_new(BIO_s_mem()) else { return nil }
        defer { BIO_free(output) }
        guard PEM_write_bio_PUBKEY(output, key) == 1 else { return nil }
        let pem = [UInt8](unsafeUninitializedCapacity: BIO_ctrl_pending(output)) { buffer, count in
            count = max(0, Int(BIO_read(output, buffer.baseAddress, Int32(buffer.count))))
        }
        return try? PublicKey(pem: pem)
    }
}
