// SPDX-License-Identifier: Apache-2.0
import RainKit
@testable import rainctl

extension ExampleResults {
    static let profile: [any CommandResult] = [
        ProfileListResult(profiles: [
            .init(profile: "global", baseURL: "https://a.example/", current: true),
            .init(profile: "lab", baseURL: "https://b.example/", current: false),
        ]),
        ProfileShowResult(values: settings, showsOrigin: false),
        ProfileShowResult(values: settings, showsOrigin: true),
        ProfileChangeResult(change: .added, profile: "lab"),
        ProfileChangeResult(change: .changed, profile: "lab"),
        ProfileChangeResult(change: .removed, profile: "lab"),
        ProfileChangeResult(change: .inUse, profile: "lab"),
        CompletionResult(shell: "fish", script: "complete -c 'rainctl' -f\n"),
    ]

    private static let settings: [ProfileSettings.Value] = [
        .init(key: "profile", text: "lab", origin: .option("--profile")),
        .init(key: "base_url", text: "https://b.example/", origin: .file("/d.json")),
        .init(key: "claim_url", text: "https://c.example/", origin: .file("/d.json")),
        .init(key: "auth_url", text: "https://d.example/", origin: .file("/d.json")),
        .init(key: "client_id", text: "client", origin: .builtIn),
        .init(key: "neo_accounts_url", text: "https://e.example", origin: .file("/d.json")),
        .init(key: "neo_region", text: "us-east-1", origin: .file("/d.json")),
        .init(key: "neo_broker_url", text: "https://f.example/mqtt", origin: .file("/d.json")),
        .init(key: "ca_file", text: "/ca.pem", origin: .variable("RAINKIT_CA_FILE")),
        .init(key: "account", text: "me", origin: .state("/a.json")),
        .init(key: "store", text: "file", origin: .state("/a.json")),
    ]

    static let errors: [any CommandResult] = [
        ErrorResult(wholeFailure),
        ErrorResult(CommandFailure(.usage, message: "No.")),
    ]

    private static var wholeFailure: CommandFailure {
        var failure = CommandFailure(.temporary, reason: "rate_limited", message: "Not\u{1B}now.", step: "verify")
        failure.retryAfter = .milliseconds(1001)
        return failure
    }
}
