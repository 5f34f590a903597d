// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCryptoOpenSSL

/// The bundles of operating systems have about 250 kB.
private let maximumBytes = 8 << 20

/// Why a PEM file of certificate authorities cannot be used, such as "holds no certificate in PEM form"; nil if OpenSSL can read it.
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
    guard !bytes.isEmpty else { return "is empty" }
    guard bytes.count < maximumBytes else { return "is larger than \(maximumBytes >> 20) MiB" }
    let (count, endsDamaged) = CertificateBundle.read(bytes)
    if endsDamaged { return "holds a damaged certificate (number \(count + 1)), or ends in the middle of it" }
    return count == 0 ? "holds no certificate in PEM form" : nil
}
