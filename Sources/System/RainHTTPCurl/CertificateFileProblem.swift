// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The bundles of operating systems have about 250 kB.
private let maximumBytes = 8 << 20

/// Why a PEM file of certificate authorities cannot be used, such as "holds no certificate in PEM form"; nil if OpenSSL can read it, as far
/// as the form of its certificates tells.
package func certificateFileProblem(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return "cannot be read: \(String(cString: strerror(errno)))" }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else { return "is a folder" }
    guard status.st_mode & S_IFMT == S_IFREG else { return "is not a file" }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count < maximumBytes {
        let count = read(descriptor, &chunk, chunk.count)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { return "cannot be read: \(String(cString: strerror(errno)))" }
        guard count > 0 else { break }
        bytes += chunk[..<count]
    }
    return bytes.isEmpty ? "is empty" : problem(in: bytes)
}

/// One damaged certificate makes OpenSSL refuse the whole file (X509_load_cert_crl_file).
private func problem(in bytes: [UInt8]) -> String? {
    // OpenSSL takes all three (PEM_read_bio_X509_AUX).
    let kinds = ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"].map { Array("-----BEGIN \($0)-----".utf8) }
    var count = 0
    var body: [UInt8]?
    for line in bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
        if let base64 = body {
            if line.starts(with: "-----END ".utf8) {
                guard isCertificate(base64) else { return "holds a damaged certificate (number \(count))" }
                body = nil
            } else {
                body = base64 + line.filter { $0 != 0x20 && $0 != 0x09 }
            }
        } else if kinds.contains(where: { line.starts(with: $0) }) {
            count += 1
            body = []
        }
    }
    if body != nil { return "ends in the middle of a certificate (number \(count))" }
    return count == 0 ? "holds no certificate in PEM form" : nil
}

/// Whether this is the base64 of one ASN.1 sequence with nothing missing. Trusted certificates have more behind it.
private func isCertificate(_ base64: [UInt8]) -> Bool {
    var der: [UInt8] = []
    var (bits, held): (UInt32, Int) = (0, 0)
    let padding = base64.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard base64.count % 4 == 0, padding <= 2 else { return false }
    for character in base64.dropLast(padding) {
        let value: UInt8
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): value = character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): value = character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): value = 62
        case UInt8(ascii: "/"): value = 63
        default: return false
        }
        bits = (bits << 6 | UInt32(value)) & 0xFFFF
        held += 6
        if held >= 8 {
            held -= 8
            der.append(UInt8(truncatingIfNeeded: bits >> UInt32(held)))
        }
    }
    guard der.count >= 2, der[0] == 0x30 else { return false }
    guard der[1] >= 0x80 else { return der.count >= 2 + Int(der[1]) }
    let octets = Int(der[1] & 0x7F)
    guard (1...4).contains(octets), der.count >= 2 + octets else { return false }
    let length = der[2..<2 + octets].reduce(0) { $0 << 8 | Int($1) }
    return der.count >= 2 + octets + length
}
