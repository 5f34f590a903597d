// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON

/// A description of an identity provider as data: its endpoints, its grants and their parameters, the place for tokens, the meaning of its
/// errors. Everything else is in its ``ProviderExtension``.
///
/// Definitions are JSON, with members in camel case as here. `docs/adding-an-identity-provider.md` explains each one. Texts may contain
/// `{base}`, `{clientID}` and the name of any parameter in braces.
public struct ProviderDefinition: Sendable, Equatable, Codable {
    /// The only version that this program reads.
    public static let currentVersion = 1

    /// The version of the definition's format. Any but ``currentVersion`` is `unreadableDefinition`.
    public var schemaVersion: Int
    /// The name in commands and stored sessions: lower-case letters, digits and `-`.
    public var id: String
    /// The name for people.
    public var title: String?
    /// Base URLs by environment, such as `production`. The chosen one becomes `{base}`.
    public var environments: [String: String]?
    /// The environment for users who name none and give no base URL; a key of ``environments``.
    public var defaultEnvironment: String?
    /// The server's name for itself (`iss`).
    public var issuer: String?
    /// The address of the server's description of its endpoints (RFC 8414). Endpoints in the definition have priority.
    public var discovery: String?
    /// The addresses to which tokens may be sent; `{base}` by default.
    public var resources: [String]?
    /// The definition's own client. A user's client id and secret replace it.
    public var client: Client?
    /// The settings that a user can make. Texts name them in braces. Settings that are not listed here are refused.
    public var parameters: [Parameter]?
    /// Secrets beside the client's, which an extension requests by name. They are settings only: a definition contains no secret.
    public var secrets: [Parameter]?
    /// The modes that ``ProviderSettings/mode`` chooses from, the default first.
    public var modes: [String]?
    /// URLs by use: `authorize`, `token`, `revoke`, `introspect`, `user`, `device`, `endSession`, `keys`, and those of an extension.
    public var endpoints: [String: String]?
    /// The grants by their short names: see ``GrantName``.
    public var grants: [String: Grant]?
    /// The grant of each of the ``modes``, which decides what the user is asked for. By default it is the grant of the same name.
    public var modeGrants: [String: String]?
    /// The reasons, for people, why the provider does not have certain grants.
    public var unsupported: [String: String]?
    /// The scope of the requests. By default none is sent, unless the user requests one.
    public var scope: ScopeRules?
    /// How browsers come back, the default first.
    public var redirects: [Redirect]?
    /// The address to which the provider sends a browser after sign-out, as registered for the client (`post_logout_redirect_uri`).
    public var postLogoutRedirect: String?
    /// The server's names for the members of a token response, by their names in RFC 6749. The first that exists counts.
    public var fields: [String: [String]]?
    /// The members with the access token's expiry; the first that exists counts. By default `expires_in` and the token itself.
    public var expiry: [ExpirySource]?
    /// The members with the refresh token's expiry.
    public var refreshExpiry: [ExpirySource]?
    /// When tokens are renewed. The default is a minute before the access token expires, or a tenth of its lifetime if that is less.
    public var refresh: RefreshRules?
    /// How a request carries the access token. The default is `Authorization: Bearer` (RFC 6750, section 2.1).
    public var placement: Placement?
    /// How to read the user's data. The default is the claims of OpenID Connect Core 1.0, section 5.1.
    public var user: UserRules?
    /// Members of a token response that are stored with the tokens by name, such as `principalID`.
    public var keep: [String]?
    /// The settings that a stored session is bound to: parameters' names, or `base`.
    public var context: [String]?
    /// The meanings of the server's refusals. The first rule that fits counts.
    public var errors: [ErrorRule]?
    /// Pages for people: `terms`, `privacy`, `register`, `forgot`, `help`.
    public var links: [String: String]?

    /// The name in messages: its ``title``, or its ``id``.
    public var displayName: String { title.map(presentable) ?? id }

