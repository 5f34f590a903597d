// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The proxy that libcurl uses for a URL, and the environment variable that names it (libcurl's manual, CURLOPT_PROXY and CURLOPT_NOPROXY).
package struct ProxySetting: Sendable, Equatable {
    /// `host:port`, without a user name and a password, which nobody else is to see.
    package let place: String
    package let variable: String
    /// In lower case: `http` where the value names none, as libcurl takes it.
    let scheme: String
    /// The value holds a user name.
    package let hasCredentials: Bool
    /// What is wrong with the value, as the end of a sentence; nil for one that can be an address. It quotes the scheme alone, because
    /// a value without an at sign may still have a password in it.
    let problem: String?
    /// Whether it forwards connections without HTTP, so that it answers no CONNECT (RFC 1928).
    var isSOCKS: Bool { scheme.hasPrefix("socks") }

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
        guard !Self.isException(name, in: exceptions) else { return nil }
        self.init(value, variable: variable)
    }

    init(_ value: String, variable: String) {
        let at = value.unicodeScalars.lastIndex(of: "@")
        var place = at.map { value[value.unicodeScalars.index(after: $0)...] } ?? value[...]
        hasCredentials = at != nil
        if let scheme = place.firstRange(of: "://") { place = place[scheme.upperBound...] }
        self.place = String(place.prefix { $0 != "/" })
        self.variable = variable
        let given = Self.scheme(of: value)
        scheme = given ?? "http"
        problem = Self.problem(scheme: given, at: self.place)
    }

    /// Returns whether `no_proxy` names a host, as libcurl reads it: names, with all that is below them, and addresses, alone or as CIDR
    /// blocks (since 7.86). An asterisk counts only if there is nothing else.
    private static func isException(_ name: String, in exceptions: String) -> Bool {
        if exceptions == "*" { return true }
        let parts = exceptions.split { $0 == "," || $0 == " " || $0 == "\t" }
        if let address = addressBytes(name) { return parts.contains { isBlock($0, around: address) } }
        let lowercased = name.lowercased()
        let host = lowercased.hasSuffix(".") ? lowercased.dropLast() : lowercased[...]
        return parts.contains { part in
            var domain = part.lowercased()[...]
            if domain.hasSuffix(".") { domain = domain.dropLast() }
            if domain.hasPrefix(".") { domain = domain.dropFirst() }
            return !domain.isEmpty && (host == domain || host.hasSuffix(".\(domain)"))
        }
    }

    /// Returns whether a text is that address, or a block that it is in: `192.0.2.0/24`.
    private static func isBlock(_ text: Substring, around address: [UInt8]) -> Bool {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let block = addressBytes(String(parts[0])), block.count == address.count else { return false }
        let given = parts.count == 2 ? Int(parts[1]) ?? 0 : 0
        // libcurl takes 0 as if there were no number.
        let bits = given == 0 ? 8 * address.count : given
        guard (1...8 * address.count).contains(bits) else { return false }
        return address.indices.allSatisfy { index in
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> min(max(bits - 8 * index, 0), 8))
            return (address[index] ^ block[index]) & mask == 0
        }
    }

    /// The bytes of an address; an IPv6 one may be in brackets. Nil for a name.
    private static func addressBytes(_ text: String) -> [UInt8]? {
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: four) { Array($0) } }
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
        var six = in6_addr()
        guard inet_pton(AF_INET6, isBracketed ? String(text.dropFirst().dropLast()) : text, &six) == 1 else {
            return nil
        }
        return withUnsafeBytes(of: six) { Array($0) }
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
