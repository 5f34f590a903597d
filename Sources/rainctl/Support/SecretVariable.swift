// SPDX-License-Identifier: Apache-2.0
import RainKit
import RainCore

/// The variables of the environment that a secret may come from. ``SecretSource`` reads no others, and no program that is started here
/// inherits them.
enum SecretVariable: String, CaseIterable, Sendable {
    /// The official client's, so that its scripts go on working.
    case password = "ESP_RAINMAKER_PASSWORD"
    case proofOfPossession = "RAINKIT_POP"
    case passphrase = "RAINKIT_PASSPHRASE"
    case clientSecret = "RAINKIT_CLIENT_SECRET"
}

extension Context {
    /// The environment of programs that are started here: everything but ``secretVariables``, and the absolute folders of `PATH`.
    var environmentOfPrograms: [String: String] {
        let secrets = secretVariables
        var result = environment.filter { !secrets.contains($0.key) }
        if let path = result["PATH"] { result["PATH"] = ProgramSearch(path: path).path }
        return result
    }

    /// rainctl's own, and those that the definitions of identity providers name for a client's secret.
    var secretVariables: Set<String> {
        let profiles = (try? providerDefinitions.load().registry.entries) ?? []
        return Set(
            SecretVariable.allCases.map(\.rawValue) + profiles.compactMap { $0.definition.client?.secretEnvironment })
    }
}
