// SPDX-License-Identifier: Apache-2.0
import RainHTTPCurl

/// A file with the certificates of authorities, in PEM form.
public enum CertificateFile {
    /// Why the file cannot be used, such as "holds no certificate in PEM form"; nil if it has at least one certificate, and none that is
    /// damaged.
    public static func problem(_ path: String) -> String? { certificateFileProblem(path) }
}
