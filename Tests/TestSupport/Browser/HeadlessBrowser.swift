// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainHTTP
import RainHTTPCurl
import RainJSON

/// A real Chromium without a window, with its own profile, driven through the WebDriver protocol (W3C).
///
/// It finds no host but this machine's: a page that loads something from elsewhere has that among its ``complaints()``.
public final class HeadlessBrowser: Sendable {
    /// That of the suite, see ``BrowserTrait``.
    @TaskLocal static var current: HeadlessBrowser?

    private let driver: ChildProcess
    private let http = CurlHTTPClient()
    private let session: String
    private let browser: pid_t

    /// Hands over the suite's browser as if it had never been anywhere.
    public static func withFreshPage<Result>(_ body: (HeadlessBrowser) async throws -> Result) async throws -> Result {
        guard let current else { throw Failure(what: "the suite has no .browser") }
        try await current.forget()
        return try await body(current)
    }

    static func with<Result: Sendable>(
        _ folder: TemporaryFolder, _ body: (HeadlessBrowser) async throws -> Result
    ) async throws -> Result {
        let browser = try await HeadlessBrowser(folder)
        do {
            let result = try await body(browser)
            await browser.end()
            return result
        } catch {
            await browser.end()
            throw error
        }
    }

    private init(_ folder: TemporaryFolder) async throws {
        let home = ["HOME": folder.file("browser"), "XDG_CONFIG_HOME": folder.file("browser/config")]
        let port: String
        (driver, port) = try await ChromeDriver.start(environment: home)
        let options: JSONValue = [
            "binary": "/usr/bin/chromium",
            "args": [
                // Tests run as root in containers, where Chromium's own sandbox does not come up.
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                "--disable-background-networking", "--no-proxy-server",
                // One renderer for all that a suite opens, and nothing that works in the background, at half the cost.
                "--disable-extensions", "--disable-component-update", "--in-process-gpu", "--renderer-process-limit=1",
                "--disable-site-isolation-trials",
                "--disable-features=SpareRendererForSitePerProcess,BackForwardCache,Translate,OptimizationHints,MediaRouter",
                // All others have a dot: not localhost, nor [::1].
                "--host-resolver-rules=MAP *.* ~NOTFOUND, EXCLUDE 127.0.0.1",
                .string("--user-data-dir=\(folder.file("browser/data"))"),
            ],
        ]
        let start = "http://127.0.0.1:\(port)/session"
        let reply = try await Self.call(
            http, .post, start,
            [
                "capabilities": [
                    "alwaysMatch": ["goog:chromeOptions": options, "goog:loggingPrefs": ["browser": "ALL"]]
                ]
            ])
        guard let id = reply["sessionId"]?.string,
            case .integer(let process)? = reply["capabilities"]?["goog:processID"]
        else { throw Failure(what: "no session") }
        session = "\(start)/\(id)"
        browser = pid_t(process)
    }

    /// Chromium outlives its driver, so it is asked to end and then made to.
    private func end() async {
        _ = try? await Self.call(http, .delete, session, nil)
        kill(browser, SIGKILL)
        driver.kill()
    }

    public struct Failure: Error {
        public var what: String

        public init(what: String) { self.what = what }
    }

    private func forget() async throws {
        for command in ["Network.clearBrowserCookies", "Network.clearBrowserCache"] {
            _ = try await Self.call(
                http, .post, session + "/goog/cdp/execute", ["cmd": .string(command), "params": [:]])
        }
        _ = try await complaints()
    }

    /// What Chromium wrote to its console since it was asked last, but for what it says of icons.
    public func complaints() async throws -> [String] {
        let entries = try await Self.call(http, .post, session + "/se/log", ["type": "browser"]).array ?? []
        return entries.compactMap { $0["message"]?.string }.filter { !$0.contains("favicon") }
    }

    public func open(_ url: String) async throws {
        _ = try await Self.call(http, .post, session + "/url", ["url": .string(url)])
    }

    /// Clicks what a CSS selector finds.
    public func click(_ selector: String) async throws {
        _ = try await Self.call(http, .post, try await element(selector) + "/click", [:])
    }

    public func type(_ text: String, into selector: String) async throws {
        _ = try await Self.call(http, .post, try await element(selector) + "/value", ["text": .string(text)])
    }