    /// The client that its operator registered with the provider (RFC 6749, section 2).
    public struct Client: Sendable, Equatable, Codable {
        public var id: String?
        /// How the client authenticates: `none`, `basic`, `post` or `signed`. By default it is detected.
        public var authentication: String?
        /// The file with the secret. The secret itself is never in a definition.
        public var secretFile: String?
        /// The environment variable with the secret. ``secretFile`` has priority.
        public var secretEnvironment: String?
        /// The algorithm of the ID tokens that the client is registered for (`id_token_signed_response_alg`): `RS256`, `ES256`, `PS256` or,
        /// with the client's secret as key, `HS256`. By default any of the first three.
        public var identityTokenAlgorithm: String?
    }

    /// A setting of the provider, which texts name in braces.
    public struct Parameter: Sendable, Equatable, Codable {
        /// The name in braces and in ``ProviderSettings/parameters``; for a secret, in ``ProviderSettings/secrets``.
        public var name: String
        /// The meaning of the setting, for the error if it is missing.
        public var description: String?
        /// Whether the provider cannot work without it.
        public var required: Bool?
        /// The default, if the user gives no value.
        public var value: String?
    }

    /// How one grant is requested, if the provider differs from the RFC.
    public struct Grant: Sendable, Equatable, Codable {
        /// `grant_type`, if it is not the usual one.
        public var grantType: String?
        /// The authentication, instead of the client's ``Client/authentication``.
        public var clientAuthentication: String?
        /// `S256` (the default), or `none` for servers that refuse a challenge.
        public var pkce: String?
        /// Whether an ID token repeats a nonce (default: no).
        public var nonce: Bool?
        /// Whether the page sends back a user who gives up with only the state (default: no).
        public var answersWithoutParameters: Bool?
        /// Additional parameters of the authorization request. A parameter whose text names a missing setting is omitted.
        public var authorizeParameters: [String: String]?
        /// Additional parameters of the token request.
        public var parameters: [String: String]?
        /// The place of the token request's parameters: `body` (the default) or `query`.
        public var placement: String?
        /// The token request's name for the user name.
        public var userField: String?
        /// Whether a client without a secret may use it (default: yes).
        public var publicClient: Bool?
        /// The reason why not, for people.
        public var publicClientRemark: String?
    }

    /// The scopes that a sign-in requests (RFC 6749, section 3.3).
    public struct ScopeRules: Sendable, Equatable, Codable {
        /// The default scopes. A scope whose text names a missing setting is omitted.
        public var usual: [String]?
        /// The scopes that are always requested in addition.
        public var always: [String]?
        /// The scope that is required for a refresh token.
        public var refresh: String?
    }

    /// One redirect URI that is registered for the client (RFC 6749, section 3.1.2).
    public struct Redirect: Sendable, Equatable, Codable {
        /// `loopback`, `scheme` or `relay`.
        public var way: String
        /// The path, for `loopback`.
        public var path: String?
        /// For `loopback`: whether the provider compares the port, so that it must be a registered one (default: no). RFC 8252, section
        /// 7.3, lets a program choose any port.
        public var exactPort: Bool?
        /// The address, for the other ways.
        public var uri: String?
    }

    /// A member of the token response with the expiry of a token.
    public struct ExpirySource: Sendable, Equatable, Codable {
        /// The member's name; for `jwt`, the member with the token itself, such as `access_token`.
        public var field: String
        /// `seconds` from now, `date`, `epoch`, or `jwt`: the claims of the token in that field.
        public var format: String
    }

    /// When tokens are renewed.
    public struct RefreshRules: Sendable, Equatable, Codable {
        /// How many seconds before the expiry tokens are renewed.
        public var margin: Double?
    }

    /// The place of the access token in a request.
    public struct Placement: Sendable, Equatable, Codable {
        /// `bearer`, `raw` (the bare token as Authorization header), `query`, or `none` if an extension adds it.
        public var kind: String
        /// The query parameter's name.
        public var name: String?
    }

