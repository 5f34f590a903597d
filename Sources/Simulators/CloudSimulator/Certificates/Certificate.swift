// SPDX-License-Identifier: Apache-2.0
import CRainOpenSSL
import RainCrypto
import RainCryptoOpenSSL

/// What a certificate is for.
enum CertificateRole: Sendable, Equatable {
    /// Signs the others.
    case authority
    /// The broker: reached by these names and addresses, in the notation of subjectAltName (`IP:127.0.0.1,DNS:localhost`).
    case server(names: String)
    /// A node, or the simulator itself, towards the broker.
    case client
}

/// Issues an X.509 certificate, as PEM, for 20 years, so that a board that was set up once can still connect.
///
/// - Parameter issuer: nil for one that signs itself.
func issueCertificate(
    for key: PrivateKey, commonName: String, role: CertificateRole,
    issuer: (certificate: [UInt8], key: PrivateKey)?
) throws(SimulatorError) -> [UInt8] {
    let publicKey: PublicKey
    do {
        publicKey = try key.publicKey
    } catch {
        throw SimulatorError(.crypto, "the key of \(commonName) has no public half")
    }
    return try issueCertificate(
        for: publicKey, commonName: commonName, role: role, issuer: issuer?.certificate, signedBy: issuer?.key ?? key)
}

/// The same for a key whose private half is elsewhere.
///
/// - Parameters:
///   - issuer: the certificate of the authority; nil where there is none above.
///   - signer: the key of the authority.
func issueCertificate(
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

/// In an order that lets the authority key identifier find the subject's.
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
