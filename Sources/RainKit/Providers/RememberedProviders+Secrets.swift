// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore

extension RememberedProviders.Settings {
    /// Ours, for a client's secret that no definition gives a variable of its own.
    public static let clientSecretVariable = "RAINKIT_CLIENT_SECRET"

    /// The settings with the secrets that they name files and variables for: a file first, then the variable that the definition names,
    /// then ``clientSecretVariable``. Those of another client, or for another address, are not used.
    /// Throws `storeUnreadable` for a file that cannot be read.
    public func withSecrets(
        for definition: ProviderDefinition, environment: [String: String]
    ) throws(AccountError) -> ProviderSettings {
        let client = isDefined(by: definition) ? definition.client : nil
        let areOurs = secretsOf == nil || secretsOf == self.client(of: definition)
        var clientSecret: Secret?
        if let file = areOurs ? clientSecretFile ?? client?.secretFile : client?.secretFile {
            clientSecret = try SecretFile.contents(of: file, name: "client secret")
        } else {
            let names = [client?.secretEnvironment, Self.clientSecretVariable].compactMap(\.self)
            clientSecret = names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }.map { Secret($0) }
        }
        var secrets: [String: Secret] = [:]
        for (name, file) in areOurs ? secretFiles ?? [:] : [:] {
            secrets[name] = try SecretFile.contents(of: file, name: name)
        }
        return ProviderSettings(
            environment: self.environment, base: base, clientID: clientID, clientSecret: clientSecret, scope: scope,
            mode: mode, parameters: parameters ?? [:], secrets: secrets)
    }
}
