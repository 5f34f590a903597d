// SPDX-License-Identifier: Apache-2.0

/// The proxy that libcurl uses for a URL, and the environment variable that names it (libcurl's manual, CURLOPT_PROXY and CURLOPT_NOPROXY).
package struct ProxySetting: Sendable, Equatable {
    /// `host:port`, without a user name and a password, which nobody else is to see.
    package let place: String
    package let variable: String
    /// The value holds a user name.
    package let hasCredentials: Bool

    /// Nil where the URL is reached directly.
    ///
    /// - Parameter host: with its port, if it has one.
    package init?(for host: String, isEncrypted: Bool, _ environment: (String) -> String?) {
        let name = hostName(host)
        guard !isNearby(name) else { return nil }
        // HTTP_PROXY is what a web server sets from a request's header, so libcurl does not read it.
        let names = (isEncrypted ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]) + ["all_proxy", "ALL_PROXY"]
        guard let variable = names.first(where: { environment($0)?.isEmpty == false }),
            let value = environment(variable)
        else { return nil }
        let exceptions = environment("no_proxy") ?? environment("NO_PROXY") ?? ""
        for exception in exceptions.split(whereSeparator: { $0 == "," || $0 == " " }) {
            let suffix = (exception.first == "." ? exception.dropFirst() : exception).lowercased()
            if exception == "*" || name.lowercased() == suffix || name.lowercased().hasSuffix(".\(suffix)") {
                return nil
            }
        }
        self.init(value, variable: variable)
    }

    init(_ value: String, variable: String) {
        var place = value.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        hasCredentials = value.contains("@")
        if let scheme = place.firstRange(of: "://") { place = place[scheme.upperBound...] }
        self.place = String(place.prefix { $0 != "/" })
        self.variable = variable
    }
}

/// The host of `host` or `host:port`.
func hostName(_ authority: String) -> String {
    guard let colon = authority.lastIndex(of: ":"), authority[authority.index(after: colon)...].allSatisfy(\.isNumber),
        authority.hasPrefix("[") || authority.firstIndex(of: ":") == colon
    else { return authority }
    return String(authority[..<colon])
}
