// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit
import RainMaker

struct AccountVersions: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "versions", abstract: "List the API versions that the deployment supports.",
        discussion: "Example: rainctl account versions --json")

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let account = try context.client().account()
        let rainMaker = try account.rainMakerAccount(for: "the list of API versions")
        let versions = try await withTimeout(timeout.duration) { try await rainMaker.supportedVersions() }
        context.output.result(VersionsResult(profile: account.name, versions))
    }
}

/// The versions of its API that a deployment supports.
struct VersionsResult: CommandResult {
    let profile: String
    let versions: [Version]

    var text: String { versions.map(\.line).joined(separator: "\n") }

    struct Version: Encodable, Sendable {
        let version: String
        let used: Bool
        let build: String?
        let releaseNotes: String?

        fileprivate var line: String {
            "\(used ? "*" : " ") \(version.onOneLine)\(build.map { "  \($0.onOneLine)" } ?? "")"
        }
    }
}

extension VersionsResult {
    init(profile: String, _ versions: [RainMakerVersion]) {
        self.profile = profile
        self.versions = versions.map { version in
            Version(
                version: version.name, used: version.name == RainMakerAccount.spokenVersion, build: version.build,
                releaseNotes: version.releaseNotes)
        }
    }
}
