import ArgumentParser
import RainJSON
import RainKit

struct AccountVersions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "versions", abstract: "Ask the deployment which versions of its interface it speaks.",
        discussion: "Example: rainctl account versions --json")

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let account = try context.account()
        let versions = try await withTimeout(timeout.duration) { try await account.user.supportedVersions() }
        let entries = versions.map { version in
            var members: [JSONValue.Member] = [
                .init("version", .string(version.name)),
                .init("used", .bool(version.name == RainMakerAccount.spokenVersion)),
            ]
            if let build = version.build { members.append(.init("build", .string(build))) }
            if let notes = version.releaseNotes { members.append(.init("release_notes", .string(notes))) }
            return JSONValue.object(members)
        }
        let lines = versions.map { version in
            let use = version.name == RainMakerAccount.spokenVersion ? "*" : " "
            return "\(use) \(version.name.onOneLine)\(version.build.map { "  \($0.onOneLine)" } ?? "")"
        }
        context.output.result(
            [.init("profile", .string(account.deployment.name)), .init("versions", .array(entries))],
            text: lines.joined(separator: "\n"))
    }
}
