// SPDX-License-Identifier: Apache-2.0
import RainAccount

/// What there is to know about an identity provider, as data: where its endpoints are, which grants it has and in which words, where
/// tokens go, what its errors mean. What data cannot say is in its ``ProviderExtension``.
///
/// Definitions are JSON, each member in camel case as here; `docs/adding-an-identity-provider.md` explains them one by one. Texts may hold
/// `{base}`, `{clientID}` and the name of any parameter in braces.
public struct ProviderDefinition: Sendable, Equatable, Codable {
    /// The one version that is read.
    public static let currentVersion = 1

    /// The version of the format that the definition is written in; any but ``currentVersion`` is `unreadableDefinition`.
    public var schemaVersion: Int
    /// What commands and stored sessions call it: lower-case letters, digits and `-`.
    public var id: String
    /// What people call it.
    public var title: String?
    /// Base URLs by environment, such as `production`. Each is `{base}` when it is chosen.
    public var environments: [String: String]?
    /// The environment for a person who names none and gives no base URL; a key of ``environments``.
    public var defaultEnvironment: String?
    /// What the server calls itself (`iss`).
    public var issuer: String?
    /// Where the server tells its endpoints (RFC 8414); those that are written here count first.
    public var discovery: String?
    /// Where tokens may be sent; `{base}` if nothing is said.
    public var resources: [String]?
    /// The client that the definition brings along; a person's own client id and secret come before it.
    public var client: Client?
    /// The settings that a person can make; texts name them in braces. Settings that are not listed here are refused.
    public var parameters: [Parameter]?
    /// Secrets beside the client's, which an extension asks for by name. They are settings only: no secret stands in a definition.
    public var secrets: [Parameter]?
    /// The ways that ``ProviderSettings/mode`` chooses between, the usual one first.
    public var modes: [String]?
    /// URLs by use: `authorize`, `token`, `revoke`, `introspect`, `user`, `device`, `endSession`, `keys`, and what an extension needs.
    public var endpoints: [String: String]?
    /// The ways in and on, by their short names: see ``GrantName``.
    public var grants: [String: Grant]?
    /// The grant of each of the ``modes``, which says what a person is asked for; the one of the same name if nothing is said.
    public var modeGrants: [String: String]?
    /// For grants that the provider does not have: why not, in words for a person.
    public var unsupported: [String: String]?
    /// The scope of the requests; none is sent if nothing is said and the person asks for none.
    public var scope: ScopeRules?
    /// How browsers come back, the usual way first.
    public var redirects: [Redirect]?
    /// Where a browser goes after the provider has signed it out, as it is registered for the client (`post_logout_redirect_uri`).
    public var postLogoutRedirect: String?
    /// What the server calls the members of a token response, by their names in RFC 6749: the first that is there counts.
    public var fields: [String: [String]]?
    /// Where the access token's end is told, the first that is there counting; `expires_in` and the token itself if nothing is said.
    public var expiry: [ExpirySource]?
    /// Where the refresh token's end is told.
    public var refreshExpiry: [ExpirySource]?
    /// When tokens are renewed; if nothing is said, a minute before the access token's end, or a tenth of its lifetime if that is less.
    public var refresh: RefreshRules?
    /// How a request carries the access token; as `Authorization: Bearer` if nothing is said (RFC 6750, section 2.1).
    public var placement: Placement?
    /// How to read the user's data; by the claims of OpenID Connect Core 1.0, section 5.1, if nothing is said.
    public var user: UserRules?
    /// Members of a token response that are kept with the tokens by name, such as `principalID`.
    public var keep: [String]?
    /// Settings to which a stored session is bound: parameters' names, or `base`.
    public var context: [String]?
    /// What the server's refusals mean; the first that fits counts.
    public var errors: [ErrorRule]?
    /// Pages for people: `terms`, `privacy`, `register`, `forgot`, `help`.
    public var links: [String: String]?

    /// What messages call it: its ``title``, or its ``id``.
    public var displayName: String { title.map(presentable) ?? id }

    /// The client that its operator registered with the provider (RFC 6749, section 2).
    public struct Client: Sendable, Equatable, Codable {
        public var id: String?
        /// How the client proves who it is: `none`, `basic`, `post` or `signed`; found out if nothing is said.
        public var authentication: String?
        /// Where the secret comes from; the secret itself never stands in a definition.
        public var secretFile: String?
        /// The environment variable that holds the secret; ``secretFile`` comes first.
        public var secretEnvironment: String?
        /// The algorithm of the id tokens that the client is registered for (`id_token_signed_response_alg`): `RS256`, `ES256`, `PS256`
        /// or, with the client's secret as key, `HS256`. Any of the first three if nothing is said.
        public var identityTokenAlgorithm: String?
    }

    /// A setting of the provider, which texts name in braces.
    public struct Parameter: Sendable, Equatable, Codable {
        /// The name in braces and in ``ProviderSettings/parameters``; for a secret, in ``ProviderSettings/secrets``.
        public var name: String
        /// What the setting is, for the error that says it is missing.
        public var description: String?
        /// Whether nothing works without it.
        public var required: Bool?
        /// The default, where a person gives none.
        public var value: String?
    }

