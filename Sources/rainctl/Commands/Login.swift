import ArgumentParser
import JSON
import RainKit
import Vocabulary

struct Login: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sign in and keep the session.",
        discussion: "Example: rainctl login me@example.com --password-file password.txt")

    @Argument(help: "Your e-mail address, or telephone number with country code.")
    var user: String?

    @Option(help: ArgumentHelp("Read the password from a file.", valueName: "file"))
    var passwordFile: String?

    @Flag(help: "Read the password from standard input.")
    var passwordStdin = false

    @Option(help: ArgumentHelp("The time for everything: 6, 6s, 500ms, 2m.", valueName: "time"))
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let account = try context.account()
        let user = try userName(context)
        // The variable is the official client's, so that its scripts go on working.
        let source = SecretSource(
            name: "password", flag: "--password", file: passwordFile, fromStandardInput: passwordStdin,
            environmentVariable: "ESP_RAINMAKER_PASSWORD")
        let password =
            try source.read(environment: context.environment, output: context.output)
            ?? source.prompt(mayAsk: context.mayAsk)
        let profile = try await withTimeout(timeout.duration) {
            try await account.session.signIn(.password(user: user, password: password))
        }
        context.output.result(
            [
                .init("profile", .string(account.deployment.name)), .init("user_name", .string(profile.userName)),
                .init("user_id", .string(profile.userID.rawValue)),
            ], text: "Signed in as \(profile.userName.onOneLine) (user id \(profile.userID.rawValue.onOneLine)).")
    }

    private func userName(_ context: Context) throws(CommandFailure) -> String {
        if let user { return user }
        guard context.mayAsk else {
            throw CommandFailure(
                .usage, reason: "missing_user", message: "No user given: rainctl login USER --password-file FILE.")
        }
        guard let answer = Terminal.ask("User name: "), !answer.isEmpty else {
            throw CommandFailure(.cancelled, message: "Cancelled.")
        }
        return answer
    }
}
