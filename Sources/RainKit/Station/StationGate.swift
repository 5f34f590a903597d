// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainMicroHTTP

/// Decides who may use a station's page: a browser that has opened the link with the token, on a page of the station itself.
///
/// The link's token is good once. It is exchanged for a cookie that scripts cannot read. A request also has to name the station as its
/// host, so a foreign name that points to this address gets nothing, and as its origin, so another page cannot use the cookie.
package struct StationGate: Sendable {
    /// What a request may do.
    package enum Verdict: Sendable, Equatable {
        case allowed
        /// The link was opened: the browser gets the cookie.
        case welcome
        case refused(Refusal)
    }

    /// Why a request is refused.
    package enum Refusal: Sendable, Equatable { case host, origin, token }

    private let address: LocalAddress
    private let names: Set<String>
    private let session: Secret
    private var tokens: [Secret]

    /// The maximum number of links that wait to be opened.
    package static let maximumTokens = 8

    /// - Parameters:
    ///   - address: the address that the station listens on, with its port.
    ///   - machine: the machine's name, which counts as the station's if other machines can reach it.
    ///   - session: the value of the cookie.
    ///   - token: the token of the first link.
    package init(_ address: LocalAddress, machine: String, session: Secret, token: Secret) {
        self.address = address
        self.session = session
        tokens = [token]
        names =
            address.isLoopback
            ? ["localhost"] : [machine.lowercased(), machine.lowercased() + ".local"]
    }

    /// The cookie's name. Cookies belong to a host and not to its ports, so the name has the port.
    package var cookieName: String { "rainkit_station_\(address.port)" }

    /// The header that gives a browser the cookie.
    package var cookie: String { "\(cookieName)=\(session.revealString()); Path=/; HttpOnly; SameSite=Strict" }

    /// Adds a token for one more link. The oldest one ends if there are too many.
    package mutating func add(_ token: Secret) {
        tokens.append(token)
        if tokens.count > Self.maximumTokens { tokens.removeFirst() }
    }

    /// Decides about a request. The token of a link is used up.
    package mutating func judge(_ request: LocalRequest) -> Verdict {
        let hosts = request.values("host")
        guard hosts.count == 1, let host = hosts.first, isOwn(host) else { return .refused(.host) }
        let origins = request.values("origin")
        guard origins.count <= 1, origins.allSatisfy({ $0 == "http://\(host)" }) else { return .refused(.origin) }
        // A browser always sends the origin with POST.
        if request.method != "GET", origins.isEmpty { return .refused(.origin) }
        let sites = request.values("sec-fetch-site")
        guard sites.allSatisfy({ $0 == "same-origin" || $0 == "none" }) else { return .refused(.origin) }
        if request.method == "GET", request.path == "/", let text = request.token {
            let token = Secret(text)
            if let index = tokens.firstIndex(of: token) {
                tokens.remove(at: index)
                return .welcome
            }
        }
        return hasCookie(request) ? .allowed : .refused(.token)
    }

    private func hasCookie(_ request: LocalRequest) -> Bool {
        request.values("cookie").contains { header in
            header.split(separator: ";").contains { pair in
                let parts = pair.drop { $0 == " " }.split(
                    separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return parts.count == 2 && parts[0] == cookieName && Secret(String(parts[1])) == session
            }
        }
    }

    /// Whether a `Host` header names this station, with its port.
    private func isOwn(_ host: String) -> Bool {
        let suffix = ":\(address.port)"
        var name = host.lowercased()
        // Browsers leave out the port of HTTP.
        if name.hasSuffix(suffix) {
            name.removeLast(suffix.count)
        } else if address.port != 80 {
            return false
        }
        if names.contains(name) { return true }
        if name.hasPrefix("["), name.hasSuffix("]") {
            let inner = String(name.dropFirst().dropLast())
            return LocalAddress.isIPv6(inner) && isOwn(ip: inner)
        }
        return LocalAddress.isIPv4(name) && isOwn(ip: name)
    }

    /// A page of another site reaches the station by a name of that site, never by a bare address of this machine. So all addresses count if
    /// the station listens on all.
    private func isOwn(ip: String) -> Bool { address.isWildcard || ip == address.host }
}
