import ArgumentParser

/// Everything about the account that is more than signing in and out.
struct AccountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account", abstract: "Your account, and what scripts and gateways need of it.",
        subcommands: [
            AccountCurl.self, AccountHeader.self, AccountRefresh.self, AccountStatus.self, AccountToken.self,
        ])
}
