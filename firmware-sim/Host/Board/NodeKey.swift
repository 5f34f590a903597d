// SPDX-License-Identifier: Apache-2.0
import CRainOpenSSL
import DeviceCore
import Glibc
import RainCrypto
import RainCryptoOpenSSL

/// The node's private key, which signs challenges as the firmware does: ECDSA with a P-256 key, RSASSA-PSS with an RSA one.
struct NodeKey: NodeCredential {
    let key: PrivateKey

    /// The key that a board makes when it starts for the first time.
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

/// The common name of the first certificate in a PEM file, which is the node id; nil where there is none.
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

/// A file of at most a megabyte.
func contents(of file: String) throws -> [UInt8] {
    guard let stream = fopen(file, "re") else { throw StartError("\(file) cannot be read: \(lastSystemError())") }
    defer { fclose(stream) }
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    return Array(buffer[..<fread(&buffer, 1, buffer.count, stream)])
}
