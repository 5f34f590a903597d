// SPDX-License-Identifier: Apache-2.0

/// The proxy that libcurl uses for a URL, and the environment variable that names it (libcurl's manual, CURLOPT_PROXY and CURLOPT_NOPROXY).
package struct ProxySetting: Sendable, Equatable {
    /// `host:port`, without a user name and a password, which nobody else is to see.
    package let place: String
    package let variable: String
    /// The value holds a user name.
    package let hasCredentials: Bool
    /// What is wrong with the value, as the end of a sentence; nil for one that can be an address. It quotes the scheme alone, because
    /// a value without an at sign may still have a password in it.
    let problem: String?

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
        problem = Self.problem(scheme: Self.scheme(of: value), at: self.place)
    }

    private static func scheme(of value: String) -> String? {
        guard let mark = value.firstRange(of: "://") else { return nil }
        let scheme = value[..<mark.lowerBound]
        return scheme.allSatisfy { $0.isLetter || $0.isNumber } ? scheme.lowercased() : nil
    }

    private static func problem(scheme: String?, at place: String) -> String? {
        let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
        if let scheme, !schemes.contains(scheme) {
            return "it begins with \(scheme)://, and a proxy's begins with http://, https:// or socks5h://"
        }
        let hasBrackets = place.hasPrefix("[")
        let authority = hasBrackets ? place.drop { $0 != "]" } : place[...]
        let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
        if parts.count > 2 { return "it has more than one colon; an IPv6 address is written in brackets" }
        if !hasBrackets, parts.first?.isEmpty ?? true { return "it has no host" }
        if parts.count == 2, UInt16(parts[1]) ?? 0 == 0 {
            return "what follows its last colon is not a port, which is a number from 1 to 65535"
        }
        return nil
    }
}

/// The host of `host` or `host:port`.
func hostName(_ authority: String) -> String {
    guard let colon = authority.lastIndex(of: ":"), authority[authority.index(after: colon)...].allSatisfy(\.isNumber),
        authority.hasPrefix("[") || authority.firstIndex(of: ":") == colon
    else { return authority }
    return String(authority[..<colon])
}
