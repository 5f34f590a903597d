// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct ProfileShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a deployment's settings; with --origin, where each is from.",
        discussion: """
            Example: rainctl profile show --origin

            An option goes before a variable of the environment (RAINKIT_PROFILE, RAINKIT_ACCOUNT, RAINKIT_STORE, RAINKIT_CA_FILE), \
            a variable before a project's .rainkit.json, that before your own settings, yours before the machine's, and those before what \
            is built in.
            """)

    @Argument(help: "Its name; the one in use if not given.", completion: .profiles)
    var name: String?

    @Flag(help: "Say where each value is from.")
    var origin = false

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let settings = try ProfileSettings(context, named: name)
        context.output.result(ProfileShowResult(values: settings.values, showsOrigin: origin))
    }
}
