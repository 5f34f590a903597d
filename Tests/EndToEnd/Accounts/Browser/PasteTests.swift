// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import RainKit
import TestSupport
import Testing

/// The address that the browser ended on, pasted at a terminal, piped in, or brought by the desktop.
@Suite("rainctl login without a browser that can come back")
struct PasteTests {
    /// `rainctl login …` in a pseudo-terminal, made by script(1). Everything it shows comes on standard output.
    private func terminal(_ maker: BrowserMaker, _ arguments: [String]) async throws -> ChildProcess {
        let words =
            [try Executables.path("rainctl"), "login", "-vv", "--log-file", maker.folder.file("log")] + arguments
        let command = words.map { "'\($0)'" }.joined(separator: " ")
        let terminal = try await ChildProcess.start(
            "script", ["--quiet", "--return", "--echo", "never", "--command", command, "/dev/null"],
            environment: maker.maker.environment.merging(maker.environment) { $1 }, input: .open)
        maker.watch(terminal)
        return terminal
    }

    private func address(in terminal: ChildProcess) async throws -> String {
        while let line = try await terminal.line() {
            let words = line.drop { $0 == " " }
            if words.hasPrefix("http") { return String(words.prefix { !$0.isWhitespace }) }
        }
        throw HeadlessBrowser.Failure(what: "no address: \(terminal.standardOutput)")
    }