    /// The names of the members in the user endpoint's answer.
    public struct UserRules: Sendable, Equatable, Codable {
        /// The member that contains the user, if it is not the whole answer.
        public var at: String?
        /// Members with the user's id, as paths with dots. In this list and those below, the first member with a text counts.
        public var id: [String]?
        /// Members with the name for sign-in. The default is `preferred_username` and similar ones, and at last the id.
        public var userName: [String]?
        /// Members with the name for people (default: `name`).
        public var name: [String]?
        /// Members with the e-mail address (default: `email`).
        public var email: [String]?
        /// Members with the telephone number (default: `phone_number`).
        public var phoneNumber: [String]?
        /// Members with the language, such as `en-US` (default: `locale`).
        public var locale: [String]?
        /// The stored value that identifies the user, if there is no user endpoint.
        public var idFromTokens: String?
    }

    /// The meaning of a refusal. All given conditions must fit.
    public struct ErrorRule: Sendable, Equatable, Codable {
        /// The server's name for the cause: OAuth's `error`, or the member at ``at``.
        public var error: String?
        /// The member with the cause, as a path with dots (default: `error`).
        public var at: String?
        /// The HTTP status of the refusal.
        public var status: Int?
        /// Whether the answer has no body, because some servers refuse without one.
        public var empty: Bool?
        /// The grant that was refused, by its short name.
        public var grant: String?
        /// A text that the description must contain.
        public var says: String?
        /// The reason, as in JSON errors: see ``AccountError/Code-swift.struct``.
        public var reason: String
        /// A sentence for the user.
        public var message: String?
    }
}

/// The short names of grants in definitions and on the command line.
public struct GrantName: RawRepresentable, Sendable, Hashable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A code from the sign-in page, which is redeemed for tokens (RFC 6749, section 4.1).
    public static let authorizationCode = GrantName(rawValue: "authorizationCode")
    /// Tokens from the sign-in page at once, for servers that issue no codes (RFC 6749, section 4.2). RFC 9700, section 2.1.2, advises
    /// against it.
    public static let implicit = GrantName(rawValue: "implicit")
    /// User name and password, given to the client (RFC 6749, section 4.3; RFC 9700, section 2.4, forbids it).
    public static let password = GrantName(rawValue: "password")
    /// The program's own client id and secret, without any user (RFC 6749, section 4.4).
    public static let clientCredentials = GrantName(rawValue: "clientCredentials")
    /// New tokens for the refresh token of an earlier sign-in (RFC 6749, section 6).
    public static let refreshToken = GrantName(rawValue: "refreshToken")
    /// A short code that the user enters on another device (RFC 8628).
    public static let deviceCode = GrantName(rawValue: "deviceCode")
    /// An assertion about the user that another party signed (RFC 7523, section 2.1).
    public static let assertion = GrantName(rawValue: "assertion")
    /// User name and password with each request.
    public static let basic = GrantName(rawValue: "basic")
    /// A web session's cookies.
    public static let cookie = GrantName(rawValue: "cookie")

    /// Whether the user signs in at the provider's page.
    public var isInBrowser: Bool { self == .authorizationCode || self == .implicit }

    /// All grants, in the order of lists.
    public static let all: [GrantName] = [
        .authorizationCode, .implicit, .deviceCode, .password, .clientCredentials, .assertion, .basic, .cookie,
        .refreshToken,
    ]
}

extension ProviderDefinition {
    /// Limits for a definition. Real ones have a few kilobytes.
    public static let limits = JSONLimits(maximumBytes: 64 << 10, maximumDepth: 8, maximumValues: 2000)

    /// Reads a definition.
    /// - Parameter origin: the name of the definition in errors: a path, or the provider's name.
    /// - Throws: `unreadableDefinition`, naming the wrong member.
    public init(parsing text: [UInt8], origin: String) throws(AccountError) {
        let json: JSONValue
        do {
            json = try JSONValue(parsing: FileText.document(text), limits: Self.limits)
        } catch let error as FileText.Fault {
            throw Self.unreadable(origin, "\(error)")
        } catch {
            throw Self.unreadable(origin, "it is not JSON: \(error)")
        }
        try self.init(json, origin: origin)
    }

