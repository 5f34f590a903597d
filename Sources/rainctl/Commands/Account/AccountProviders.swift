// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
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
        let (registry, problems) = try context.providerDefinitions.load()
        let own = (definition: RainMakerIdentity.listing, isBuiltIn: true)
        let all = [own] + registry.entries.map { (definition: $0.definition, isBuiltIn: $0.isBuiltIn) }
        var entries = all
        if let name {
            entries = all.filter { $0.definition.id == name }
            // The error names the known providers, or says what is wrong with this one's file.
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
