// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

/// Whose the board will be: a user of RainMaker's, or one of another identity system with a cloud of their own.
struct OwnerOptions: ParsableArguments {
    @OptionGroup var which: ProviderOption

    @Option(
        help: ArgumentHelp(
            "The file that describes your own cloud, for users of that provider (see docs/own-cloud.md).",
            valueName: "file"), completion: .file())
    var backend: String?

    /// - Parameter noMapping: whether the board is put into no account.
    func client(_ context: Context, noMapping: Bool) throws -> RainKitClient {
        if noMapping, which.provider != nil || backend != nil {
            throw CommandFailure(
                .usage, message: "--no-mapping puts the board into no account, so --provider and --backend have no use."
            )
        }
        if noMapping { return context.boardClient() }
        guard let name = context.providerName(which.provider) else {
            guard backend == nil else {
                throw CommandFailure(
                    .usage, message: "--backend goes with --provider: users of RainMaker belong to RainMaker's cloud.")
            }
            return try context.client()
        }
        return try context.client(provider: ProviderSelection(name), backend: try description(of: name, context))
    }

    /// The file that the option names, then the environment, then the one that lies beside the settings; nil without any.
    private func description(of provider: String, _ context: Context) throws -> NodeMappingDescription? {
        let usual = "\(context.folders.configuration)/backends/\(provider).json"
        let path = backend ?? context.variable("RAINKIT_BACKEND")
        return try NodeMappingDescription(file: path ?? usual, mayBeAbsent: path == nil)
    }
}
