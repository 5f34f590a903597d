// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainKit
import RainMaker

/// The identity provider whose session a command uses.
struct ProviderOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Use your session at this identity provider (default: RainMaker). To list providers, run rainctl account providers.",
            valueName: "name"))
    var provider: String?
}

/// The password of an account.
struct PasswordOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Read the password from a file.", valueName: "file"), completion: .file())
    var passwordFile: String?

    @Flag(help: "Read the password from standard input.")
    var passwordStdin = false

    var isGiven: Bool { passwordFile != nil || passwordStdin }

    /// Returns the given password, or asks for it.
    func read(_ context: Context, within time: TimeBudget) throws(CommandFailure) -> Secret {
        try source(time).required(context)
    }

    /// Returns the given password, or asks for it twice, because a typing error in a new password would lock the user out.
    func readNew(_ context: Context, within time: TimeBudget) throws(CommandFailure) -> Secret {
        var source = source(time)
        source.ruleText = RainMakerAccount.passwordRule
        source.rule = { secret throws(AccountError) in try RainMakerAccount.check(newPassword: secret) }
        return try source.required(context, isNew: true)
    }

    /// Whether the user is asked, because neither an option nor a variable has the password.
    func isAsked(_ context: Context) -> Bool {
        !isGiven && context.mayAsk && context.environment[SecretVariable.password.rawValue, default: ""].isEmpty
    }

    private func source(_ time: TimeBudget) -> SecretSource {
        SecretSource(
            name: "password", flag: "--password", file: passwordFile, fromStandardInput: passwordStdin,
            takesValue: false, environmentVariable: .password, time: time)
    }
}

/// A new password for an account that has one.
struct NewPasswordOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Read the new password from a file.", valueName: "file"), completion: .file())
    var newPasswordFile: String?

    @Flag(help: "Read the new password from standard input.")
    var newPasswordStdin = false

    /// Returns the given password, or asks for it twice.
    func read(_ context: Context, within time: TimeBudget) throws(CommandFailure) -> Secret {
        var source = SecretSource(
            name: "new password", flag: "--new-password", file: newPasswordFile, fromStandardInput: newPasswordStdin,
            takesValue: false, time: time)
        source.ruleText = RainMakerAccount.passwordRule
        source.rule = { secret throws(AccountError) in try RainMakerAccount.check(newPassword: secret) }
        return try source.required(context, isNew: true)
    }
}

/// Checks that at most one secret is read from standard input.
func checkStandardInput(_ wanted: Bool...) throws {
    if wanted.filter({ $0 }).count > 1 {
        throw ValidationError("Only one secret can come from standard input: read the others from files.")
    }
}

/// The code that the cloud has sent to the user. It is read only when it is needed, so that a script can write it to a pipe after it has
/// arrived.
struct CodeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Use this one-time code. Other users of this machine can see it, so prefer --code-stdin.", valueName: "code"
        )
    )
    var code: String?

    @Option(help: ArgumentHelp("Read the code from a file.", valueName: "file"), completion: .file())
    var codeFile: String?

    @Flag(help: "Read the code from standard input.")
    var codeStdin = false

    var isGiven: Bool { code != nil || codeFile != nil || codeStdin }

    /// Returns the code as given or asked for; nil if none is given and nobody can be asked.
    func read(sentTo user: String, within time: TimeBudget, _ context: Context) throws(CommandFailure) -> Secret? {
        var source = SecretSource(name: "code", flag: "--code", value: code, file: codeFile)
        source.fromStandardInput = codeStdin
        source.time = time
        if let code = try source.read(environment: [:], output: context.output) { return code }
        guard context.mayAsk else { return nil }
        let question = "Code that was sent to \(user.onOneLine): "
        guard let code = time.asking({ Screen.shared.blocking { Terminal.readSecret(prompt: question) } }) else {
            throw CommandFailure(.cancelled, message: "Cancelled.")
        }
        return code
    }

    /// Runs the work with a code. If the cloud refuses the code, it asks again, up to three times in all.
    func entering<Value: Sendable>(
        _ code: Secret, sentTo user: String, within time: TimeBudget, _ context: Context,
        _ work: @escaping @Sendable (Secret) async throws -> Value
    ) async throws -> Value {
        var code = code
        for _ in 1..<3 {
            do {
                let entered = code
                return try await time.run { try await work(entered) }
            } catch let error as AccountError where error.code == .wrongCode && context.mayAsk && !isGiven {
                context.screen.say(error.message.asSentence)
                let question = "Code again (Enter to stop): "
                guard let another = time.asking({ Screen.shared.blocking { Terminal.readSecret(prompt: question) } }),
                    !another.isEmpty
                else {
                    throw error
                }
                code = another
            }
        }
        let entered = code
        return try await time.run { try await work(entered) }
    }

    /// Returns the code, for commands that need one.
    func required(sentTo user: String, within time: TimeBudget, _ context: Context) throws(CommandFailure) -> Secret {
        if let code = try read(sentTo: user, within: time, context) { return code }
        throw CommandFailure(
            .usage, reason: "missing_code", message: "No code given: use --code-stdin or --code-file FILE.")
    }
}

/// The language of the cloud's message.
struct LocaleOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Ask the cloud to write its message in this language, such as en or en-us.", valueName: "locale"))
    var locale: String?
}

/// The place for the session of a user who signs in.
struct StoreOptions: ParsableArguments {
    enum Name: String, WordArgument {
        case auto, file, memory
        case secretService = "secret-service"
    }

    @Option(
        help: ArgumentHelp(
            "Keep the session in this store (default: auto). With auto, rainctl uses the same store as before. For a "
                + "new account, rainctl uses the Secret Service, or a file if there is no Secret Service.",
            valueName: "store"))
    var store: Name?

    @Flag(help: "Test the sign-in, but do not keep the session (same as --store memory).")
    var noSave = false

    /// Returns the choice of the option, else of the environment, else what is remembered or works.
    func choice(_ context: Context) throws(CommandFailure) -> StoreChoice {
        guard !noSave || store == nil || store == .memory else {
            throw CommandFailure(
                .usage, message: "--no-save does not keep the session, and --store keeps it: give only one of them."
            )
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
                .config, message: "\(place.onOneLine) is \"\(text.onOneLine)\", but must be one of \(names).")
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
