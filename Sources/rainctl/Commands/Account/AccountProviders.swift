// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit
import RainMaker

struct AccountProviders: AsyncParsableCommand, ListCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "providers",
        abstract: "List the identity providers, and show what each supports.",
        discussion: """
            Example: rainctl account providers oidc

            If you name a provider, rainctl also shows its options, and the reason for each missing feature. To add a provider, describe \
            it in a JSON file in the folder ~/.config/rainkit/providers.
            """)

    @Argument(help: "Show only this provider, in detail.")
    var name: String?

    @Option(help: .listForm) var format = ListForm.text

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options, list: format)
        let (registry, problems) = try context.providerDefinitions.load()
        let own = (definition: RainMakerIdentity.listing, isBuiltIn: true)
        let all = [own] + registry.entries.map { (definition: $0.definition, isBuiltIn: $0.isBuiltIn) }
        var entries = all
        if let name {
            entries = all.filter { $0.definition.id == name }
            // The error names the known providers, or the problem with this provider's file.
            if entries.isEmpty { _ = try context.providerDefinitions.entry(name) }
            try context.warnOfUnusedDefinition(of: name)
        } else {
            for problem in problems.sorted(by: { $0.key < $1.key }) {
                context.output.warn(problem.value.message.onOneLine, reason: "\(problem.value.code)")
            }
        }
        let remembered = (try? RememberedProviders(state: context.folders.state).load()) ?? [:]
        let links = entries.map { entry in
            entry.definition.links(with: remembered[entry.definition.id]?.withoutSecrets ?? ProviderSettings())
        }
        context.output.result(ProviderListResult(entries, links: links, inDetail: name != nil))
    }
}

/// The identity providers, and what each can do.
struct ProviderListResult: CommandResult {
    let providers: [Provider]
    @TextOnly private(set) var text: String

    struct Provider: Encodable, Sendable {
        let name: String
        let title: String
        let builtIn: Bool
        let capabilities: [Capability]
        let parameters: [Parameter]
        let modes: [String]
        let environments: [String]
        let links: NamedMembers
    }

    struct Capability: Encodable, Sendable {
        let grant: String
        let available: Bool
        let whyNot: String?
    }

    struct Parameter: Encodable, Sendable {
        let name: String
        let required: Bool
        @NullIfAbsent var description: String?
    }
}

extension ProviderListResult: ListResult {
    var table: ListTable {
        ListTable(member: "providers", columns: ["name", "title", "built_in", "modes", "environments"])
    }
}

extension ProviderListResult {
    /// - Parameters:
    ///   - links: the addresses of each provider's pages.
    ///   - inDetail: whether the text has all details of each provider instead of one line.
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

/// The description of a provider as text.
extension ProviderDefinition {
    /// The name and capabilities.
    var line: String {
        let can = capabilities.filter(\.isAvailable).map(\.grant.rawValue)
        return "\(id)  \((title ?? id).onOneLine): \(can.joined(separator: ", "))"
    }

    /// Returns all details: what the provider cannot do and why, and the options that it takes.
    /// - Parameter links: the addresses of its pages.
    func details(links: [String: String]) -> String {
        var lines = ["\(id)  \((title ?? id).onOneLine)"]
        for capability in capabilities {
            let answer = capability.whyNot.map { "no. \($0.onOneLine.asSentence)" } ?? "yes"
            lines.append("  \(capability.grant.rawValue): \(answer)")
        }
        for mode in modes ?? [] {
            let usual = mode == modes?.first ? " (default)" : ""
            lines.append("  --mode \(mode): \(grant(ofMode: mode)?.rawValue ?? mode)\(usual)")
        }
        for secret in secrets ?? [] {
            lines.append("  --secret-file \(secret.name)=FILE\(secret.description.map { ": \($0.onOneLine)" } ?? "")")
        }
        for parameter in parameters ?? [] {
            let must = parameter.required == true ? " (required)" : ""
            lines.append("  --set \(parameter.name)=…\(must)\(parameter.description.map { ": \($0.onOneLine)" } ?? "")")
        }
        for (name, url) in links.sorted(by: { $0.key < $1.key }) {
            lines.append("  \(name): \(url.onOneLine)")
        }
        return lines.joined(separator: "\n")
    }
}
