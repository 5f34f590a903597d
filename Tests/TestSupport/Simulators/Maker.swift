// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// A person at the command line: a home folder, files with secrets, and `rainctl`.
public struct Maker: Sendable {
    public let folder: TemporaryFolder
    public let namespace: NetworkNamespace?

    /// What one command left behind.
    public struct Outcome: Sendable {
        public let status: Int
        public let standardOutput: String
        public let standardError: String

        /// The document that `--json` printed.
        public var document: JSONValue? { try? JSONValue(parsing: Array(standardOutput.utf8)) }
        /// The `error` of a failed command's document.
        public var failure: JSONValue? { document?["error"] }
        /// The lines of `--events ndjson`.
        public func events() throws -> [JSONValue] {
            try (standardOutput + standardError).split(separator: "\n").filter { $0.hasPrefix("{\"ts\"") }
                .map { try JSONValue(parsing: Array($0.utf8)) }
        }
    }

    public init(_ folder: TemporaryFolder, namespace: NetworkNamespace? = nil) throws {
        self.folder = folder
        self.namespace = namespace
        try folder.write(SimulatedCloud.password, to: "password")
        try folder.write(SimulatedBoard.proofOfPossession, to: "pop")
        try folder.write(SimulatedBoard.passphrase, to: "wifi")
        try folder.write("planted-but-wrong", to: "wrong")
    }

    public var environment: [String: String] {
        [
            "HOME": folder.path, "XDG_CONFIG_HOME": folder.file("config"), "XDG_STATE_HOME": folder.file("state"),
            "NO_COLOR": "1",
            // Tests do not use the machine's own session, if it has one.
            "DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": "", "CREDENTIALS_DIRECTORY": "",
            // Neither are its radios.
            "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent/bus",
        ]
    }

    /// Where the session of a signed-in user lies, below the test's folder.
    public static let sessionFile = "state/rainkit/sessions/sim+\(SimulatedCloud.user).json"

    /// Starts a command and does not wait for its end.
    public func start(
        _ arguments: [String], environment more: [String: String] = [:], input: ChildProcess.Input = .empty
    ) async throws -> ChildProcess {
        let command = try command(arguments)
        return try await ChildProcess.start(
            command.executable, command.arguments, environment: environment.merging(more) { $1 }, input: input)
    }

    /// Runs it at a terminal, with a person who reads and types.
    public func atTerminal(_ arguments: [String], environment more: [String: String] = [:]) async throws -> Person {
        let command = try command(arguments)
        return try await Person.start(
            command.executable, command.arguments, environment: environment.merging(more) { $1 })
    }

    private func command(_ arguments: [String]) throws -> (executable: String, arguments: [String]) {
        let rainctl = try Executables.path("rainctl")
        return namespace?.command(rainctl, arguments) ?? (rainctl, arguments)
    }

    public func rainctl(_ arguments: String..., within limit: Duration = .waitLimit) async throws -> Outcome {
        try await rainctl(arguments, within: limit)
    }

    /// Runs it with `environment` laid over the maker's own.
    public func rainctl(
        _ arguments: [String], environment: [String: String] = [:], input: ChildProcess.Input = .empty,
        within limit: Duration = .waitLimit
    ) async throws -> Outcome {
        let child = try await start(arguments, environment: environment, input: input)
        defer { child.kill() }
        let status = try await child.wait(within: limit)
        try await child.drained()
        guard case .exited(let code) = status else {
            throw ProcessError("rainctl \(arguments) ended by \(status): \(child.standardError)")
        }
        return Outcome(status: code, standardOutput: child.standardOutput, standardError: child.standardError)
    }

    /// Uses that cloud from now on, signed in.
    /// - Parameter claims: whether the profile names its claim service.
    public func signIn(to cloud: SimulatedCloud, claims: Bool = false) async throws {
        try await use(cloud, claims: claims)
        let outcome = try await rainctl("login", SimulatedCloud.user, "--password-file", folder.file("password"))
        guard outcome.status == 0 else { throw ProcessError("not signed in: \(outcome.standardError)") }
    }

    public func use(_ cloud: SimulatedCloud, claims: Bool = false) async throws {
        let written = WrittenOnce(files: ["config/rainkit/deployments.json"], in: folder)
        let addresses = claims ? [cloud.api, cloud.claim] : [cloud.api]
        let known = (try? folder.read("config/rainkit/deployments.json"))?.replacing("\\/", with: "/")
        if let known, addresses.allSatisfy({ known.contains($0) }) { return }
        try await written.make(for: addresses, as: "rainctl profile \(claims)") { addresses in
            let claim = claims ? ["--claim-url", addresses[1]] : []
            for arguments in [
                ["profile", "add", "sim", "--base-url", addresses[0]] + claim, ["profile", "use", "sim"],
            ] {
                let outcome = try await rainctl(arguments)
                guard outcome.status == 0 else { throw ProcessError("\(arguments): \(outcome.standardError)") }
            }
        }
    }

    /// `provision` with what every board of these tests needs; `more` is laid behind it.
    public func provision(
        _ board: SimulatedBoard, passphrase: String = "wifi", pop: String = "pop", _ more: [String] = [],
        within limit: Duration = .waitLimit
    ) async throws -> Outcome {
        try await rainctl(
            ["provision"] + Self.way(to: board) + [
                "--pop-file", folder.file(pop), "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                folder.file(passphrase),
            ] + board.consent + more, within: limit)
    }

    /// The options that lead to a board.
    public static func way(to board: SimulatedBoard) -> [String] {
        if let console = board.console { return ["--transport", "serial", "--port", console] }
        return ["--transport", "softap", "--device-host", board.http ?? ""]
    }
}
