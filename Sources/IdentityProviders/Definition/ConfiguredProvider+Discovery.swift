// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import Synchronization

/// A server's metadata, after it was requested. All copies of a provider share it.
final class DiscoveredMetadata: Sendable {
    private let value = Mutex<ServerMetadata?>(nil)
    fileprivate var known: ServerMetadata? { value.withLock { $0 } }
    fileprivate func set(_ metadata: ServerMetadata) { value.withLock { $0 = metadata } }

    /// Forgets the metadata if it is outdated: the server has nothing at one of the endpoints that it named.
    func learn(status: Int, from url: String) {
        guard status == 404 || status == 410 else { return }
        value.withLock { value in
            if value?.endpoints.contains(where: { withoutQuery($0) == withoutQuery(url) }) == true { value = nil }
        }
    }

    private func withoutQuery(_ url: String) -> Substring { url.prefix { $0 != "?" } }
}

extension ServerMetadata {
    fileprivate var endpoints: [String] {
        [
            authorizationEndpoint, tokenEndpoint, userInfoEndpoint, revocationEndpoint, introspectionEndpoint,
            deviceAuthorizationEndpoint, endSessionEndpoint,
        ].compactMap(\.self)
    }
}

extension ConfiguredProvider {
    /// Returns the server's description of itself (RFC 8414). It is requested once, and again after an endpoint has disappeared (404, 410).
    ///
    /// - Throws: `untrustedAnswer` if it names another issuer (section 3.3), `malformedAnswer` if it is not a description.
    public func serverMetadata() async throws(AccountError) -> ServerMetadata {
        if let known = metadata.known { return known }
        guard let template = definition.discovery else {
            throw AccountError(
                .unsupported, message: "\(title) publishes no description of its endpoints (no discovery)")
        }
        if let error = descriptionAsIssuer { throw error }
        guard let url = filled(template, values, isURL: true) else {
            throw AccountError(
                .missingParameter, message: "the address of \(title) needs settings that are missing: \(template)",
                remedies: [.baseURL])
        }
        let request = HTTPRequest(
            method: .get, url: try secureURL(url), headers: HTTPRequest.usualHeaders,
            maximumResponseBytes: ServerMetadata.limits.maximumBytes)
        let json: JSONValue
        do throws(AccountError) {
            json = try await exchange(request).json
        } catch {
            throw nothingPublished(error, at: url)
        }
        let found: ServerMetadata
        do throws(OAuth2FormatError) {
            found = try ServerMetadata(json)
        } catch {
            throw AccountError(
                .malformedAnswer, message: "\(presentable(url)) does not describe this provider: \(error.message)")
        }
        if let issuer = definition.issuer.flatMap(text) {
            do throws(OAuth2FormatError) { try found.check(issuer: issuer) } catch {
                throw otherIssuer(found.issuer, than: issuer, at: url)
            }
        }
        metadata.set(found)
        return found
    }

    /// The error for an issuer that is the address of its description; nil for any other issuer.
    private var descriptionAsIssuer: AccountError? {
        let paths = ["/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"]
        guard definition.issuer == "{issuer}", let issuer = values["issuer"],
            let path = paths.first(where: { withoutFinalSlashes(issuer).hasSuffix($0) })
        else { return nil }
        return AccountError(
            .invalidConfiguration,
            message:
                "give the issuer without \(path): \(presentable(ShownText.withoutUserInfo(issuer))) is the address of the provider's "
                + "description", remedies: [.parameter(name: "issuer")])
    }

    /// Returns the error for a server without a description. It is not a provider, whatever page it shows. Other errors do not change.
    private func nothingPublished(_ error: AccountError, at url: String) -> AccountError {
        let isPage = error.code == .malformedAnswer && 200..<300 ~= error.status ?? 0
        guard let status = error.status, isPage || [404, 405, 501].contains(status) else { return error }
        let isIssuer = definition.issuer == "{issuer}"
        let place = isIssuer ? definition.issuer.flatMap(text) ?? url : url
        var error = error
        error.remedies = isIssuer ? [.parameter(name: "issuer")] : [.baseURL]
        guard !isPage else {
            error.message =
                "\(presentable(place)) answered without a description of a \(title) provider (HTTP \(status), and no readable JSON). "
                + "Another web site or this network's sign-in page probably answered. Check the "
                + (isIssuer ? "issuer" : "base URL")
            return error
        }
        error.code = .invalidConfiguration
        error.message =
            "no \(title) provider was found at \(presentable(place)): the request for its description returned HTTP \(status); check the "
            + (isIssuer ? "issuer" : "base URL")
        return error
    }

