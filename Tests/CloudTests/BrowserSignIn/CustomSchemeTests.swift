// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainIO
import TestSupport
import Testing

@testable import IdentityProviders
@testable import RainAccount
@testable import RainMaker

@Suite("A redirect with a custom scheme")
struct CustomSchemeTests {
    private let redirect = "com.example.rainkit:/callback"

    private func agent(_ folder: String, _ bench: SignInBench, _ registered: Once<String> = Once())
        -> CustomSchemeUserAgent
    {
        CustomSchemeUserAgent(
            redirectURI: redirect, folder: folder, register: { scheme throws(AccountError) in registered.set(scheme) },
            show: bench.show)
    }

    private func deliver(_ url: String, _ folder: String) -> Result<CallbackHandOver.Outcome, AccountError> {
        do throws(AccountError) {
            return .success(try CallbackHandOver.deliver(Secret(url), folder: folder))
        } catch {
            return .failure(error)
        }
    }

    @Test(
        "the handler passes the address on; other addresses are refused; the socket is private, and removed afterwards")
    func handedOver() async throws {
        try await withTemporaryFolder { temporary in
            let folder = temporary.file("rainkit")
            let bench = SignInBench()
            let registered = Once<String>()
            let outcome = try await bench.run(agent(folder, bench, registered)) { url throws in
                #expect(try SignInBench.parameter("redirect_uri", of: url) == redirect)
                var status = stat()
                #expect(lstat(folder, &status) == 0 && status.st_mode & 0o777 == 0o700)
                #expect(lstat("\(folder)/callback-com.example.rainkit.sock", &status) == 0)
                #expect(status.st_mode & S_IFMT == S_IFSOCK && status.st_mode & 0o777 == 0o600)
                for stray in ["?code=c&state=wrong", "/more?code=c&state=right-state", "", "?code=c"] {
                    #expect(try deliver(redirect + stray, folder).get() == .refused)
                }
                #expect(try deliver(redirect + "?code=c&state=right-state", folder).get() == .taken)
            }
            #expect(registered.value == "com.example.rainkit")
            #expect(try outcome.get().outcome == .code(Secret("c")))
            #expect(access("\(folder)/callback-com.example.rainkit.sock", F_OK) != 0)
            #expect(deliver(redirect + "?code=c&state=right-state", folder).failure?.code == .noAnswer)
        }
    }

    @Test("a client that sends nothing, too much or half a line does not end the wait")
    func badPeers() async throws {
        try await withTemporaryFolder { temporary in
            let folder = temporary.file("rainkit")
            let bench = SignInBench()
            let outcome = try await bench.run(agent(folder, bench)) { _ in
                let address = try #require(UnixAddress("\(folder)/callback-com.example.rainkit.sock"))
                for bytes in [[], Array("half".utf8), [0xFF, 0x0A], [UInt8](repeating: 0x61, count: 80_000)]
                    as [[UInt8]]
                {
                    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
                    #expect(address.call({ connect($0, $1, $2) }, descriptor) == 0)
                    _ = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                    close(descriptor)
                }
                #expect(try deliver(redirect + "?code=c&state=right-state", folder).get() == .taken)
            }
            #expect(try outcome.get().outcome == .code(Secret("c")))
        }
    }

    @Test("a folder that others may enter, or a link instead of it, is refused", arguments: ["open", "link", "file"])
    func badFolder(kind: String) async throws {
        try await withTemporaryFolder { temporary in
            let folder = temporary.file("rainkit")
            switch kind {
            case "open":
                #expect(mkdir(folder, 0o755) == 0)
                #expect(chmod(folder, 0o755) == 0)
            case "link": #expect(symlink(temporary.path, folder) == 0)
            default: try temporary.write("", to: "rainkit")
            }
            let agent = agent(folder, SignInBench())
            let error = await accountError { () throws(AccountError) in
                try await agent.authorize { _ throws(AccountError) in throw AccountError(.rejected, message: "asked") }
            }
            #expect(error?.code == .cannotListen)
        }
    }

    @Test("a second sign-in does not replace the first; an old socket does not prevent a new one")
    func busy() async throws {
        try await withTemporaryFolder { temporary in
            let path = temporary.file("callback-x.sock")
            let first = try CallbackSocket(path: path)
            #expect(
                await accountError { () throws(AccountError) in try CallbackSocket(path: path) }?.code == .cannotListen)
            // This is what a killed process leaves behind: a file, and nobody listens.
            let second = temporary.file("callback-y.sock")
            let dead = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            #expect(UnixAddress(second)?.call(bind, dead) == 0)
            close(dead)
            let third = try CallbackSocket(path: second)
            third.close()
            first.close()
            #expect(access(path, F_OK) != 0 && access(second, F_OK) != 0)
        }
    }

    @Test(
        "a scheme that is not private is refused",
        arguments: [
            "https://a.example/?code=c", "http:x", "file:///etc/passwd", "javascript:x", "no scheme", "1a:/x", ":x", "",
        ])
    func webSchemes(url: String) {
        #expect(deliver(url, "/nowhere").failure?.code == .invalidConfiguration)
    }

    @Test("the desktop entry starts the command with the address, whatever its path looks like")
    func entry() throws {
        let handler = SchemeHandler(
            name: "rainctl", command: ["/opt/a b/rain%ctl", "account", "callback", "$x\"`\\"], dataFolder: "/d",
            environment: [:])
        let lines = handler.entry(scheme: "com.example.app").split(separator: "\n").map(String.init)
        #expect(lines.first == "[Desktop Entry]")
        #expect(lines.contains("MimeType=x-scheme-handler/com.example.app;"))
        // Inside quotes four characters take a backslash, and each backslash is two in a value (Desktop Entry Specification).
        #expect(lines.contains(#"Exec="/opt/a b/rain%%ctl" account callback "\\$x\\"\\`\\\\" %u"#))
        #expect(lines.contains("NoDisplay=true"))
    }

    @Test("a character with a combining mark is escaped like the character alone", arguments: ["\u{301}", "\u{200D}"])
    func combiningMarks(mark: String) {
        #expect(SchemeHandler.quoted("/opt/rain%\(mark)ctl") == "/opt/rain%%\(mark)ctl")
        #expect(SchemeHandler.quoted("/opt/a\"\(mark)b") == "\"/opt/a\\\\\"\(mark)b\"")
    }

    @Test("no path adds a line to the desktop entry", arguments: ["\n", "\r\n", "\r", "\t"])
    func lines(end: String) {
        let handler = SchemeHandler(
            name: "rainctl", command: ["/tmp/x\(end)Exec=/bin/sh"], dataFolder: "/nonexistent", environment: [:])
        let lines = handler.entry(scheme: "x").split(whereSeparator: \.isNewline)
        #expect(lines.count { $0.hasPrefix("Exec=") } == 1 && lines.count == 9)
    }
}
