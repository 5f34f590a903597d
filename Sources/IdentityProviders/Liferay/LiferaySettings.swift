// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore

/// The checked settings of a portal, under the names of the attributes of Liferay's Login Screenlet.
struct LiferaySettings: Sendable {
    enum Mode: String, Sendable, CaseIterable { case basic, cookie, oauth2Redirect, oauth2UsernameAndPassword }

    var server: ServiceURL
    var mode: Mode
    /// The portal instance: the configured one, or that of the server context if it is 0; nil if neither is set.
    var companyID: Int64?
    /// The name of the setting that ``companyID`` comes from.
    var companySetting: String
    var loginBy: LiferayLogin.Kind?
    /// The portal's version; nil if it is not set. Then it is detected.
    var version: LiferayVersion?
    var renewsCookies: Bool
    /// The lifetime of cookies in seconds.
    var cookieLifetime: Double

    init(_ provider: ConfiguredProvider) throws(AccountError) {
        guard let base = provider["base"] else {
            throw AccountError(
                .missingParameter,
                message: "\(provider.title) cannot be used without the portal's address", remedies: [.baseURL])
        }
        server = try ServiceURL(base)
        mode = try Self.choice(provider.settings.mode ?? "basic", "mode")
        loginBy = try provider["loginBy"].map { text throws(AccountError) in try Self.choice(text, "loginBy") }
        companyID = try Self.companyID(provider)
        let hasOwn = provider["companyId"].flatMap { Int64($0) } ?? 0 != 0
        companySetting = hasOwn || companyID == nil ? "companyId" : "contextCompanyId"
        version = try provider["serverVersion"].map { text throws(AccountError) in
            if let version = LiferayVersion(text) { return version }
            let known = LiferayVersion.known.map { "\($0.rawValue)" }.joined(separator: ", ")
            throw Self.wrong(
                "serverVersion", "one of \(known), not \"\(presentable(text))\"; without it, the version is detected")
        }
        let renews = provider["shouldHandleCookieExpiration"] ?? "true"
        guard renews == "true" || renews == "false" else {
            throw Self.wrong("shouldHandleCookieExpiration", "true or false")
        }
        renewsCookies = renews == "true"
        guard let lifetime = Double(provider["cookieExpirationTime"] ?? "900"), lifetime >= 0, lifetime < 1e9 else {
            throw Self.wrong("cookieExpirationTime", "a number of seconds")
        }
        cookieLifetime = lifetime
    }

    static func companyID(_ provider: ConfiguredProvider) throws(AccountError) -> Int64? {
        guard let own = Int64(provider["companyId"] ?? "0"), own >= 0,
            let context = Int64(provider["contextCompanyId"] ?? "0"), context >= 0
        else { throw wrong("companyId", "a number") }
        return [own, context].first { $0 != 0 }
    }

    private static func choice<Value: RawRepresentable & CaseIterable>(
        _ text: String, _ name: String
    ) throws(AccountError) -> Value where Value.RawValue == String {
        if let value = Value(rawValue: text) { return value }
        throw wrong(name, "one of " + Value.allCases.map(\.rawValue).joined(separator: ", "))
    }

    private static func wrong(_ name: String, _ what: String) -> AccountError {
        AccountError(
            .invalidConfiguration, message: "Liferay's setting \(name) must be \(what)",
            remedies: [.parameter(name: name)])
    }
}

/// The name with which a user signs in at a portal. A portal is configured for one kind of name, and refuses the others.
public struct LiferayLogin: Sendable, Equatable {
    /// The kind of the name: an e-mail address, the screen name that the user chose, or the user's number in the portal.
    public enum Kind: String, Sendable, CaseIterable { case email, screenName, userId }

    /// The kind under which the name is sent.
    public var kind: Kind
    /// The name as the user entered it.
    public var name: String

    /// - Parameter kind: nil to decide by the form of the name.
    public init(_ name: String, kind: Kind? = nil) {
        self.kind = kind ?? Self.guess(name)
        self.name = name
    }

    /// Whether the name can be one of its kind.
    var isPossible: Bool { kind != .userId || Int64(name).map { $0 > 0 } ?? false }

    /// Guesses like Liferay's mobile SDK: a name with `@` is an e-mail address, a name of digits is a user's id.
    private static func guess(_ name: String) -> Kind {
        if name.utf8.contains(UInt8(ascii: "@")) { return .email }
        return !name.isEmpty && name.utf8.allSatisfy { (0x30...0x39).contains($0) } ? .userId : .screenName
    }
}
