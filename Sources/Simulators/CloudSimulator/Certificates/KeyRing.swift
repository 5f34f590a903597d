// SPDX-License-Identifier: Apache-2.0
import CRainOpenSSL
import RainCrypto
import RainCryptoOpenSSL

/// The keys and certificates of the simulated cloud, kept in its data folder.
struct KeyRing: Sendable {
    /// The simulator's name in the broker's log, which names clients by their certificates. No node can have this name.
    static let listenerName = "cloud-sim:listener"

    private let folder: DataFolder
    private let authority: (certificate: [UInt8], key: PrivateKey)
    /// The key that signs the tokens.
    let tokenKey: PrivateKey

    /// Loads the existing keys and certificates, and makes the missing ones.
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

    /// Returns the node's certificate. It is issued now if the node has none of that kind.
    func node(_ specification: NodeSpecification) throws(SimulatorError) -> Node {
        let id = specification.id
        let certificate = try identity(
            "nodes/\(id)", specification.keyKind == .rsa ? .rsa2048 : .p256, commonName: id, role: .client)
        return Node(id: id, keyKind: specification.keyKind, certificate: String(decoding: certificate, as: UTF8.self))
    }

    /// Issues a certificate for a key that a node has made itself, and stores it.
    func certificate(for key: PublicKey, node id: String) throws(SimulatorError) -> [UInt8] {
        let certificate = try issueCertificate(
            for: key, commonName: id, role: .client, issuer: authority.certificate, signedBy: authority.key)
        try folder.write(certificate, to: "nodes/\(id).crt")
        return certificate
    }

    /// Returns the broker's own identity. The certificate is new each time, since its addresses may change.
    func broker(host: String) throws(SimulatorError) -> (certificate: String, key: String) {
        var names = "DNS:localhost,IP:127.0.0.1,IP:::1"
        if !["127.0.0.1", "::1", "0.0.0.0", "::"].contains(host) { names += ",IP:\(host)" }
        let key = try Self.key("broker/server.key", .p256, in: folder).key
        let certificate = try issueCertificate(
            for: key, commonName: "localhost", role: .server(names: names), issuer: authority)
        try folder.write(certificate, to: "broker/server.crt")
        return (folder.file("broker/server.crt"), folder.file("broker/server.key"))
    }

    /// Returns the simulator's identity for the broker.
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

    /// Returns the key in that file, or a new key if there is none, or one of another kind.
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
            throw SimulatorError(.crypto, "\(folder.file(name)) is not a private key, or no key could be made")
        }
    }
}

/// The purpose of a certificate.
private enum CertificateRole: Sendable, Equatable {
    /// Signs other certificates.
    case authority
    /// The broker, with its names and addresses in the notation of subjectAltName (`IP:127.0.0.1,DNS:localhost`).
    case server(names: String)
    /// A client of the broker: a node, or the simulator itself.
    case client
}

/// Issues an X.509 certificate, as PEM, for 20 years, so that a board that was set up once can still connect.
///
/// - Parameter issuer: nil for a self-signed certificate.
private func issueCertificate(
    for key: PrivateKey, commonName: String, role: CertificateRole,
    issuer: (certificate: [UInt8], key: PrivateKey)?
) throws(SimulatorError) -> [UInt8] {
    let publicKey: PublicKey
    do {
        publicKey = try key.publicKey
    } catch {
        throw SimulatorError(.crypto, "the key of \(commonName) has no public key")
    }
    return try issueCertificate(
        for: publicKey, commonName: commonName, role: role, issuer: issuer?.certificate, signedBy: issuer?.key ?? key)
}

/// Issues a certificate for a public key whose private key is not here.
///
/// - Parameters:
///   - issuer: the certificate of the authority; nil if there is no authority above.
///   - signer: the key of the authority.
private func issueCertificate(
    for key: PublicKey, commonName: String, role: CertificateRole, issuer: [UInt8]?, signedBy signer: PrivateKey
) throws(SimulatorError) -> [UInt8] {
    let failure = SimulatorError(.crypto, "libcrypto could not make the certificate of \(commonName)")
    guard let certificate = X509_new() else { throw failure }
    defer { X509_free(certificate) }
    var issuerCertificate: OpaquePointer?
    defer { if let issuerCertificate { X509_free(issuerCertificate) } }
    if let issuer {
        issuerCertificate = issuer.withUnsafeBytes { pem in
            guard let bio = BIO_new_mem_buf(pem.baseAddress, Int32(pem.count)) else { return nil }
            defer { BIO_free(bio) }
            return PEM_read_bio_X509(bio, nil, refusePassword, nil)
        }
        guard issuerCertificate != nil else { throw failure }
    }

    var random = OpenSSLRandom()
    var serial = random.bytes(16)
    serial[0] &= 0x7F
    let number = BN_bin2bn(serial, Int32(serial.count), nil)
    defer { BN_free(number) }
    let name = X509_get_subject_name(certificate)
    let day = 86_400
    guard X509_set_version(certificate, 2) == 1,
        BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nil,
        X509_gmtime_adj(X509_getm_notBefore(certificate), -day) != nil,
        X509_gmtime_adj(X509_getm_notAfter(certificate), 7305 * day) != nil,
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, commonName, -1, -1, 0) == 1,
        X509_set_issuer_name(certificate, issuerCertificate.map { X509_get_subject_name($0) } ?? name) == 1,
        key.withPointer({ X509_set_pubkey(certificate, $0) }) == 1
    else { throw failure }

    for (kind, value) in extensions(role) {
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuerCertificate ?? certificate, certificate, nil, nil, 0)
        guard let made = X509V3_EXT_conf_nid(nil, &context, kind, value) else { throw failure }
        defer { X509_EXTENSION_free(made) }
        guard X509_add_ext(certificate, made, -1) == 1 else { throw failure }
    }
    let signed = signer.withPointer { X509_sign(certificate, $0, EVP_sha256()) }
    guard signed > 0, let bio = BIO_new(BIO_s_mem()) else { throw failure }
    defer { BIO_free(bio) }
    guard PEM_write_bio_X509(bio, certificate) == 1 else { throw failure }
    return [UInt8](unsafeUninitializedCapacity: BIO_ctrl_pending(bio)) { buffer, count in
        count = max(0, Int(BIO_read(bio, buffer.baseAddress, Int32(buffer.count))))
    }
}

/// In an order in which the authority key identifier finds the subject's.
private func extensions(_ role: CertificateRole) -> [(kind: Int32, value: String)] {
    let identifiers = [(NID_subject_key_identifier, "hash"), (NID_authority_key_identifier, "keyid")]
    switch role {
    case .authority:
        return [
            (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"), (NID_key_usage, "critical,keyCertSign,cRLSign"),
        ] + identifiers
    case .server(let names):
        return [
            (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
            (NID_ext_key_usage, "serverAuth"), (NID_subject_alt_name, names),
        ] + identifiers
    case .client:
        return [
            (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
            (NID_ext_key_usage, "clientAuth"),
        ] + identifiers
    }
}
