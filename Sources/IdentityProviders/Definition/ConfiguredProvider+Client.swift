// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore

extension ConfiguredProvider {
    /// - Throws: `missingParameter` without a client id.
    public func clientID() throws(AccountError) -> String {
        guard let id = values["clientID"], !id.isEmpty else {
            throw AccountError(
                .missingParameter,
                message: "\(title) cannot be used without a client id, which its operator gives", remedies: [.clientID])
        }
        return id
    }

    /// How the client proves who it is with this grant.
    public func client(for grant: GrantName) async throws(AccountError) -> ClientAuthentication {
        let id = try clientID()
        let rules = definition.grants?[grant.rawValue]
        guard let secret = settings.clientSecret else {
            if lacksSecret(for: grant) {
                throw AccountError(
                    grant == .refreshToken ? .notRenewable : .missingParameter,
                    message: rules?.publicClientRemark ?? "\(title) wants the client's secret for this",
                    remedies: [.clientSecret])
            }
            return .none(clientID: id)
        }
        switch rules?.clientAuthentication ?? definition.client?.authentication {
        case "none": return .none(clientID: id)
        case "basic": return .basic(clientID: id, secret: secret)
        case "post": return .post(clientID: id, secret: secret)
        case "signed": return .signed(clientID: id)
        default:
            let methods =
                definition.discovery == nil ? nil : try await serverMetadata().tokenEndpointAuthenticationMethods
            if let methods, !methods.contains("client_secret_basic"), methods.contains("client_secret_post") {
                return .post(clientID: id, secret: secret)
            }
            return .basic(clientID: id, secret: secret)
        }
    }

    /// Whether the provider wants the client's secret with this grant, as far as its definition says, and nobody gave one.
    func lacksSecret(for grant: GrantName) -> Bool {
        guard settings.clientSecret == nil else { return false }
        let rules = definition.grants?[grant.rawValue]
        let wanted = rules?.clientAuthentication ?? definition.client?.authentication
        return rules?.publicClient == false || wanted != nil && wanted != "none"
    }

    /// What to ask for.
    public var scope: [String] {
        let asked = settings.scope ?? (definition.scope?.usual ?? []).compactMap { text($0) }
        return asked + (definition.scope?.always ?? []).compactMap { text($0) }.filter { !asked.contains($0) }
    }
}