    @Test(
        "over SSH the address is printed and the answer pasted; a wrong answer is reported, and none is shown",
        arguments: ["loopback", "relay"])
    func overSSH(way: String) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            var maker = try await BrowserMaker(folder, cloud, profile: ["--relay-url", cloud.api + "/welcome.html"])
            maker.environment["SSH_CONNECTION"] = "192.0.2.1 50000 192.0.2.2 22"
            maker.environment["DISPLAY"] = "localhost:10.0"
            let terminal = try await terminal(maker, ["--idp", "github", "--redirect", way])
            defer { terminal.kill() }
            let address = try await address(in: terminal)
            try await terminal.output(containing: "Then paste the last address")
            let redirect = try await maker.redirect(from: address)
            terminal.write("https://elsewhere.example/?code=1&state=2\n")
            try await terminal.output(containing: "Not accepted: This address is not the answer to this sign-in")
            terminal.write(redirect + "\n")
            try await maker.expectSession(
                try await maker.end(of: terminal), secrets: [try BrowserMaker.code(in: redirect)])
            #expect(terminal.standardOutput.contains("Signed in as github@example.com"))
        }
    }

    @Test("--paste listens for nothing; a refusal is pasted like a success")
    func pasteOnly() async throws {
        try await withTemporaryFolder { folder in
            let maker = try await BrowserMaker(folder, HostedPage())
            let terminal = try await terminal(maker, ["--idp", "github", "--paste", "--json"])
            defer { terminal.kill() }
            let redirect = try await maker.redirect(from: try await address(in: terminal), allow: false)
            let port = try #require(Int(redirect.split(separator: ":")[2].prefix { $0.isNumber }))
            #expect(!Self.isListening(port, terminal))
            try await terminal.output(containing: "Then paste the last address")
            terminal.write(redirect + "\n")
            #expect(try await maker.end(of: terminal).status == 77)
            #expect(terminal.standardOutput.contains("access_denied"))
        }
    }

    @Test("Ctrl-C at the prompt ends the wait, and the terminal echoes again")
    func interrupted() async throws {
        try await withTemporaryFolder { folder in
            let maker = try await BrowserMaker(folder, HostedPage())
            let rainctl = try Executables.path("rainctl")
            // The shell must outlive the Ctrl-C that it gets, too.
            let command = "stty echo; trap : INT; '\(rainctl)' login --idp github --paste; echo status=$?; stty -a"
            let terminal = try await ChildProcess.start(
                "script", ["--quiet", "--echo", "never", "--command", command, "/dev/null"],
                environment: maker.maker.environment.merging(maker.environment) { $1 }, input: .open)
            defer { terminal.kill() }
            try await terminal.output(containing: "Then paste the last address")
            terminal.write("\u{3}")
            try await terminal.output(containing: "status=130")
            try await terminal.output(containing: "echoctl")
            let settings = terminal.standardOutput.split(separator: "status=130").last ?? ""
            #expect(settings.contains("isig icanon iexten echo echoe"))
        }
    }

    @Test("a program can pipe the address in")
    func piped() async throws {
        try await withTemporaryFolder { folder in
            let maker = try await BrowserMaker(folder, HostedPage())
            let child = try await maker.login(["--idp", "github", "--paste", "--no-input", "--json"], input: .open)
            let redirect = try await maker.redirect(from: BrowserMaker.address(in: child))
            child.write(redirect + "\n")
            try await maker.expectSession(try await maker.end(of: child))
        }
    }

    @Test("the desktop starts the handler with the address, and the sign-in has its answer")
    func customScheme() async throws {
        try await withTemporaryFolder { folder in
            let scheme = "com.example.rainkit-test"
            let cloud = try await SimulatedCloud.start(
                arguments: ["--oauth-client", "mine=\(scheme):/callback"], in: folder)
            var maker = try await BrowserMaker(
                folder, cloud, clientID: "mine", profile: ["--scheme-redirect", "\(scheme):/callback"])
            maker.environment["XDG_RUNTIME_DIR"] = folder.file("run")
            maker.environment["XDG_DATA_HOME"] = folder.file("data")
            #expect(mkdir(folder.file("run"), 0o700) == 0)
            let child = try await maker.login(["--idp", "github", "--redirect", "scheme", "--no-browser", "--json"])
            let address = try await BrowserMaker.address(in: child)
            let entry = folder.file("data/applications/rainkit-com.example.rainkit-test.desktop")
            #expect(try readFile(entry).contains("MimeType=x-scheme-handler/com.example.rainkit-test;"))
            try await Self.validate(entry)

            let environment = maker.maker.environment.merging(maker.environment) { $1 }
            let chosen = try await run(
                "xdg-mime", ["query", "default", "x-scheme-handler/com.example.rainkit-test"], environment: environment)
            #expect(chosen.standardOutput == "rainkit-com.example.rainkit-test.desktop\n")

            let redirect = try await maker.redirect(from: address)
            // A stray first, by the command that the entry names; then the answer, by the desktop's own opener.
            let stray = try await run(
                Executables.path("rainctl"),
                ["account", "callback", "com.example.rainkit-test:/callback?code=x&state=y", "--json"],
                environment: environment)
            #expect(stray.status == .exited(65) && stray.standardOutput.contains("wrong_answer"))
            #expect(!(stray.standardError + stray.standardOutput).contains("code=x"))
            // Without a display xdg-open would look for a browser in the terminal instead of the handler.
            let opened = try await run(
                "xdg-open", [redirect],
                environment: environment.merging(["DISPLAY": ":0", "XDG_CURRENT_DESKTOP": ""]) { $1 })
            #expect(opened.status == .exited(0), "\(opened.standardError)")
            try await maker.expectSession(
                try await maker.end(of: child), secrets: [try BrowserMaker.code(in: redirect)])

            let late = try await run(
                Executables.path("rainctl"), ["account", "callback", redirect, "--json"], environment: environment)
            #expect(late.status == .exited(69))
            #expect(late.standardOutput.contains("no_answer"))
        }
    }

    /// The desktop's own tool has the say.
    private static func validate(_ entry: String) async throws {
        let finished = try await run("desktop-file-validate", [entry])
        #expect(finished.status == .exited(0), "\(finished.standardOutput)")
        #expect(finished.standardOutput.isEmpty)
    }

    private static func isListening(_ port: Int, _ child: ChildProcess) -> Bool {
        let hex = String(port, radix: 16, uppercase: true)
        return ["tcp", "tcp6"].contains { table in
            ((try? readFile("/proc/\(child.pid)/net/\(table)")) ?? "").split(separator: "\n").contains { line in
                line.contains(":\(hex) ") && line.contains(" 0A ")
            }
        }
    }
}
