// SPDX-License-Identifier: Apache-2.0
import RainCore
import CRainOpenSSL
import DeviceCore
import Glibc
import RainCrypto
import RainCryptoOpenSSL
import RainJSON

/// The node's private key, which signs challenges like the firmware: ECDSA with a P-256 key, RSASSA-PSS with an RSA key.
struct NodeKey: NodeCredential {
    let key: PrivateKey

    /// Makes the key of a board that starts for the first time.
    init() throws {
        do { key = try PrivateKey(generating: .p256) } catch { throw StartError("no key could be made: \(error)") }
    }

    init(file: String) throws {
        do { key = try PrivateKey(pem: try contents(of: file)) } catch is KeyError {
            throw StartError(
                "\(file): no P-256 or RSA private key in PEM; try openssl ecparam -name prime256v1 -genkey")
        }
    }

    func sign(_ message: [UInt8]) throws(SignatureFailure) -> [UInt8] {
        try key.sign(message, algorithm: key.isElliptic ? .ecdsa : .rsaPSS)
    }
}

/// Returns the common name of the first certificate in a PEM file, which is the node id; nil if it has none.
func commonName(ofCertificate file: String) throws -> String? {
    let pem = try contents(of: file)
    guard let input = BIO_new_mem_buf(pem, Int32(pem.count)) else { return nil }
    defer { BIO_free(input) }
    guard let certificate = PEM_read_bio_X509(input, nil, refusePassword, nil) else {
        throw StartError("\(file): no certificate in PEM")
    }
    defer { X509_free(certificate) }
    return commonName(of: X509_get_subject_name(certificate)).map { String(decoding: $0, as: UTF8.self) }
}

/// Returns the contents of a file of at most a megabyte.
private func contents(of file: String) throws -> [UInt8] {
    guard let stream = fopen(file, "re") else { throw StartError("\(file) cannot be read: \(systemErrorText(errno))") }
    defer { fclose(stream) }
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    return Array(buffer[..<fread(&buffer, 1, buffer.count, stream)])
}

extension NodeKey {
    func certificateRequest(for nodeID: [UInt8]) throws(SignatureFailure) -> [UInt8] {
        try key.certificateRequest(commonName: nodeID)
    }

    func accepts(certificate pem: [UInt8], for nodeID: [UInt8]) -> Bool {
        defer { ERR_clear_error() }
        guard let input = BIO_new_mem_buf(pem, Int32(pem.count)) else { return false }
        defer { BIO_free(input) }
        guard let certificate = PEM_read_bio_X509(input, nil, refusePassword, nil) else { return false }
        defer { X509_free(certificate) }
        guard key.withPointer({ X509_check_private_key(certificate, $0) }) == 1 else { return false }
        return commonName(of: X509_get_subject_name(certificate)) == nodeID
    }
}

/// Returns the common name of a subject; nil if it has none, or one that cannot be a node id.
private func commonName(of subject: OpaquePointer?) -> [UInt8]? {
    var buffer = [CChar](repeating: 0, count: 256)
    let length = X509_NAME_get_text_by_NID(subject, NID_commonName, &buffer, Int32(buffer.count))
    guard length > 0 else { return nil }
    return buffer.prefix(Int(length)).map { UInt8(bitPattern: $0) }
}

/// A board's id in the cloud, and the files that prove it.
struct NodeFiles {
    /// The default is the certificate's common name.
    var id: String?
    var certificate: String?
    var key: String?

    /// Returns nodes of a file, `{"nodes":{ID:{"cert":FILE,"key":FILE}}}`: the one with this id, or the first `count` in the order of
    /// their ids.
    static func read(_ file: String, id: String?, count: Int) throws -> [NodeFiles] {
        guard let document = try? JSONValue(parsing: try contents(of: file)), let members = document["nodes"]?.members
        else { throw StartError("\(file): no JSON with an object \"nodes\"") }
        let nodes = members.map {
            NodeFiles(id: $0.name, certificate: $0.value["cert"]?.string, key: $0.value["key"]?.string)
        }
        guard nodes.allSatisfy({ $0.certificate != nil && $0.key != nil }) else {
            throw StartError("\(file): each node needs \"cert\" and \"key\"")
        }
        if let id {
            guard let node = nodes.first(where: { $0.id == id }) else {
                throw StartError(
                    "\(file) has no node \(id): it has \(nodes.compactMap(\.id).sorted().joined(separator: ", "))")
            }
            return [node]
        }
        guard nodes.count >= count else { throw StartError("\(file) has \(nodes.count) nodes for \(count) boards") }
        return Array(nodes.sorted { ($0.id ?? "") < ($1.id ?? "") }.prefix(count))
    }
}
