// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainPrivateFiles
import RainKit

struct AccountExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Hand the session to Espressif's own client, or to a service of systemd's.",
        discussion: """
            Example: rainctl account export --to ~/.espressif/rainmaker
                     rainctl account export --credential session.json

            Whoever has the files is signed in as you: they are readable by you alone. A service finds the credential as \
            LoadCredential=rainkit-PROFILE:/path/to/session.json; tokens that it renews live as long as the service runs.
            """)

    @Option(help: ArgumentHelp("Write a configuration folder of esp-rainmaker-cli's.", valueName: "folder"))
    var to: String?

    @Option(
        help: ArgumentHelp("Write the session to a file for LoadCredential= of systemd.", valueName: "file"),
        completion: .file())
    var credential: String?

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        guard (to == nil) != (credential == nil) else { throw ValidationError("Give --to or --credential.") }
    }

    func run() async throws {
        let context = try Context(options)
        let deployment = try context.deployment()
        let session = try await context.client().account().session.savedSession()
        let path = absolute(to ?? credential ?? "")
        if to != nil {
            try OfficialClientFolder(path: path).save(session, at: deployment)
        } else {
            do throws(PrivateFileError) {
                try PrivateFile(path: path).write(session.serialized.revealBytes())
            } catch {
                throw AccountError(.cannotStore, message: "\(error)")
            }
        }
        context.output.result(ExportResult(profile: deployment.name, userName: session.userName, path: path))
    }

    private func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        guard let here = getcwd(nil, 0) else { return path }
        defer { free(here) }
        return String(cString: here) + "/" + path
    }
}
