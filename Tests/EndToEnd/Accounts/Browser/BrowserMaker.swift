// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainHTTP
import RainHTTPCurl
import RainJSON
import RainKit
import TestSupport
import Testing

/// A maker who signs in through a browser, at a simulated cloud or at a ``HostedPage``.
struct BrowserMaker {
    let folder: TemporaryFolder
    let maker: Maker
    /// Whom the sign-in page lets in.
    let userName: String
    private let page: HostedPage?
    private let http = CurlHTTPClient()
    private let lookout = Lookout()
    /// Laid over the maker's environment; by itself it is a machine without a display.
    var environment: [String: String] = [
        "DISPLAY": "", "WAYLAND_DISPLAY": "", "BROWSER": "", "SSH_CONNECTION": "", "SSH_TTY": "", "SSH_CLIENT": "",
    ]

    /// What one sign-in left behind.
    struct Outcome {
        var status: Int
        var standardOutput: String
        var standardError: String
        /// What was to be seen of it and its children from its start to its end.
        var processes: ProcessWatch
        var document: JSONValue? { try? JSONValue(parsing: Array(standardOutput.utf8)) }
        var failure: JSONValue? { document?["error"] }
    }

    init(_ folder: TemporaryFolder, _ page: HostedPage) async throws {
        try await self.init(folder, page: page, userName: HostedPage.userName, profile: page.profile)
    }

    /// At the cloud's page every identity provider has the user that is named after it.
    init(
        _ folder: TemporaryFolder, _ cloud: SimulatedCloud, clientID: String = Deployment.global.clientID ?? "",
        provider: String = "github", profile more: [String] = []
    ) async throws {
        try await self.init(
            folder, page: nil, userName: "\(provider)@example.com",
            profile: ["--base-url", cloud.api, "--auth-url", cloud.api, "--client-id", clientID] + more)
    }

    private init(_ folder: TemporaryFolder, page: HostedPage?, userName: String, profile: [String]) async throws {
        self.folder = folder
        self.page = page
        self.userName = userName
        maker = try Maker(folder)
        // The page of an earlier maker in this folder, with other options.
        unlink(folder.file("config/rainkit/deployments.json"))
        for arguments in [["profile", "add", "page"] + profile, ["profile", "use", "page"]] {
            let outcome = try await maker.rainctl(arguments)
            #expect(outcome.status == 0, "\(outcome.standardError)")
        }
    }

    /// Starts `login`, which logs as much as it can.
    func login(_ arguments: [String], input: ChildProcess.Input = .empty) async throws -> ChildProcess {
        let child = try await ChildProcess.start(
            Executables.path("rainctl"), ["login", "-vv", "--log-file", folder.file("log")] + arguments,
            environment: maker.environment.merging(environment) { $1 }, input: input)
        watch(child)
        return child
    }

    /// Looks at the arguments of a command that was started otherwise, to its end.
    func watch(_ child: ChildProcess) { lookout.follow(child.pid) }

    /// The address that was printed for a browser.
    static func address(in child: ChildProcess) async throws -> String {
        while let line = try await child.errorLine() {
            let words = line.drop { $0 == " " }
            if words.hasPrefix("http") { return String(words).trimmingLineEnd }
        }
        throw HeadlessBrowser.Failure(what: "no address: \(child.standardError)")
    }

    func end(of child: ChildProcess) async throws -> Outcome {
        let status = try await child.wait()
        try await child.drained()
        guard case .exited(let code) = status else { throw HeadlessBrowser.Failure(what: "\(status)") }
        return Outcome(
            status: code, standardOutput: child.standardOutput, standardError: child.standardError,
            processes: await lookout.finish())
    }

    /// That the session is one, and that none of these secrets, nor the page's, lies outside of it.
    func expectSession(_ outcome: Outcome, secrets: [String] = []) async throws {
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let whoami = try await maker.rainctl("whoami", "--json")
        #expect(whoami.document?["user_name"]?.string == userName, "\(whoami.standardError)")
        try expectNoSecrets(outcome, secrets)
    }

    func expectNoSecrets(_ outcome: Outcome, _ secrets: [String] = []) throws {
        var hunt = SecretHunt()
        for secret in secrets { hunt.add("a secret", secret) }
        for (secret, name) in page?.secrets ?? [:] where secret.utf8.count >= 8 { hunt.add(name, secret) }
        #expect(!hunt.secrets.isEmpty)
        #expect(hunt.findings(in: outcome.standardOutput + outcome.standardError, of: "the output") == [])
        #expect(!outcome.processes.arguments.isEmpty)
        // All that the session's file holds by now is a secret, too.
        #expect(outcome.processes.findings(try hunt.with(sessionsBelow: folder.file("state/rainkit/sessions"))) == [])
        let found = try hunt.findings(below: folder.path) { path in
            path.hasPrefix("browser/") || path.hasPrefix("state/rainkit/sessions/")
        }
        #expect(found == [])
    }

    /// What a browser does, without one: allows or denies at the sign-in page, and says where it was sent.
    func redirect(from address: String, allow: Bool = true) async throws -> String {
        var request = HTTPRequest(method: .post, url: address)
        if let page {
            let number = page.requests.count
            _ = try await http.send(HTTPRequest(method: .get, url: address))
            request = HTTPRequest(
                method: .get, url: "\(page.url)/decide?request=\(number)" + (allow ? "&allow=1" : ""))
        } else {
            let name = userName.split(separator: "@").joined(separator: "%40")
            request.headers = [HTTPHeader("Content-Type", "application/x-www-form-urlencoded")]
            request.body = Array("username=\(name)&action=\(allow ? "allow" : "deny")".utf8)
        }
        return try #require(try await http.send(request).header("Location"))
    }

    /// The code in an address that a browser was sent to.
    static func code(in address: String) throws -> String {
        let query = try #require(address.split(separator: "?", maxSplits: 1).last)
        let field = try #require(query.split(separator: "&").first { $0.hasPrefix("code=") })
        return String(field.dropFirst(5))
    }
}

extension String {
    fileprivate var trimmingLineEnd: String { String(prefix { $0 != "\r" && $0 != "\n" && $0 != "\r\n" && $0 != " " }) }
}
