// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainCore

/// A server's information about a token (RFC 7662, section 2.2).
public struct Introspection: Sendable, Equatable {
    /// Whether the token is valid now. If it is not, all other values are missing; otherwise they are optional.
    public var isActive: Bool
    /// The token's rights.
    public var scope: [String]?
    /// The client that the token was issued to.
    public var clientID: String?
    /// The user's name, for a person.
    public var userName: String?
    /// The user's id at the server.
    public var subject: String?
    /// The issuer of the token.
    public var issuer: String?
    /// The type, such as `Bearer`.
    public var tokenType: String?
    /// The expiry in seconds since 1970, by the server's clock.
    public var expires: Double?
    /// All members of the answer, in the server's order.
    public var members: [JSONValue.Member]

    /// - Throws: `missing` if the answer does not contain `active`, `malformed` for a member of the wrong type.
    public init(_ json: JSONValue) throws(OAuth2FormatError) {
        let active: Bool?
        do throws(JSONError) {
            let own = try JSONMembers(json)
            active = try own.flag("active")
            scope = try own.text("scope").map { $0.split(separator: " ").map(String.init) }
            clientID = try own.text("client_id")
            userName = try own.text("username")
            subject = try own.text("sub")
            issuer = try own.text("iss")
            tokenType = try own.text("token_type")
            expires = try own.number("exp")
        } catch {
            throw OAuth2FormatError(error)
        }
        guard let active else {
            throw OAuth2FormatError(.missing, "the introspection response does not say whether the token is active")
        }
        isActive = active
        members = json.members ?? []
    }
}

extension FormRequest {
    /// The kind of the token, if known.
    public enum TokenHint: String, Sendable { case accessToken = "access_token", refreshToken = "refresh_token" }

    /// Asks whether a token is valid (RFC 7662, section 2.1).
    public static func introspection(of token: Secret, hint: TokenHint? = nil) -> FormRequest {
        about(token, hint)
    }

    /// Revokes a token (RFC 7009, section 2.1). A server that does not know it answers 200 too.
    public static func revocation(of token: Secret, hint: TokenHint? = nil) -> FormRequest {
        about(token, hint)
    }

    private static func about(_ token: Secret, _ hint: TokenHint?) -> FormRequest {
        var form = FormRequest([Field("token", token)])
        if let hint { form.append("token_type_hint", hint.rawValue) }
        return form
    }
}