    /// Reads a definition that was already parsed.
    public init(_ json: JSONValue, origin: String) throws(AccountError) {
        let version: Int?
        do throws(JSONError) {
            version = try JSONMembers(json).integer("schemaVersion")
        } catch {
            throw Self.unreadable(origin, error.message)
        }
        guard let version else {
            throw Self.unreadable(origin, "it has no schemaVersion; this program reads version \(Self.currentVersion)")
        }
        guard version == Self.currentVersion else {
            throw Self.unreadable(
                origin, "its schemaVersion is \(version), but this program reads \(Self.currentVersion)")
        }
        do throws(JSONError) {
            self = try JSONCoder.decode(ProviderDefinition.self, from: json)
        } catch {
            throw Self.unreadable(origin, "\(error)")
        }
        if let problem { throw Self.unreadable(origin, problem) }
        // An unknown member is probably misspelt, and would make a sign-in fail later.
        if let known = try? JSONCoder.value(of: self),
            let stray = json.firstMember(unknownTo: known) ?? json.without("extends").firstNull(unknownTo: Self.self)
        {
            throw Self.unreadable(origin, "it has an unknown member, \(stray)")
        }
    }

    /// Returns the first name that is not a grant, in the members that have the names of grants, whatever its value.
    static func unknownGrant(in json: JSONValue) -> String? {
        let names = ["grants", "unsupported"].flatMap { json[$0]?.members ?? [] }.map(\.name)
        return names.first { !GrantName.all.contains(GrantName(rawValue: $0)) }
    }

    static func unreadable(_ origin: String, _ what: String) -> AccountError {
        AccountError(
            .unreadableDefinition,
            message: "the provider's definition \(presentable(origin)) cannot be used: \(presentable(what))")
    }

    /// The first contradiction or invalid value.
    private var problem: String? {
        guard Self.isID(id) else { return "id must have 1 to 32 lower-case letters, digits and -" }
        if let name = defaultEnvironment, environments?[name] == nil {
            return "defaultEnvironment is not the name of an environment"
        }
        for name in (grants ?? [:]).keys.sorted() + (unsupported ?? [:]).keys.sorted()
        where !GrantName.all.contains(GrantName(rawValue: name)) {
            return "the grant \"\(name)\" is not known"
        }
        for mode in modes ?? [] where grants?[modeGrants?[mode] ?? mode] == nil {
            return "the mode \(mode) has no grant"
        }
        for rule in errors ?? [] where AccountError.Code(reason: rule.reason) == nil {
            return "errors: there is no reason \(rule.reason)"
        }
        let ways =
            [client?.authentication].compactMap { $0 } + (grants ?? [:]).values.compactMap(\.clientAuthentication)
        for way in ways where !["none", "basic", "post", "signed"].contains(way) {
            return "clientAuthentication is \(way), but must be basic, post, signed or none"
        }
        for source in (expiry ?? []) + (refreshExpiry ?? [])
        where !["seconds", "date", "epoch", "jwt"].contains(source.format) {
            return "the expiry format is \(source.format), but must be seconds, date, epoch or jwt"
        }
        for redirect in redirects ?? [] {
            switch redirect.way {
            case "loopback": if redirect.path?.hasPrefix("/") == false { return "a loopback path begins with /" }
            case "scheme", "relay": if redirect.uri == nil { return "a \(redirect.way) redirect needs a uri" }
            default: return "the redirect way is \(redirect.way), but must be loopback, scheme or relay"
            }
        }
        if let kind = placement?.kind, !["bearer", "raw", "query", "none"].contains(kind) {
            return "the placement is \(kind), but must be bearer, raw, query or none"
        }
        for grant in (grants ?? [:]).values {
            if let pkce = grant.pkce, !["S256", "none"].contains(pkce) { return "pkce must be S256 or none" }
            if let place = grant.placement, !["body", "query"].contains(place) {
                return "placement must be body or query"
            }
        }
        return nil
    }

    private static func isID(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }
}

/// One grant, and whether a provider has it.
public struct ProviderCapability: Sendable, Equatable {
    /// The grant. ``GrantName/refreshToken`` stands for renewals.
    public var grant: GrantName
    /// The reason why the provider does not have it; nil if it does.
    public var whyNot: String?

    /// Whether the definition has the grant. Some grants also need a client secret.
    public var isAvailable: Bool { whyNot == nil }
}

