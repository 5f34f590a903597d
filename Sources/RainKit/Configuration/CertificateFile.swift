// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A file with the certificates of authorities, in PEM form.
public enum CertificateFile {
    /// The bundles of operating systems have about 250 kB.
    private static let maximumBytes = 8 << 20

    /// Why the file cannot be used, such as "holds no certificate in PEM form"; nil if it has at least one certificate.
    public static func problem(_ path: String) -> String? {
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
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        // OpenSSL takes all three (PEM_read_bio_X509_AUX).
        let marks = [
            "-----BEGIN CERTIFICATE-----", "-----BEGIN X509 CERTIFICATE-----", "-----BEGIN TRUSTED CERTIFICATE-----",
        ]
        if marks.contains(where: { bytes.firstRange(of: Array($0.utf8)) != nil }) { return nil }
        return bytes.isEmpty ? "is empty" : "holds no certificate in PEM form"
    }
}