    private func otherIssuer(_ found: String, than given: String, at url: String) -> AccountError {
        let names =
            "\(presentable(url)) has the issuer \(presentable(found)), but the configured issuer is \(presentable(given))"
        guard ServerMetadata.differOnlyInSlash(found, given) else {
            return AccountError(.untrustedAnswer, message: "\(names). The description belongs to another provider")
        }
        let message =
            "\(names). The two differ only in the \"/\" at the end. Configure the issuer exactly as the server writes it"
        return AccountError(
            .untrustedAnswer, message: message,
            remedies: definition.issuer == "{issuer}" ? [.parameter(name: "issuer")] : [])
    }
}

extension ConfiguredProvider {
    /// Returns the URL for a use, such as `token`.
    /// - Throws: `unsupported` if the provider has none, `missingParameter` if a setting in it is missing, `insecureURL`, and the errors of
    ///   discovery.
    public func endpoint(_ use: String) async throws(AccountError) -> String {
        if let endpoint = try await findEndpoint(use) { return endpoint }
        guard definition.endpoints?[use] == nil, let member = Self.members[use], let place = descriptionAddress else {
            throw AccountError(.unsupported, message: "\(title) has no endpoint for \(use)")
        }
        throw AccountError(.unsupported, message: "the description at \(presentable(place)) has no \(member)")
    }

    /// The members of a server's metadata with the URLs of endpoints (RFC 8414, section 2; RFC 8628, section 4; OpenID Connect Discovery).
    private static let members = [
        "authorize": "authorization_endpoint", "token": "token_endpoint", "user": "userinfo_endpoint",
        "revoke": "revocation_endpoint", "introspect": "introspection_endpoint",
        "device": "device_authorization_endpoint", "endSession": "end_session_endpoint", "keys": "jwks_uri",
    ]

    /// The address of the server's description; nil if the provider has none.
    private var descriptionAddress: String? {
        definition.discovery.flatMap { filled($0, values, isURL: true) }
    }

    /// Returns the URL for a use; nil if the provider has none.
    public func findEndpoint(_ use: String, _ more: [String: String] = [:]) async throws(AccountError) -> String? {
        if let template = definition.endpoints?[use] {
            let values = values.merging(more) { $1 }
            guard let text = filled(withoutMissingParts(template, values), values, isURL: true) else {
                throw AccountError(
                    .missingParameter,
                    message: "\(title)'s \(use) endpoint needs a setting that was not given: \(template)")
            }
            return try secureURL(text)
        }
        guard definition.discovery != nil else { return nil }
        let metadata = try await serverMetadata()
        let found: String? =
            switch use {
            case "authorize": metadata.authorizationEndpoint
            case "token": metadata.tokenEndpoint
            case "user": metadata.userInfoEndpoint
            case "revoke": metadata.revocationEndpoint
            case "introspect": metadata.introspectionEndpoint
            case "device": metadata.deviceAuthorizationEndpoint
            case "endSession": metadata.endSessionEndpoint
            case "keys": metadata.keysURL
            default: nil
            }
        return try found.map { text throws(AccountError) in try secureURL(text) }
    }

    /// Returns the server's name for itself, if known.
    public func issuer() async throws(AccountError) -> String? {
        if definition.discovery != nil { return try await serverMetadata().issuer }
        return definition.issuer.flatMap(text)
    }
}

extension ConfiguredProvider {
    /// The path of the provider's usual base URL, such as `/oauth2`, if the given base URL does not end with it.
    fileprivate var missingPath: String? {
        guard let base = settings.base, let name = definition.defaultEnvironment,
            let usual = definition.environments?[name]
        else { return nil }
        let parts = usual.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, !parts[3].isEmpty else { return nil }
        let path = "/\(parts[3])"
        return base.hasSuffix(path) || base.hasSuffix("\(path)/") ? nil : path
    }
}

/// Checks that the URL is https, or plain http to this machine, as for ``ServiceURL``. It may have a query.
func secureURL(_ text: String) throws(AccountError) -> String {
    let end = text.firstIndex(of: "?") ?? text.endIndex
    _ = try ServiceURL(String(text[..<end]))
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), !text.contains("#") else {
        throw AccountError(
            .invalidConfiguration,
            message: "\"\(presentable(ShownText.withoutUserInfo(text)))\" is not an endpoint's URL")
    }
    return text
}

extension AccountError {
    /// Returns the error for a sign-in call that was refused by a server with nothing at its address: the base URL is wrong. Other errors
    /// do not change.
    func nothingThere(at provider: ConfiguredProvider, _ host: String) -> AccountError {
        guard code == .rejected, let status, [404, 405, 410, 501].contains(status) else { return self }
        var error = self
        error.code = .invalidConfiguration
        let path = provider.missingPath.map { "; perhaps \($0) is missing at the end of the URL" } ?? ""
        error.message = "there is no \(provider.title) service at this base URL (\(host), HTTP \(status))\(path)"
        error.remedies = [.baseURL]
        return error
    }
}
