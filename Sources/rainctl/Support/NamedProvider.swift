// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainKit

/// The identity provider that this command is about, for sentences that say what to run next.
struct NamedProvider: Sendable, Equatable {
    /// As `--provider` takes it, perhaps with an environment behind it: `spid`, `spid-stage`.
    let name: String

    /// What the process was started with; nil for RainMaker.
    static let ofThisCommand = NamedProvider(
        arguments: CommandLine.arguments.dropFirst(), variable: getenv("RAINKIT_PROVIDER").map { String(cString: $0) })

    /// The option before the variable, as commands themselves have it; nil for RainMaker.
    init?(arguments: some Collection<String>, variable: String?) {
        let words = arguments.prefix { $0 != "--" }
        var named = variable.flatMap { $0.isEmpty ? nil : $0 }
        for (word, next) in zip(words, words.dropFirst().map(Optional.some) + [nil]) {
            if word == "--provider" { named = next ?? named }
            if word.hasPrefix("--provider=") { named = String(word.dropFirst("--provider=".count)) }
        }
        guard let named, named != "rainmaker", !named.isEmpty else { return nil }
        name = named
    }

    /// Signs in there again: the other settings are remembered.
    var signIn: String {
        for definition in ProviderRegistry.builtIn.entries.map(\.definition) {
            for environment in (definition.environments ?? [:]).keys
            where environment != definition.defaultEnvironment && definition.name(in: environment) == name {
                return "login --provider \(definition.id) --environment \(environment)"
            }
        }
        return "login --provider \(name.asShellWord)"
    }

    /// Tells the provider's own pages, where an address is confirmed or a password reset.
    var pages: String { "account providers \(name.asShellWord)" }
}
