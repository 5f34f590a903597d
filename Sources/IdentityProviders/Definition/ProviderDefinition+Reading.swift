// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON

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
            throw Self.unreadable(origin, "nothing is known about its member \(stray)")
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
