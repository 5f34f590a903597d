// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// Values that applications keep with an account.
struct AccountData: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "data", abstract: "Values that applications keep with your account.",
        subcommands: [AccountDataGet.self, AccountDataSet.self, AccountDataRemove.self])
}
