// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The account, beyond signing in and out.
struct AccountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account", abstract: "Your account, and what scripts and gateways need of it.",
        subcommands: [
            AccountSignup.self, AccountConfirm.self, AccountResend.self, AccountUpdate.self, AccountPassword.self,
            AccountData.self, AccountConvert.self, AccountDelete.self, AccountVersions.self,
            AccountCallback.self, AccountCurl.self, AccountExchange.self, AccountExport.self, AccountFetch.self,
            AccountHeader.self, AccountImport.self,
            AccountList.self, AccountProviders.self, AccountRefresh.self, AccountStatus.self,
            AccountToken.self, AccountUse.self, AccountWebSession.self,
        ])
}
