// SPDX-License-Identifier: Apache-2.0
import RainCryptoOpenSSL

/// The keys and certificates of the simulated cloud, kept in its data folder.
struct KeyRing: Sendable {
    /// The broker's log names clients by their certificates; no node can have this name.
    static let listenerName = "cloud-sim:listener"

    private let folder: DataFolder
    private let authority: (certificate: [UInt8], key: PrivateKey)
    /// Signs the tokens.
    let tokenKey: PrivateKey

    /// Loads what is there and makes what is missing.
    init(folder: DataFolder) throws(SimulatorError) {
        self.folder = folder
        let (key, isNew) = try Self.key("ca.key", .p256, in: folder)
        if !isNew, let certificate = try folder.read("ca.pem") {
            authority = (certificate, key)
        } else {
            let certificate = try issueCertificate(
                for: key, commonName: "Simulated RainMaker CA", role: .authority, issuer: nil)
            try folder.write(certificate, to: "ca.pem")
            authority = (certificate, key)
        }
        tokenKey = try Self.key("token.key", .p256, in: folder).key
    }

    var authorityFile: String { folder.file("ca.pem") }

    func certificateFile(ofNode id: String) -> String { folder.file("nodes/\(id).crt") }
    func keyFile(ofNode id: String) -> String { folder.file("nodes/\(id).key") }

    /// The node's certificate, issued now if it has none of that kind.
    func node(_ specification: NodeSpecification) throws(SimulatorError) -> Node {
        let id = specification.id
        let certificate = try identity(
            "nodes/\(id)", specification.keyKind == .rsa ? .rsa2048 : .p256, commonName: id, role: .client)
        return Node(id: id, keyKind: specification.keyKind, certificate: String(decoding: certificate, as: UTF8.self))
    }

    /// Certifies a key that a node has made itself, and keeps the certificate.
    func certificate(for key: PublicKey, node id: String) throws(SimulatorError) -> [UInt8] {
        let certificate = try issueCertificate(
            for: key, commonName: id, role: .client, issuer: authority.certificate, signedBy: authority.key)
        try folder.write(certificate, to: "nodes/\(id).crt")
        return certificate
    }

    /// The broker's own identity; a new certificate each time, since its addresses may change.
    func broker(host: String) throws(SimulatorError) -> (certificate: String, key: String) {
        var names = "DNS:localhost,IP:127.0.0.1,IP:::1"
        if !["127.0.0.1", "::1", "0.0.0.0", "::"].contains(host) { names += ",IP:\(host)" }
        let key = try Self.key("broker/server.key", .p256, in: folder).key
        let certificate = try issueCertificate(
            for: key, commonName: "localhost", role: .server(names: names), issuer: authority)
        try folder.write(certificate, to: "broker/server.crt")
        return (folder.file("broker/server.crt"), folder.file("broker/server.key"))
    }

    /// The simulator's identity towards the broker.
    func listener() throws(SimulatorError) -> (certificate: String, key: String) {
        _ = try identity("broker/listener", .p256, commonName: Self.listenerName, role: .client)
        return (folder.file("broker/listener.crt"), folder.file("broker/listener.key"))
    }

    private func identity(
        _ name: String, _ kind: PrivateKey.Kind, commonName: String, role: CertificateRole
    ) throws(SimulatorError) -> [UInt8] {
        let (key, isNew) = try Self.key("\(name).key", kind, in: folder)
        if !isNew, let certificate = try folder.read("\(name).crt") { return certificate }
        let certificate = try issueCertificate(for: key, commonName: commonName, role: role, issuer: authority)
        try folder.write(certificate, to: "\(name).crt")
        return certificate
    }

    /// The key in that file; a new one if there is none, or one of another kind.
    private static func key(
        _ name: String, _ kind: PrivateKey.Kind, in folder: DataFolder
    ) throws(SimulatorError) -> (key: PrivateKey, isNew: Bool) {
        do {
            if let pem = try folder.read(name) {
                let key = try PrivateKey(pem: pem)
                if key.isElliptic == (kind == .p256) { return (key, false) }
            }
            let key = try PrivateKey(generating: kind)
            try folder.write(key.pem, to: name)
            return (key, true)
        } catch let error as SimulatorError {
            throw error
        } catch {
            throw SimulatorError(.crypto, "\(folder.file(name)) is no private key, or none could be made")
        }
    }
}
