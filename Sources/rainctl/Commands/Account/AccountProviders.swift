import ArgumentParser
import RainJSON
import RainKit

struct AccountProviders: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "providers",
        abstract: "List the identity providers: what each can do, and why it cannot do the rest.",
        discussion: """
            Example: rainctl account providers oidc

            Definitions of your own are JSON files in ~/.config/rainkit/providers; nothing has to be compiled for them.
            """)

    @Argument(help: "One of them, in detail.")
    var name: String?

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let (registry, problems) = try context.providerFolder.load()
        let own = (definition: RainMakerIdentity.listing, isBuiltIn: true)
        let all = [own] + registry.entries.map { (definition: $0.definition, isBuiltIn: $0.isBuiltIn) }
        var entries = all
        if let name {
            entries = all.filter { $0.definition.id == name }
            // The error says what there is, or what is wrong with its file.
            if entries.isEmpty { _ = try context.providerFolder.entry(name) }
        }
        context.output.result(
            [.init("providers", .array(entries.map(document)))],
            text: entries.map { name == nil ? line($0.definition) : details($0.definition) }.joined(separator: "\n"))
        if name == nil {
            for problem in problems.sorted(by: { $0.key < $1.key }) {
                context.output.warn(problem.value.message.onOneLine)
            }
        }
    }

    private func document(_ entry: (definition: ProviderDefinition, isBuiltIn: Bool)) -> JSONValue {
        let definition = entry.definition
        let capabilities = definition.capabilities.map { capability in
            JSONValue.object(
                [.init("grant", .string(capability.grant.rawValue)), .init("available", .bool(capability.isAvailable))]
                    + (capability.whyNot.map { [.init("why_not", .string($0))] } ?? []))
        }
        let parameters = (definition.parameters ?? []).map { parameter in
            JSONValue.object([
                .init("name", .string(parameter.name)), .init("required", .bool(parameter.required ?? false)),
                .init("description", parameter.description.map { .string($0) } ?? .null),
            ])
        }
        return .object([
            .init("name", .string(definition.id)), .init("title", .string(definition.title ?? definition.id)),
            .init("built_in", .bool(entry.isBuiltIn)), .init("capabilities", .array(capabilities)),
            .init("parameters", .array(parameters)),
            .init("modes", .array((definition.modes ?? []).map { .string($0) })),
            .init("environments", .array((definition.environments ?? [:]).keys.sorted().map { .string($0) })),
            .init(
                "links",
                .object((definition.links ?? [:]).sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) })),
        ])
    }

    private func line(_ definition: ProviderDefinition) -> String {
        let can = definition.capabilities.filter(\.isAvailable).map(\.grant.rawValue)
        return "\(definition.id)  \((definition.title ?? definition.id).onOneLine): \(can.joined(separator: ", "))"
    }

    private func details(_ definition: ProviderDefinition) -> String {
        var lines = ["\(definition.id)  \((definition.title ?? definition.id).onOneLine)"]
        for capability in definition.capabilities {
            lines.append(
                "  \(capability.grant.rawValue): \(capability.whyNot.map { "no. \($0.onOneLine.asSentence)" } ?? "yes")"
            )
        }
        for mode in definition.modes ?? [] {
            let usual = mode == definition.modes?.first ? " (usual)" : ""
            lines.append("  --mode \(mode): \(definition.grant(ofMode: mode)?.rawValue ?? mode)\(usual)")
        }
        for secret in definition.secrets ?? [] {
            lines.append("  --secret-file \(secret.name)=FILE\(secret.description.map { ": \($0.onOneLine)" } ?? "")")
        }
        for parameter in definition.parameters ?? [] {
            let must = parameter.required == true ? " (required)" : ""
            lines.append("  --set \(parameter.name)=…\(must)\(parameter.description.map { ": \($0.onOneLine)" } ?? "")")
        }
        for (name, url) in (definition.links ?? [:]).sorted(by: { $0.key < $1.key }) {
            lines.append("  \(name): \(url.onOneLine)")
        }
        return lines.joined(separator: "\n")
    }
}
