// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON

/// What a code that stands for the signed-in user is to be used for, by somebody else than us.
public enum SPiDExchange: Sendable, Equatable {
    /// Another client of the same merchant, a backend as a rule, redeems it for tokens of its own within 30 seconds.
    case code(forClient: String, redirectURI: String? = nil)
    /// A browser redeems it within a minute for a session at SPiD, and is sent on to `redirectURI`, which SPiD has registered.
    case session(forClient: String, redirectURI: String)

    /// How long the code may be used (SPiD's documentation, "Login"), in seconds.
    public var lifetime: Double {
        switch self {
        case .code: 30
        case .session: 60
        }
    }

    /// The form of `POST /api/2/oauth/exchange`.
    func fields(ownClient: String) -> [TokenRequest.Field] {
        var fields = [TokenRequest.Field("client_id", ownClient)]
        switch self {
        case .code(let client, let redirectURI):
            fields += [.init("clientId", client), .init("type", "code")]
            if let redirectURI { fields.append(.init("redirectUri", redirectURI)) }
        case .session(let client, let redirectURI):
            fields += [.init("clientId", client), .init("type", "session"), .init("redirectUri", redirectURI)]
        }
        return fields
    }

    /// The code in the answer's data; it stands in a URL's path, so it must fit one.
    static func code(in data: JSONValue) -> Secret? {
        guard let code = data["code"]?.string, (1...256).contains(code.utf8.count),
            code.utf8.allSatisfy({
                (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || "-._~".utf8.contains($0)
            })
        else { return nil }
        return Secret(code)
    }
}
