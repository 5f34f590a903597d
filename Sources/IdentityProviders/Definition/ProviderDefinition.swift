// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON

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

extension ProviderDefinition {
    /// Definitions are a few kilobytes.
    public static let limits = JSONLimits(maximumBytes: 64 << 10, maximumDepth: 8, maximumValues: 2000)

    /// Reads a definition.
    /// - Parameter origin: what to call it in errors: a path, or the provider's name.
    /// - Throws: `unreadableDefinition`, naming the member that is wrong.
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

    /// Reads a definition that was parsed before.
    public init(_ json: JSONValue, origin: String) throws(AccountError) {
        let version: Int?
        do throws(JSONError) {
            version = try JSONMembers(json).integer("schemaVersion")
        } catch {
            throw Self.unreadable(origin, error.message)
        }
        guard let version else {
            throw Self.unreadable(origin, "it has no schemaVersion; the one that is read is \(Self.currentVersion)")
        }
        guard version == Self.currentVersion else {
            throw Self.unreadable(
                origin, "its schemaVersion is \(version) and this program reads \(Self.currentVersion)")
        }
        do throws(JSONError) {
            self = try JSONCoder.decode(ProviderDefinition.self, from: json)
        } catch {
            throw Self.unreadable(origin, "\(error)")
        }
        if let problem { throw Self.unreadable(origin, problem) }
        // An unknown member is a misspelt one, and would make a sign-in fail later.
        if let known = try? JSONCoder.value(of: self),
            let stray = json.firstMember(unknownTo: known) ?? json.without("extends").firstNull(unknownTo: Self.self)
        {
            throw Self.unreadable(origin, "it has an unknown member, \(stray)")
        }
    }

    /// The first name that is not a grant's, whatever its value, where a definition has the names of grants.
    static func unknownGrant(in json: JSONValue) -> String? {
        let names = ["grants", "unsupported"].flatMap { json[$0]?.members ?? [] }.map(\.name)
        return names.first { !GrantName.all.contains(GrantName(rawValue: $0)) }
    }

    static func unreadable(_ origin: String, _ what: String) -> AccountError {
        AccountError(
            .unreadableDefinition,
            message: "the provider's definition \(presentable(origin)) cannot be used: \(presentable(what))")
    }

    /// The first thing about it that cannot be.
    private var problem: String? {
        guard Self.isID(id) else { return "id is not lower-case letters, digits and - (at most 32)" }
        if let name = defaultEnvironment, environments?[name] == nil {
            return "defaultEnvironment names no environment"
        }
        for name in (grants ?? [:]).keys.sorted() + (unsupported ?? [:]).keys.sorted()
        where !GrantName.all.contains(GrantName(rawValue: name)) {
            return "there is no grant \(name)"
        }
        for mode in modes ?? [] where grants?[modeGrants?[mode] ?? mode] == nil {
            return "the mode \(mode) names no grant"
        }
        for rule in errors ?? [] where AccountError.Code(reason: rule.reason) == nil {
            return "errors: there is no reason \(rule.reason)"
        }
        let ways =
            [client?.authentication].compactMap { $0 } + (grants ?? [:]).values.compactMap(\.clientAuthentication)
        for way in ways where !["none", "basic", "post", "signed"].contains(way) {
            return "clientAuthentication \(way) is none of none, basic, post, signed"
        }
        for source in (expiry ?? []) + (refreshExpiry ?? [])
        where !["seconds", "date", "epoch", "jwt"].contains(source.format) {
            return "the expiry format \(source.format) is none of seconds, date, epoch, jwt"
        }
        for redirect in redirects ?? [] {
            switch redirect.way {
            case "loopback": if redirect.path?.hasPrefix("/") == false { return "a loopback path begins with /" }
            case "scheme", "relay": if redirect.uri == nil { return "a \(redirect.way) redirect has a uri" }
            default: return "the redirect way \(redirect.way) is none of loopback, scheme, relay"
            }
        }
        if let kind = placement?.kind, !["bearer", "raw", "query", "none"].contains(kind) {
            return "the placement \(kind) is none of bearer, raw, query, none"
        }
        for grant in (grants ?? [:]).values {
            if let pkce = grant.pkce, !["S256", "none"].contains(pkce) { return "pkce is S256 or none" }
            if let place = grant.placement, !["body", "query"].contains(place) { return "placement is body or query" }
        }
        return nil
    }

    static func isID(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }
}

/// One way in, or on, and whether a provider has it.
public struct ProviderCapability: Sendable, Equatable {
    /// The way in; ``GrantName/refreshToken`` is the way on.
    public var grant: GrantName
    /// Why not; nil if the provider has it.
    public var whyNot: String?

    /// Whether the definition has the grant. Some need a client secret besides.
    public var isAvailable: Bool { whyNot == nil }
}

extension ProviderDefinition {
    /// What the provider can do, and why it cannot do the rest.
    public var capabilities: [ProviderCapability] {
        GrantName.all.map { grant in
            if grants?[grant.rawValue] != nil { return ProviderCapability(grant: grant) }
            return ProviderCapability(
                grant: grant, whyNot: unsupported?[grant.rawValue] ?? "\(title ?? id) does not offer it")
        }
    }
}

extension ProviderDefinition {
    /// The grant that a mode stands for; nil if there is no such mode.
    public func grant(ofMode mode: String) -> GrantName? {
        guard modes?.contains(mode) == true else { return nil }
        return GrantName(rawValue: modeGrants?[mode] ?? mode)
    }

    /// How people usually sign in at the provider's page: as the first of the modes that leads there, else by a code, else by tokens at
    /// once where there are no codes.
    public var usualBrowserGrant: GrantName {
        if let grant = (modes ?? []).lazy.compactMap({ grant(ofMode: $0) }).first(where: \.isInBrowser) { return grant }
        let has = { (grant: GrantName) in grants?[grant.rawValue] != nil }
        return has(.authorizationCode) || !has(.implicit) ? .authorizationCode : .implicit
    }
}

extension ProviderDefinition {
    /// The origins (scheme, host and port: RFC 6454, section 4) that a client with these settings sends tokens and secrets to, each once
    /// and in order. One that a setting names which is not given is left out.
    ///
    /// What the server tells about itself (``discovery``) may name others; it is only asked where this says.
    public func origins(with settings: ProviderSettings) -> [String] { origins(filledWith: values(with: settings)) }

    /// The addresses of the pages for people (``links``), for a client with these settings. A page whose address needs a setting that is not
    /// given is left out.
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

/// The origin of a URL template, of whose path nothing need be known.
private func origin(_ template: String, _ values: [String: String]) -> String? {
    filled(String(untilPath(withoutMissingParts(template, values))), values).map { untilPath($0).lowercased() }
}

private func untilPath(_ url: String) -> Substring {
    let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
    return url[..<(rest.firstIndex { "/?#".contains($0) } ?? url.endIndex)]
}

extension ProviderDefinition {
    /// What the first of the definition's own rules that fits makes of a refusal; nil where none does.
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
        // A rule for answers without a body is for nothing else, and an unreadable one fits none.
        guard empty == true ? refusal.isEmpty : refusal.json != nil else { return false }
        if let wanted = self.grant, wanted != grant?.rawValue { return false }
        if let status, status != refusal.status { return false }
        if let says, refusal.words?.contains(says) != true { return false }
        guard let error else { return true }
        return refusal.json?.text(at: at ?? "error") == error
    }
}
