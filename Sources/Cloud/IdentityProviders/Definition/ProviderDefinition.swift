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

    public var schemaVersion: Int
    /// What commands and stored sessions call it: lower-case letters, digits and `-`.
    public var id: String
    /// What people call it.
    public var title: String?
    /// Base URLs by environment, such as `production`. Each is `{base}` when it is chosen.
    public var environments: [String: String]?
    public var defaultEnvironment: String?
    /// What the server calls itself (`iss`).
    public var issuer: String?
    /// Where the server tells its endpoints (RFC 8414); those that are written here count first.
    public var discovery: String?
    /// Where tokens may be sent; `{base}` if nothing is said.
    public var resources: [String]?
    public var client: Client?
    public var parameters: [Parameter]?
    /// Secrets beside the client's, which an extension asks for by name. They are settings only: no secret stands in a definition.
    public var secrets: [Parameter]?
    /// The ways that ``ProviderSettings/mode`` chooses between, the usual one first.
    public var modes: [String]?
    /// URLs by use: `authorize`, `token`, `revoke`, `introspect`, `user`, `device`, `endSession`, and what an extension needs.
    public var endpoints: [String: String]?
    /// The ways in and on, by their short names: see ``GrantName``.
    public var grants: [String: Grant]?
    /// The grant of each of the ``modes``, which says what a person is asked for; the one of the same name if nothing is said.
    public var modeGrants: [String: String]?
    /// For grants that the provider does not have: why not, in words for a person.
    public var unsupported: [String: String]?
    public var scope: ScopeRules?
    /// How browsers come back, the usual way first.
    public var redirects: [Redirect]?
    /// What the server calls the members of a token response, by their names in RFC 6749: the first that is there counts.
    public var fields: [String: [String]]?
    /// Where the access token's end is told, the first that is there counting; `expires_in` and the token itself if nothing is said.
    public var expiry: [ExpirySource]?
    /// Where the refresh token's end is told.
    public var refreshExpiry: [ExpirySource]?
    public var refresh: RefreshRules?
    public var placement: Placement?
    public var user: UserRules?
    /// Members of a token response that are kept with the tokens by name, such as `principalID`.
    public var keep: [String]?
    /// Settings to which a stored session is bound: parameters' names, or `base`.
    public var context: [String]?
    /// What the server's refusals mean; the first that fits counts.
    public var errors: [ErrorRule]?
    /// Pages for people: `terms`, `privacy`, `register`, `forgot`, `help`.
    public var links: [String: String]?

    public struct Client: Sendable, Equatable, Codable {
        public var id: String?
        /// How the client proves who it is: `none`, `basic`, `post` or `signed`; found out if nothing is said.
        public var authentication: String?
        /// Where the secret comes from; the secret itself never stands in a definition.
        public var secretFile: String?
        public var secretEnvironment: String?
    }

    public struct Parameter: Sendable, Equatable, Codable {
        public var name: String
        public var description: String?
        /// Whether nothing works without it.
        public var required: Bool?
        public var value: String?
    }

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

    public struct ScopeRules: Sendable, Equatable, Codable {
        /// What is asked for if nobody says otherwise. A scope whose text names a parameter that is not set is left out.
        public var usual: [String]?
        /// What is asked for besides, whatever anybody says.
        public var always: [String]?
        /// The scope without which there is no refresh token.
        public var refresh: String?
    }

    public struct Redirect: Sendable, Equatable, Codable {
        /// `loopback`, `scheme` or `relay`.
        public var way: String
        /// For `loopback`.
        public var path: String?
        /// For the others.
        public var uri: String?
    }

    public struct ExpirySource: Sendable, Equatable, Codable {
        public var field: String
        /// `seconds` from now, `date`, `epoch`, or `jwt`: what the token in that field says about itself.
        public var format: String
    }

    public struct RefreshRules: Sendable, Equatable, Codable {
        /// How many seconds before the end tokens are renewed.
        public var margin: Double?
    }

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
        public var id: [String]?
        public var userName: [String]?
        public var name: [String]?
        public var email: [String]?
        public var phoneNumber: [String]?
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

    public static let authorizationCode = GrantName(rawValue: "authorizationCode")
    public static let implicit = GrantName(rawValue: "implicit")
    public static let password = GrantName(rawValue: "password")
    public static let clientCredentials = GrantName(rawValue: "clientCredentials")
    public static let refreshToken = GrantName(rawValue: "refreshToken")
    public static let deviceCode = GrantName(rawValue: "deviceCode")
    public static let assertion = GrantName(rawValue: "assertion")
    /// User name and password with each request.
    public static let basic = GrantName(rawValue: "basic")
    /// A web session's cookies.
    public static let cookie = GrantName(rawValue: "cookie")

    /// All, in the order in which they are listed.
    public static let all: [GrantName] = [
        .authorizationCode, .implicit, .deviceCode, .password, .clientCredentials, .assertion, .basic, .cookie,
        .refreshToken,
    ]
}
