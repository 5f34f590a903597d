// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Which certificate authorities a client trusts.
public struct CurlConfiguration: Sendable {
    /// A PEM file of certificate authorities that replaces the system's.
    public var certificateAuthorities: String?
    /// A folder of certificate authorities, as `c_rehash` makes it.
    public var certificateAuthorityFolder: String?
    /// What tests put in the place of the environment.
    package var overrides: Overrides?

    package struct Overrides: Sendable {
        /// As `https_proxy` names it.
        package var proxy: String?
        /// As CURLOPT_RESOLVE takes them: `host:port:address`.
        package var addresses: [String]

        package init(proxy: String? = nil, addresses: [String] = []) {
            (self.proxy, self.addresses) = (proxy, addresses)
        }

        var proxySetting: ProxySetting? { proxy.map { ProxySetting($0, variable: "https_proxy") } }
    }

    /// Without a file, what `CURL_CA_BUNDLE`, `SSL_CERT_FILE` and `SSL_CERT_DIR` name counts; without those, the system's store.
    public init(certificateAuthorities: String? = nil) {
        self.certificateAuthorities = certificateAuthorities
        guard certificateAuthorities == nil else { return }
        self.certificateAuthorities = environment("CURL_CA_BUNDLE") ?? environment("SSL_CERT_FILE")
        certificateAuthorityFolder = environment("SSL_CERT_DIR")
    }
}

func environment(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
}
