// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit
import RainCore

struct AccountHeader: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "header", abstract: "Print the Authorization header for a request, and nothing else.",
        discussion: "Example: rainctl account header | curl -H @- https://api.rainmaker.espressif.com/v1/user2")

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup var which: ProviderOption

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let account = try context.client(which).account()
        let (place, header) = try await withTimeout(timeout.duration) {
            (try await account.session.requestProof().query.first, try await account.session.authorization())
        }
        if let place {
            context.output.say(
                "note: \(account.provider?.title ?? account.name) takes the token as \(place.name) in the URL, too: rainctl account curl does that."
            )
        }
        StandardStreams.out("\(header.name): \(header.value.revealString())\n")
    }
}