    /// How one grant is asked for, where the provider differs from the RFC.
    public struct Grant: Sendable, Equatable, Codable {
        /// `grant_type`, where it is not the usual one.
        public var grantType: String?
        /// In the place of the client's usual ``Client/authentication``.
        public var clientAuthentication: String?
        /// `S256`, which is usual, or `none` for servers that refuse a challenge.
        public var pkce: String?
        /// Whether an id token repeats a nonce; no, if nothing is said.
        public var nonce: Bool?
        /// Whether the page sends a person who gives up back with nothing but the state; no, if nothing is said.
        public var answersWithoutParameters: Bool?
        /// More parameters of the authorization request. One whose text names a parameter that is not set is left out.
        public var authorizeParameters: [String: String]?
        /// More parameters of the token request.
        public var parameters: [String: String]?
        /// Where the token request's parameters go: `body`, which is usual, or `query`.
        public var placement: String?
        /// What the token request calls the user name.
        public var userField: String?
        /// Whether a client without a secret may use it; yes, if nothing is said.
        public var publicClient: Bool?
        /// Why not, in words for a person.
        public var publicClientRemark: String?
    }

    /// Which scopes a sign-in asks for (RFC 6749, section 3.3).
    public struct ScopeRules: Sendable, Equatable, Codable {
        /// What is asked for if nobody says otherwise. A scope whose text names a parameter that is not set is left out.
        public var usual: [String]?
        /// What is asked for besides, whatever anybody says.
        public var always: [String]?
        /// The scope without which there is no refresh token.
        public var refresh: String?
    }

    /// One redirect URI that is registered for the client (RFC 6749, section 3.1.2).
    public struct Redirect: Sendable, Equatable, Codable {
        /// `loopback`, `scheme` or `relay`.
        public var way: String
        /// For `loopback`.
        public var path: String?
        /// For `loopback`: whether the port is compared, too, so that it has to be one that is registered. No, if nothing is said: RFC 8252,
        /// section 7.3, lets a program choose any.
        public var exactPort: Bool?
        /// For the others.
        public var uri: String?
    }

    /// A member of the token response that says when a token ends.
    public struct ExpirySource: Sendable, Equatable, Codable {
        /// The member's name; with `jwt`, that of the token itself, such as `access_token`.
        public var field: String
        /// `seconds` from now, `date`, `epoch`, or `jwt`: what the token in that field says about itself.
        public var format: String
    }

    /// When tokens are renewed.
    public struct RefreshRules: Sendable, Equatable, Codable {
        /// How many seconds before the end tokens are renewed.
        public var margin: Double?
    }

    /// Where a request carries the access token.
    public struct Placement: Sendable, Equatable, Codable {
        /// `bearer`, `raw` (the bare token as Authorization header), `query`, or `none` where an extension does it.
        public var kind: String
        /// The query parameter's name.
        public var name: String?
    }

    /// What the user endpoint's answer calls what.
    public struct UserRules: Sendable, Equatable, Codable {
        /// The member that holds the user, where it is not the whole answer.
        public var at: String?
        /// Members with the user's id, as paths with dots. Of these, and of the lists below, the first member with a text counts.
        public var id: [String]?
        /// Members with what the user signs in with; `preferred_username` and its like, if nothing is said, and the id at last.
        public var userName: [String]?
        /// Members with the name for people; `name` if nothing is said.
        public var name: [String]?
        /// Members with the e-mail address; `email` if nothing is said.
        public var email: [String]?
        /// Members with the telephone number; `phone_number` if nothing is said.
        public var phoneNumber: [String]?
        /// Members with the language, such as `en-US`; `locale` if nothing is said.
        public var locale: [String]?
        /// What is kept with the tokens and names the user, where there is no user endpoint.
        public var idFromTokens: String?
    }

    /// A refusal's meaning. Everything that is said must fit.
    public struct ErrorRule: Sendable, Equatable, Codable {
        /// The cause as the server names it: OAuth's `error`, or the member at ``at``.
        public var error: String?
        /// Where the cause is, as a path with dots; `error` if nothing is said.
        public var at: String?
        /// The HTTP status of the refusal.
        public var status: Int?
        /// Whether the answer has no body at all, as some servers refuse.
        public var empty: Bool?
        /// The grant that was refused, by its short name.
        public var grant: String?
        /// What the description must contain.
        public var says: String?
        /// The reason, as JSON errors carry it: see ``AccountError/Code-swift.struct``.
        public var reason: String
        /// A sentence for the person.
        public var message: String?
    }
}

/// The short names of grants in definitions and on the command line.
public struct GrantName: RawRepresentable, Sendable, Hashable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A code from the sign-in page, which is redeemed for tokens (RFC 6749, section 4.1).
    public static let authorizationCode = GrantName(rawValue: "authorizationCode")
    /// Tokens from the sign-in page at once, for servers that give no codes (RFC 6749, section 4.2).
    /// RFC 9700, section 2.1.2, advises against it.
    public static let implicit = GrantName(rawValue: "implicit")
    /// User name and password, given to the client (RFC 6749, section 4.3; RFC 9700, section 2.4, forbids it).
    public static let password = GrantName(rawValue: "password")
    /// The program's own client id and secret, without any user (RFC 6749, section 4.4).
    public static let clientCredentials = GrantName(rawValue: "clientCredentials")
    /// New tokens for the refresh token of an earlier sign-in (RFC 6749, section 6).
    public static let refreshToken = GrantName(rawValue: "refreshToken")
    /// A short code that the person enters on another device (RFC 8628).
    public static let deviceCode = GrantName(rawValue: "deviceCode")
    /// What another party signed about the user (RFC 7523, section 2.1).
    public static let assertion = GrantName(rawValue: "assertion")
    /// User name and password with each request.
    public static let basic = GrantName(rawValue: "basic")
    /// A web session's cookies.
    public static let cookie = GrantName(rawValue: "cookie")

    /// Whether the person signs in at the provider's page.
    public var isInBrowser: Bool { self == .authorizationCode || self == .implicit }

    /// All, in the order in which they are listed.
    public static let all: [GrantName] = [
        .authorizationCode, .implicit, .deviceCode, .password, .clientCredentials, .assertion, .basic, .cookie,
        .refreshToken,
    ]
}
