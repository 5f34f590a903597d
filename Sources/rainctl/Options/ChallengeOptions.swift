// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit
import RainCore

/// User name and password for a server in front of the provider, such as a proxy, that asks for them.
struct ChallengeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Your name at the server in front, if it asks.", valueName: "name"))
    var gateUser: String?

    @Option(
        help: ArgumentHelp("Read the password for that server from a file.", valueName: "file"), completion: .file())
    var gatePasswordFile: String?

    /// Answers with what was given, or with what a person types. A second challenge is not answered: the password was wrong.
    func resolver(_ context: Context) throws(CommandFailure) -> any ChallengeResolver {
        let password = try gatePasswordFile.map { file throws(CommandFailure) in
            try SecretSource.contents(of: file, name: "password for the server in front")
        }
        return OneAnswer(user: gateUser, password: password, screen: context.mayAsk ? context.screen : nil)
    }
}

private struct OneAnswer: ChallengeResolver {
    let user: String?
    let password: Secret?
    /// Nil where no one can be asked.
    let screen: Screen?

    func resolve(_ challenge: AuthenticationChallenge) async -> ChallengeAnswer {
        guard challenge.previousFailureCount == 0 else { return .performDefaultHandling }
        if let user, let password { return .useCredential(user: user, password: password) }
        guard let screen else { return .performDefaultHandling }
        let place = (challenge.realm ?? challenge.host).onOneLine
        return await screen.asking {
            var (user, password) = (user, password)
            if user == nil { user = await screen.ask("User name for \(place): ") }
            guard let user, !user.isEmpty else { return .cancel }
            if password == nil { password = await screen.askSecret("Password for \(place): ") }
            guard let password else { return .cancel }
            return .useCredential(user: user, password: password)
        }
    }
}
