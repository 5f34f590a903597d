// SPDX-License-Identifier: Apache-2.0
import IdentityProviders

/// A client's secret belongs to its client id, at its provider's addresses (RFC 6749, section 2.3.1).
extension RememberedProviders.Settings {
    /// The client id that these settings lead to, and where its secret is sent.
    public func client(of definition: ProviderDefinition) -> String {
        let id = clientID ?? definition.client?.id ?? ""
        return ([id, "at"] + definition.origins(with: withoutSecrets)).joined(separator: " ")
    }

    /// These settings with what is given now laid over them.
    ///
    /// - Returns: whether secrets were left out, because they are another client's, or for another address. What is given now never is.
    public mutating func update(with given: Self, for definition: ProviderDefinition) -> Bool {
        let before = self
        environment = given.environment ?? environment
        base = given.base ?? base
        clientID = given.clientID ?? clientID
        scope = given.scope ?? scope
        parameters = (parameters ?? [:]).merging(given.parameters ?? [:]) { $1 }
        let client = client(of: definition)
        let isOther = (before.secretsOf ?? before.client(of: definition)) != client
        if isOther { (clientSecretFile, secretFiles) = (nil, nil) }
        clientSecretFile = given.clientSecretFile ?? clientSecretFile
        secretFiles = (secretFiles ?? [:]).merging(given.secretFiles ?? [:]) { $1 }
        secretsOf = client
        return isOther
            && (clientSecretFile == nil && before.clientSecretFile != nil
                || before.secretFiles?.keys.contains { secretFiles?[$0] == nil } == true)
    }

    /// Whether the definition's own client is meant, where the definition has it: the secret that it names is that client's.
    func isDefined(by definition: ProviderDefinition) -> Bool {
        let own = definition.origins(with: ProviderSettings(environment: environment))
        let isItsClient = clientID == nil || definition.client?.id == nil || clientID == definition.client?.id
        return isItsClient && Set(own).isSubset(of: definition.origins(with: withoutSecrets))
    }

    private var withoutSecrets: ProviderSettings {
        ProviderSettings(environment: environment, base: base, parameters: parameters ?? [:])
    }
}
