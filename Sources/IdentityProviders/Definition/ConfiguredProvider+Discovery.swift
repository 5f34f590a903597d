// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import Synchronization

/// What a server said about itself, once it was asked. Shared by all copies of a provider.
final class DiscoveredMetadata: Sendable {
    private let value = Mutex<ServerMetadata?>(nil)
    var known: ServerMetadata? { value.withLock { $0 } }
    func set(_ metadata: ServerMetadata) { value.withLock { $0 = metadata } }

    /// Forgets it if what it says is not so any more: the server has nothing at one of the endpoints that it named.
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
    /// What the server says about itself (RFC 8414): asked for once, and again after an endpoint turned out to be gone (404, 410).
    ///
    /// - Throws: `untrustedAnswer` if it is another issuer's (section 3.3), `malformedAnswer` if it is none.
    public func serverMetadata() async throws(AccountError) -> ServerMetadata {
        if let known = metadata.known { return known }
        guard let template = definition.discovery else {
            throw AccountError(
                .unsupported, message: "\(title) publishes no description of its endpoints (no discovery)")
        }
        guard let url = filled(template, values, isURL: true) else {
            throw AccountError(
                .missingParameter, message: "\(title) cannot be found without its settings: \(template)",
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

    /// A server without a description is no provider, whatever page it shows. Other errors stay as they are.
    private func nothingPublished(_ error: AccountError, at url: String) -> AccountError {
        guard let status = error.status, [404, 405, 501].contains(status) else { return error }
        let isIssuer = definition.issuer == "{issuer}"
        let place = isIssuer ? definition.issuer.flatMap(text) ?? url : url
        var error = error
        error.code = .invalidConfiguration
        error.message =
            "no \(title) provider is at \(presentable(place)) (HTTP \(status) for its description); check the "
            + (isIssuer ? "issuer" : "base URL")
        error.remedies = isIssuer ? [.parameter(name: "issuer")] : [.baseURL]
        return error
    }

    private func otherIssuer(_ found: String, than given: String, at url: String) -> AccountError {
        let names =
            "\(presentable(url)) names the issuer \(presentable(found)), and \(presentable(given)) is configured"
        guard ServerMetadata.differOnlyInSlash(found, given) else {
            return AccountError(.untrustedAnswer, message: "\(names): this is another provider's description")
        }
        let message = "\(names): they differ only in the \"/\" at the end. Configure the issuer as the server writes it"
        return AccountError(
            .untrustedAnswer, message: message,
            remedies: definition.issuer == "{issuer}" ? [.parameter(name: "issuer")] : [])
    }
}

extension ConfiguredProvider {
    /// The URL for a use, such as `token`.
    /// - Throws: `unsupported` if the provider has none, `missingParameter` if a setting in it is not given, `insecureURL`, and what
    ///   discovery throws.
    public func endpoint(_ use: String) async throws(AccountError) -> String {
        if let endpoint = try await findEndpoint(use) { return endpoint }
        throw AccountError(.unsupported, message: "\(title) has no endpoint for \(use)")
    }

    /// nil where the provider has none for that use.
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

    /// What the server calls itself, where that is known.
    public func issuer() async throws(AccountError) -> String? {
        if definition.discovery != nil { return try await serverMetadata().issuer }
        return definition.issuer.flatMap(text)
    }
}

/// https, or plain http to this machine only, as for ``ServiceURL``; with a query it may come.
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
    /// A refusal of a sign-in's call, by a server that has nothing at its address: the base URL is wrong. Other errors stay as they are.
    func nothingThere(of title: String, at host: String) -> AccountError {
        guard code == .rejected, let status, [404, 405, 410, 501].contains(status) else { return self }
        var error = self
        error.code = .invalidConfiguration
        error.message = "nothing of \(title) is at this base URL (\(host), HTTP \(status))"
        error.remedies = [.baseURL]
        return error
    }
}