extension ProviderDefinition {
    /// The grants that the provider has, and the reasons why it does not have the others.
    public var capabilities: [ProviderCapability] {
        GrantName.all.map { grant in
            if grants?[grant.rawValue] != nil { return ProviderCapability(grant: grant) }
            return ProviderCapability(
                grant: grant, whyNot: unsupported?[grant.rawValue] ?? "\(title ?? id) does not offer this grant")
        }
    }
}

extension ProviderDefinition {
    /// Returns the grant of a mode; nil if there is no such mode.
    public func grant(ofMode mode: String) -> GrantName? {
        guard modes?.contains(mode) == true else { return nil }
        return GrantName(rawValue: modeGrants?[mode] ?? mode)
    }

    /// The usual grant for signing in at the provider's page. It is that of the first mode that uses the page, otherwise a code. If there
    /// are no codes, it is the implicit grant.
    public var usualBrowserGrant: GrantName {
        if let grant = (modes ?? []).lazy.compactMap({ grant(ofMode: $0) }).first(where: \.isInBrowser) { return grant }
        let has = { (grant: GrantName) in grants?[grant.rawValue] != nil }
        return has(.authorizationCode) || !has(.implicit) ? .authorizationCode : .implicit
    }
}

extension ProviderDefinition {
    /// Returns the origins (scheme, host and port: RFC 6454, section 4) to which a client with these settings sends tokens and secrets,
    /// each once and in order. An origin that needs a missing setting is omitted.
    ///
    /// The server's description of itself (``discovery``) may name others, but it is requested only from these origins.
    public func origins(with settings: ProviderSettings) -> [String] { origins(filledWith: values(with: settings)) }

    /// Returns the addresses of the pages for people (``links``), for a client with these settings. An address that needs a missing setting
    /// is omitted.
    public func links(with settings: ProviderSettings) -> [String: String] {
        let values = values(with: settings)
        return (links ?? [:]).compactMapValues { filled(withoutMissingParts($0, values), values, isURL: true) }
    }

    private func values(with settings: ProviderSettings) -> [String: String] {
        var values: [String: String] = [:]
        for parameter in parameters ?? [] {
            values[parameter.name] = settings.parameters[parameter.name] ?? parameter.value
        }
        values["base"] = settings.base ?? (settings.environment ?? defaultEnvironment).flatMap { environments?[$0] }
        values["clientID"] = settings.clientID ?? client?.id
        return values
    }

    func origins(filledWith values: [String: String]) -> [String] {
        let templates = [issuer, discovery].compactMap(\.self) + (resources ?? ["{base}"]) + (endpoints ?? [:]).values
        return Set(templates.compactMap { origin($0, values) }).sorted()
    }
}

/// Returns the origin of a URL template. The settings in its path may be missing.
private func origin(_ template: String, _ values: [String: String]) -> String? {
    filled(String(untilPath(withoutMissingParts(template, values))), values).map { untilPath($0).lowercased() }
}

private func untilPath(_ url: String) -> Substring {
    let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
    return url[..<(rest.firstIndex { "/?#".contains($0) } ?? url.endIndex)]
}

extension ProviderDefinition {
    /// Returns the meaning of a refusal by the first rule of the definition that fits; nil if none does.
    func error(for refusal: EndpointRefusal, _ grant: GrantName?) -> AccountError? {
        for rule in errors ?? [] where rule.fits(refusal, grant) {
            guard let code = AccountError.Code(reason: rule.reason) else { continue }
            return refusal.error(code, message: rule.message, cause: rule.error)
        }
        return nil
    }
}

extension ProviderDefinition.ErrorRule {
    fileprivate func fits(_ refusal: EndpointRefusal, _ grant: GrantName?) -> Bool {
        // A rule for answers without a body fits nothing else. An unreadable body fits no rule.
        guard empty == true ? refusal.isEmpty : refusal.json != nil else { return false }
        if let wanted = self.grant, wanted != grant?.rawValue { return false }
        if let status, status != refusal.status { return false }
        if let says, refusal.words?.contains(says) != true { return false }
        guard let error else { return true }
        return refusal.json?.text(at: at ?? "error") == error
    }
}
