// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

/// Where the session of someone who signs in is to be kept.
struct StoreOptions: ParsableArguments {
    enum Name: String, ExpressibleByArgument, CaseIterable {
        case auto, file, memory
        case secretService = "secret-service"
    }

    @Option(
        help: ArgumentHelp(
            "Where to keep the session; auto is the Secret Service where it answers, else a file.",
            valueName: "store"))
    var store: Name?

    @Flag(help: "Keep no session, as --store memory: whether the sign-in works is all that is wanted.")
    var noSave = false

    /// The flag, then the environment, then what is remembered or works.
    func choice(_ context: Context) throws(CommandFailure) -> StoreChoice {
        guard !noSave || store == nil || store == .memory else {
            throw CommandFailure(.usage, message: "--no-save keeps nothing, and --store says where: give one of them.")
        }
        if noSave { return .kind(.memory) }
        if let store { return store.choice }
        let given = context.settings[.store]
        let variable = context.variable("RAINKIT_STORE")
        guard let text = variable ?? given?.text else { return .automatic }
        guard let name = Name(rawValue: text) else {
            let names = Name.allCases.map(\.rawValue).joined(separator: ", ")
            let place = variable == nil ? "store in \(given?.path ?? "")" : "RAINKIT_STORE"
            throw CommandFailure(
                .config, message: "\(place.onOneLine) is \"\(text.onOneLine)\", which is none of \(names).")
        }
        return name.choice
    }
}

extension StoreOptions.Name {
    fileprivate var choice: StoreChoice {
        switch self {
        case .auto: .automatic
        case .file: .kind(.file)
        case .memory: .kind(.memory)
        case .secretService: .kind(.secretService)
        }
    }
}
