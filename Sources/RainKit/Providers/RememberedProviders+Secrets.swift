// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore

extension RememberedProviders.Settings {
    /// Ours, for a client's secret that no definition gives a variable of its own.
    public static let clientSecretVariable = "RAINKIT_CLIENT_SECRET"

    /// The settings with the secrets that they name files and variables for: a file first, then the variable that the definition names,
    /// then ``clientSecretVariable``. Those of another client, or for another address, are not used.
    /// Throws `storeUnreadable` for a file or a variable that holds no usable text.
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
            if let name = names.first(where: { environment[$0]?.isEmpty == false }) {
                clientSecret = try Self.secret(environment[name] ?? "", of: name)
            }
        }
        var secrets: [String: Secret] = [:]
        for (name, file) in areOurs ? secretFiles ?? [:] : [:] {
            secrets[name] = try SecretFile.contents(of: file, name: name)
        }
        return ProviderSettings(
            environment: self.environment, base: base, clientID: clientID, clientSecret: clientSecret, scope: scope,
            mode: mode, parameters: parameters ?? [:], secrets: secrets)
    }

    /// By the rules of ``FileText``: a variable may come from a file with Windows line ends.
    private static func secret(_ text: String, of name: String) throws(AccountError) -> Secret {
        do throws(FileText.Fault) {
            return Secret(try FileText.secret(Array(text.utf8)[...]))
        } catch {
            throw AccountError(.storeUnreadable, message: "the client secret in \(name) cannot be used: \(error)")
        }
    }
}
