// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore

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
