// SPDX-License-Identifier: Apache-2.0
import RainHTTP

extension AuthenticationChallenge {
    /// Reads the challenge in a response. Returns nil for a response without one.
    package init?(_ response: HTTPResponse, host: String, previousFailureCount: Int = 0) {
        let isProxy = response.status == 407
        guard isProxy || response.status == 401 else { return nil }
        let name = isProxy ? "proxy-authenticate" : "www-authenticate"
        let lines = response.headers.filter { $0.name.lowercased() == name }.map(\.value)
        // Servers can offer several schemes, one on each line (RFC 9110, section 11.6.1).
        guard let line = lines.first(where: { Self.scheme(in: $0) == "basic" }) ?? lines.first else { return nil }
        self.init(
            scheme: Self.scheme(in: line), realm: Self.realm(in: line), host: host, isProxy: isProxy,
            previousFailureCount: previousFailureCount)
    }

    private static func scheme(in line: String) -> String { line.prefix { $0 != " " && $0 != "," }.lowercased() }

    /// The value is quoted, or a token (RFC 9110, section 11.2).
    private static func realm(in line: String) -> String? {
        guard let start = line.lowercased().ranges(of: "realm=").first?.upperBound else { return nil }
        let offset = line.lowercased().distance(from: line.lowercased().startIndex, to: start)
        let value = line.dropFirst(offset)
        let realm =
            value.hasPrefix("\"") ? value.dropFirst().prefix { $0 != "\"" } : value.prefix { $0 != "," && $0 != " " }
        return presentable(String(realm))
    }

    /// The schemes that ask a person, or a machine for a person, for a name and password. Bearer is OAuth's own scheme.
    private static let schemes: Set<String> = ["basic", "digest", "negotiate", "ntlm"]

    /// Whether the scheme asks for a name and password.
    package var wantsPassword: Bool { Self.schemes.contains(scheme) }

    /// The status of the response.
    package var status: Int { isProxy ? 407 : 401 }

    /// The server that asks, for the beginning of a sentence.
    package var asker: String {
        "\(isProxy ? "a proxy" : "a server") in front of \(host)\(realm.map { " (\"\($0)\")" } ?? "")"
    }
}
