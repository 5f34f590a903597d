// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

struct AccountPassword: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "password", abstract: "Change your password, or set a new one when it is forgotten.",
        subcommands: [AccountPasswordChange.self, AccountPasswordReset.self])
}
