// SPDX-License-Identifier: Apache-2.0
import RainKit

/// The identity providers, and what each can do.
struct ProviderListResult: CommandResult {
    let providers: [Provider]
    let text: String

    private enum CodingKeys: CodingKey { case providers }

    struct Provider: Encodable, Sendable {
        let name: String
        let title: String
        let builtIn: Bool
        let capabilities: [Capability]
        let parameters: [Parameter]
        let modes: [String]
        let environments: [String]
        let links: NamedMembers

        private enum CodingKeys: String, CodingKey {
            case name, title
            case builtIn = "built_in"
            case capabilities, parameters, modes, environments, links
        }
    }

    struct Capability: Encodable, Sendable {
        let grant: String
        let available: Bool
        let whyNot: String?

        private enum CodingKeys: String, CodingKey {
            case grant, available
            case whyNot = "why_not"
        }
    }

    struct Parameter: Encodable, Sendable {
        let name: String
        let required: Bool
        @NullIfAbsent var description: String?
    }
}

extension ProviderListResult {
    /// - Parameters:
    ///   - links: the addresses of each one's pages.
    ///   - inDetail: whether a person reads everything about each, and not one line.
    init(
        _ entries: [(definition: ProviderDefinition, isBuiltIn: Bool)], links: [[String: String]], inDetail: Bool
    ) {
        providers = zip(entries, links).map { Provider($0.definition, isBuiltIn: $0.isBuiltIn, links: $1) }
        text = zip(entries, links).map { inDetail ? $0.definition.details(links: $1) : $0.definition.line }
            .joined(separator: "\n")
    }
}

extension ProviderListResult.Provider {
    init(_ definition: ProviderDefinition, isBuiltIn: Bool, links: [String: String]) {
        name = definition.id
        title = definition.title ?? definition.id
        builtIn = isBuiltIn
        capabilities = definition.capabilities.map {
            .init(grant: $0.grant.rawValue, available: $0.isAvailable, whyNot: $0.whyNot)
        }
        parameters = (definition.parameters ?? []).map {
            .init(name: $0.name, required: $0.required ?? false, description: .init(wrappedValue: $0.description))
        }
        modes = definition.modes ?? []
        environments = (definition.environments ?? [:]).keys.sorted()
        self.links = NamedMembers(sorted: links)
    }
}