    private func element(_ selector: String) async throws -> String {
        let found = try await Self.call(
            http, .post, session + "/element", ["using": "css selector", "value": .string(selector)])
        guard let id = found.members?.first?.value.string else { throw Failure(what: "nothing is \(selector)") }
        return "\(session)/element/\(id)"
    }

    /// Runs the body of a function in the page, and returns its result.
    @discardableResult
    public func run(_ script: String) async throws -> JSONValue {
        try await Self.call(
            http, .post, session + "/execute/sync", ["script": .string(script), "args": .array([])])
    }

    /// Returns the result of a script once it is the wanted one.
    @discardableResult
    public func run(
        _ script: String, within limit: Duration = .waitLimit, until isWanted: (JSONValue) -> Bool
    ) async throws -> JSONValue {
        let end = ContinuousClock.now + limit
        while true {
            let answer = try await run(script)
            if isWanted(answer) { return answer }
            guard ContinuousClock.now < end else { throw Failure(what: "\(script) is still \(answer)") }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Sends a command of the Chrome DevTools protocol.
    @discardableResult
    public func send(_ command: String, _ parameters: JSONValue) async throws -> JSONValue {
        try await Self.call(
            http, .post, session + "/goog/cdp/execute", ["cmd": .string(command), "params": parameters])
    }

    /// Types into the element that has the focus.
    public func press(_ key: String) async throws {
        let keys: JSONValue = [
            ["type": "keyDown", "value": .string(key)], ["type": "keyUp", "value": .string(key)],
        ]
        _ = try await Self.call(
            http, .post, session + "/actions", ["actions": [["type": "key", "id": "keyboard", "actions": keys]]])
    }

    /// Returns a picture of the page, as PNG in base64.
    public func screenshot() async throws -> String {
        try await Self.call(http, .get, session + "/screenshot", nil).string ?? ""
    }

    /// Writes a picture of the page into a file of the repository.
    public func save(_ path: String) async throws {
        guard let bytes = Base64.decoded(Array(try await screenshot().utf8)) else { throw Failure(what: "no picture") }
        let file = Glibc.open(Repository.path(path), O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        guard file >= 0 else { throw Failure(what: "\(path) cannot be written") }
        defer { close(file) }
        guard write(file, bytes, bytes.count) == bytes.count else { throw Failure(what: "\(path) is not complete") }
    }

    public var address: String {
        get async throws { try await Self.call(http, .get, session + "/url", nil).string ?? "" }
    }

    /// The address, once it is the wanted one.
    public func address(
        within limit: Duration = .waitLimit, where isWanted: (String) -> Bool
    ) async throws -> String {
        try await poll(within: limit, { try await address }, until: isWanted) { "the address is still \($0)" }
    }

    /// The page's text, once it holds `text`.
    public func text(containing text: String, within limit: Duration = .waitLimit) async throws -> String {
        try await poll(
            within: limit, { try await Self.call(http, .get, session + "/source", nil).string ?? "" },
            until: { $0.contains(text) }
        ) { "no \"\(text)\" in: \($0.prefix(2000))" }
    }

    /// Asks again and again, more and more rarely: each answer is work for the whole browser.
    private func poll(
        within limit: Duration, _ ask: () async throws -> String, until isWanted: (String) -> Bool,
        complaint: (String) -> String
    ) async throws -> String {
        let end = ContinuousClock.now + limit
        var pause = Duration.milliseconds(10)
        while true {
            let answer = try await ask()
            if isWanted(answer) { return answer }
            guard ContinuousClock.now < end else { throw Failure(what: complaint(answer)) }
            try await Task.sleep(for: pause)
            pause = min(pause * 2, .milliseconds(100))
        }
    }

    private static func call(
        _ http: CurlHTTPClient, _ method: HTTPRequest.Method, _ url: String, _ body: JSONValue?
    ) async throws -> JSONValue {
        let response = try await http.send(
            HTTPRequest(
                method: method, url: url, headers: [HTTPHeader("Content-Type", "application/json")],
                body: body?.serialized() ?? [], deadline: .waitLimit, maximumResponseBytes: 8 << 20))
        let reply = try JSONValue(parsing: response.body, limits: JSONLimits(maximumBytes: 8 << 20))
        guard response.status == 200 else {
            throw Failure(what: "\(url): \(reply["value"]?["message"]?.string ?? "\(response.status)")")
        }
        return reply["value"] ?? nil
    }
}
