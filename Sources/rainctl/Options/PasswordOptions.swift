// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit
import RainCore

/// The password of an account.
struct PasswordOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Read the password from a file.", valueName: "file"), completion: .file())
    var passwordFile: String?

    @Flag(help: "Read the password from standard input.")
    var passwordStdin = false

    var isGiven: Bool { passwordFile != nil || passwordStdin }

    /// As given, or asked for.
    func read(_ context: Context, within time: TimeBudget) throws(CommandFailure) -> Secret {
        try source(time).required(context)
    }

    /// As given, or asked for twice: a typing error in a new password would lock the user out.
    func readNew(_ context: Context, within time: TimeBudget) throws(CommandFailure) -> Secret {
        var source = source(time)
        source.rule = { secret throws(AccountError) in try RainMakerAccount.check(newPassword: secret) }
        return try source.required(context, isNew: true)
    }

    /// Whether a person is asked: the password is in no option and no variable.
    func isAsked(_ context: Context) -> Bool {
        !isGiven && context.mayAsk && context.environment[SecretVariable.password.rawValue, default: ""].isEmpty
    }

    private func source(_ time: TimeBudget) -> SecretSource {
        SecretSource(
            name: "password", flag: "--password", file: passwordFile, fromStandardInput: passwordStdin,
            environmentVariable: .password, time: time)
    }
}

/// A new password for an account that has one.
struct NewPasswordOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Read the new password from a file.", valueName: "file"), completion: .file())
    var newPasswordFile: String?

    @Flag(help: "Read the new password from standard input.")
    var newPasswordStdin = false

    /// As given, or asked for twice.
    func read(_ context: Context, within time: TimeBudget) throws(CommandFailure) -> Secret {
        var source = SecretSource(
            name: "new password", flag: "--new-password", file: newPasswordFile, fromStandardInput: newPasswordStdin,
            time: time)
        source.rule = { secret throws(AccountError) in try RainMakerAccount.check(newPassword: secret) }
        return try source.required(context, isNew: true)
    }
}

/// Standard input has room for one secret.
func checkStandardInput(_ wanted: Bool...) throws {
    if wanted.filter({ $0 }).count > 1 {
        throw ValidationError("Only one secret can come from standard input; read the others from files.")
    }
}
