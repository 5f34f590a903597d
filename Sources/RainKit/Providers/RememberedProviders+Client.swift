// SPDX-License-Identifier: Apache-2.0
import IdentityProviders

/// A client's secret belongs to its client id, at its provider's addresses (RFC 6749, section 2.3.1).
extension RememberedProviders.Settings {
    /// The client id that these settings lead to, and where its secret is sent.
    public func client(of definition: ProviderDefinition) -> String {
        let id = clientID ?? definition.client?.id ?? ""
        return ([id, "at"] + definition.origins(with: withoutSecrets)).joined(separator: " ")
    }

    /// These settings with what is given now laid over them. A parameter that is given as an empty text is forgotten.
    ///
    /// - Returns: whether secrets were left out, because they are another client's, or for another address. What is given now never is.
    public mutating func update(with given: Self, for definition: ProviderDefinition) -> Bool {
        let before = self
        environment = given.environment ?? environment
        base = given.base ?? base
        clientID = given.clientID ?? clientID
        scope = given.scope ?? scope
        parameters = (parameters ?? [:]).merging(given.parameters ?? [:]) { $1 }.filter { !$0.value.isEmpty }
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

    /// What of these settings is not given now: an earlier sign-in has left it behind. Nothing of it is secret.
    public func recalled(beside given: Self) -> [RecalledSetting] {
        var recalled: [RecalledSetting] = []
        func add(_ name: String, _ value: String?, _ now: String?) {
            if let value, now == nil { recalled.append(RecalledSetting(name: name, value: value)) }
        }
        add("base URL", base, given.base)
        add("client id", clientID, given.clientID)
        add("scope", scope?.joined(separator: " "), given.scope?.joined(separator: " "))
        for (name, value) in (parameters ?? [:]).sorted(by: { $0.key < $1.key }) where given.parameters?[name] == nil {
            recalled.append(RecalledSetting(name: name, value: value, isParameter: true))
        }
        return recalled
    }

    /// Whether the definition's own client is meant, where the definition has it: the secret that it names is that client's.
    func isDefined(by definition: ProviderDefinition) -> Bool {
        let own = definition.origins(with: ProviderSettings(environment: environment))
        let isItsClient = clientID == nil || definition.client?.id == nil || clientID == definition.client?.id
        return isItsClient && Set(own).isSubset(of: definition.origins(with: withoutSecrets))
    }

    /// The settings as a provider takes them, but for the secrets.
    public var withoutSecrets: ProviderSettings {
        ProviderSettings(environment: environment, base: base, clientID: clientID, parameters: parameters ?? [:])
    }
}

/// A setting of an earlier sign-in that is used again.
public struct RecalledSetting: Sendable, Equatable {
    /// What people call it: `base URL`, or the name of a parameter such as `loginBy`.
    public var name: String
    /// As the earlier sign-in had it.
    public var value: String
    /// Whether it is one of the provider's own parameters.
    public var isParameter = false

    public init(name: String, value: String, isParameter: Bool = false) {
        self.name = name
        self.value = value
        self.isParameter = isParameter
    }
}

extension AccountError {
    /// Names the settings of an earlier sign-in, which the user has not given now and may not think of. Errors that no setting can cause stay
    /// as they are.
    public func recalling(_ settings: [RecalledSetting]) -> AccountError {
        let causes: Set<Code> = [
            .invalidCredentials, .unknownUser, .invalidUserName, .wrongContext, .missingParameter,
            .invalidConfiguration,
            .unsupported, .clientRefused, .untrustedAnswer, .insecureURL, .moved, .rejected, .forbidden, .invalidGrant,
        ]
        guard causes.contains(code), !settings.isEmpty else { return self }
        var error = self
        let list = settings.map { "\($0.name)=\(presentable($0.value))" }.joined(separator: ", ")
        error.message += ". Settings of an earlier sign-in were used: \(list)"
        error.remedies.append(.rememberedSettings(settings.filter(\.isParameter).map(\.name)))
        return error
    }
}
