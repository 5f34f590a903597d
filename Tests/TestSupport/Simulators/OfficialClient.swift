// SPDX-License-Identifier: Apache-2.0

/// Espressif's own command-line client, pointed at a simulated cloud, with its own configuration folder.
///
/// Its exit status is 0 whether it succeeded or not, and what it prints is for people: assert on the simulators' journals.
public final class OfficialClient: Sendable {
    private let program: String
    private let environment: [String: String]
    private let namespace: NetworkNamespace?
    private let folder: TemporaryFolder

    /// Installs the client if it is not there yet (minutes, once), and points it at `api`.
    public init(
        api: String, in folder: TemporaryFolder, namespace: NetworkNamespace? = nil, addsProfile: Bool = true,
        environment more: [String: String] = [:]
    ) async throws {
        program = try await ForeignClient.officialClient.path()
        let name = "official-\(UInt32.random(in: .min ... .max))"
        let own = [
            "RM_USER_CONFIG_DIR": folder.file("\(name)/config"), "RMAKER_CLI_LOG_DIR": folder.file("\(name)/logs"),
            "HOME": folder.file(name), "BROWSER": folder.file("browser"), "PYTHONDONTWRITEBYTECODE": "1",
            "NO_PROXY": "*", "no_proxy": "*",
        ]
        environment = own.merging(more) { $1 }
        self.namespace = namespace
        self.folder = folder
        try folder.makeFolder("\(name)/config")
        try folder.makeFolder("\(name)/logs")
        // It appends the API version itself; `login --profile` does not work, so the profile is switched to.
        guard addsProfile else { return }
        let profiles = ["profiles/profiles.json", "profiles/current_profile"].map { "\(name)/config/\($0)" }
        try await WrittenOnce(files: profiles, in: folder).make(for: [api], as: "official profile") { addresses in
            try await run(["profile", "add", "sim", "--base-url", addresses[0] + "/"])
            try await run(["profile", "switch", "sim"])
        }
    }

    @discardableResult
    public func run(
        _ arguments: [String], input: ChildProcess.Input = .empty, within limit: Duration = .waitLimit
    ) async throws -> FinishedProcess {
        let (executable, all) = namespace?.command(program, arguments) ?? (program, arguments)
        return try await TestSupport.run(executable, all, environment: environment, input: input, within: limit)
    }

    /// Runs it in its own terminal, where `body` reads its questions and types the answers, and waits for its end.
    ///
    /// - Returns: what it wrote to the terminal.
    @discardableResult
    public func converse(
        _ arguments: [String], within limit: Duration = .waitLimit, _ body: (ChildProcess) async throws -> Void
    ) async throws -> String {
        // script(1) makes the terminal: passwords are asked for on /dev/tty.
        let words = ([program] + arguments).map { "'\($0)'" }.joined(separator: " ")
        return try await withChildProcess(
            "script", ["--quiet", "--flush", "--command", words, "/dev/null"], environment: environment, input: .open
        ) { child in
            try await body(child)
            _ = try await child.wait(within: limit)
            try await child.drained()
            return child.standardOutput
        }
    }

    /// Tells it of the deployment's hosted sign-in, and gives it a browser: `curl`, which allows what GitHub would ask.
    ///
    /// Its own page would show a button that leads to `github_url`; the browser goes there at once.
    public func useHostedSignIn(of api: String, as user: String) async throws {
        let browser = """
            #!/bin/sh
            # The client waits for its browser to start, so what it does goes on behind.
            (
                page=${1#*github_url=}
                relay=$(curl -s -o /dev/null -w '%{redirect_url}' --data-urlencode 'username=\(user)' -d action=allow \
                    "$page&identity_provider=GitHub")
                onward=$(curl -s "$relay" | sed -n 's/.*id="onward" href="\\([^"]*\\)".*/\\1/p' | sed 's/&amp;/\\&/g')
                curl -s "$onward"
            ) >/dev/null 2>&1 &
            """
        try folder.write(browser, to: "browser")
        try await TestSupport.run("chmod", ["0755", folder.file("browser")])
        let file = environment["RM_USER_CONFIG_DIR"]! + "/profiles/profiles.json"
        // The keys that its built-in profiles have, and `profile add` leaves out.
        let edit = """
            import json, sys
            path, api = sys.argv[1:]
            profiles = json.load(open(path))
            client, relay = "1h7ujqjs8140n17v0ahb4n51m2", api + "/welcome.html"
            profiles["custom_profiles"]["sim"].update(
                ui_login_supported=True, client_id=client, redirect_url=relay, token_url=api + "/oauth2/token",
                login_url=api + "/index.html?port=",
                external_url=api + "/oauth2/authorize?&redirect_uri=" + relay + "&response_type=CODE&client_id=" + client
                + "&scope=aws.cognito.signin.user.admin%20email%20openid%20phone%20profile&state=port:")
            json.dump(profiles, open(path, "w"))
            """
        let edited = try await TestSupport.run("python3", ["-c", edit, file, api])
        guard edited.status == .exited(0) else { throw ProcessError(edited.standardError) }
    }

    public func logIn(_ user: String = SimulatedCloud.user, _ password: String = SimulatedCloud.password) async throws {
        try await run(["login", "--user_name", user, "--password", password])
    }

    /// Where it keeps everything.
    public var configuration: String { environment["RM_USER_CONFIG_DIR"]! }

    /// Where it keeps its tokens.
    public var sessionFile: String { environment["RM_USER_CONFIG_DIR"]! + "/profiles/sim_config.json" }
}
