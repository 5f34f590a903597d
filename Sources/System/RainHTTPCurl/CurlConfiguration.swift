// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Which certificate authorities a client trusts.
public struct CurlConfiguration: Sendable {
    /// A PEM file of certificate authorities that replaces the system's.
    public var certificateAuthorities: String?
    /// A folder of certificate authorities, as `c_rehash` makes it.
    public var certificateAuthorityFolder: String?

    /// Without a file, what `CURL_CA_BUNDLE`, `SSL_CERT_FILE` and `SSL_CERT_DIR` name counts; without those, the system's store.
    public init(certificateAuthorities: String? = nil) {
        self.certificateAuthorities = certificateAuthorities
        guard certificateAuthorities == nil else { return }
        self.certificateAuthorities = environment("CURL_CA_BUNDLE") ?? environment("SSL_CERT_FILE")
        certificateAuthorityFolder = environment("SSL_CERT_DIR")
    }
}

private func environment(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
}
