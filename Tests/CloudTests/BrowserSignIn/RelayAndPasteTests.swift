// SPDX-License-Identifier: Apache-2.0
import Glibc
import IdentityProviders
import RainAccount
import RainCore
import RainMaker
import TestSupport
import Testing

@Suite("The relay and pasted addresses")
struct RelayAndPasteTests {
    private let relay = "https://relay.example.com/welcome.html"

    @Test("the relay reads the port in the state, and sends the browser to the root of localhost")
    func relayed() async throws {
        let bench = SignInBench()
        let outcome = try await bench.run(RelayUserAgent(relay: relay, show: bench.show)) { url throws in
            #expect(try SignInBench.parameter("redirect_uri", of: url) == relay)
            let state = try SignInBench.parameter("state", of: url)
            let port = try #require(state.hasPrefix("port:") ? Int(state.dropFirst(5)) : nil)
            #expect(try LoopbackConnection.get("/callback?code=c&state=\(state)", port: port) == 404)
            #expect(try LoopbackConnection.get("/?code=c&state=port:1", port: port) == 400)
            #expect(try LoopbackConnection.get("/?code=c&state=\(state)", port: port, version6: true) == 200)
        }
        #expect(try outcome.get().outcome == .code(Secret("c")))
    }

    @Test("a relay that drops the state is accepted, because the state has no secret")
    func withoutState() async throws {
        let bench = SignInBench()
        let outcome = try await bench.run(RelayUserAgent(relay: relay, show: bench.show)) { url throws in
            let port = try #require(Int(try SignInBench.parameter("state", of: url).dropFirst(5)))
            #expect(try LoopbackConnection.get("/?code=c", port: port) == 200)
        }
        #expect(try outcome.get().outcome == .code(Secret("c")))
    }

    @Test("an extended state must come back completely")
    func extended() async throws {
        let bench = SignInBench()
        let agent = RelayUserAgent(relay: relay, sendsExtendedState: true, show: bench.show)
        let outcome = try await bench.run(agent) { url throws in
            let state = try SignInBench.parameter("state", of: url)
            let parts = state.split(separator: ":")
            #expect(parts.count == 3 && parts[2] == "right-state")
            let port = try #require(Int(parts[1]))
            #expect(try LoopbackConnection.get("/?code=c", port: port) == 400)
            #expect(try LoopbackConnection.get("/?code=c&state=port:\(port)", port: port) == 400)
            #expect(try LoopbackConnection.get("/?code=c&state=\(state)", port: port) == 200)
        }
        #expect(try outcome.get().outcome == .code(Secret("c")))
    }

    @Test("the relay's own address and the one that it leads to can both be pasted", arguments: [true, false])
    func pastedBeside(isRelay: Bool) async throws {
        let bench = SignInBench()
        let addresses = ScriptedAddresses()
        let agent = RelayUserAgent(relay: relay, pasted: addresses, show: bench.show)
        let outcome = try await bench.run(agent) { url throws in
            let state = try SignInBench.parameter("state", of: url)
            let address = isRelay ? relay : "http://localhost:\(state.dropFirst(5))/"
            addresses.paste("\(address)?code=c&state=\(state)")
        }
        #expect(try outcome.get().outcome == .code(Secret("c")))
    }

    @Test("pasting only: refusals give the reason, without the code")
    func pasted() async throws {
        let bench = SignInBench()
        let addresses = ScriptedAddresses()
        let redirect = "http://127.0.0.1:50000/callback"
        let agent = PasteUserAgent(redirectURI: redirect, pasted: addresses, show: bench.show)
        let outcome = try await bench.run(agent) { url throws in
            #expect(try SignInBench.parameter("redirect_uri", of: url) == redirect)
            addresses.paste("planted-code")
            addresses.paste("\(redirect)?code=planted-code")
            addresses.paste(redirect)
            addresses.paste("\(redirect)?code=planted-code&state=right-state&state=right-state")
            addresses.paste("\"\(redirect)?error=access_denied&state=right-state\"")
        }
        #expect(try outcome.get().outcome == .refused(OAuthError(.accessDenied)))
        #expect(addresses.refusals.count == 4)
        #expect(!addresses.refusals.joined().contains("planted"))
    }

    @Test(
        "if input ends after a wrong address, the error says what was wrong, without quoting it",
        arguments: [
            ("https://elsewhere.example/?code=planted&state=2", "is not the answer to this sign-in"),
            ("http://127.0.0.1:50001/callback?code=planted&state=right-state", "is not the answer to this sign-in"),
            ("planted", "is not an address"), ("http://127.0.0.1:50000/callback", "has no answer yet"),
        ])
    func lastRefusal(line: String, says: String) async throws {
        let bench = SignInBench()
        let addresses = ScriptedAddresses()
        let agent = PasteUserAgent(redirectURI: "http://127.0.0.1:50000/callback", pasted: addresses, show: bench.show)
        let outcome = try await bench.run(agent) { _ in
            addresses.paste(line)
            addresses.end()
        }
        let error = try #require(outcome.failure)
        #expect(error.code == .noAnswer && error.message.contains(says), "\(error)")
        #expect(!error.message.contains("planted"))
    }

    @Test("the end of input without an answer, or too many wrong addresses, end the wait", arguments: [0, 60])
    func noAnswer(wrong: Int) async throws {
        let bench = SignInBench()
        let addresses = ScriptedAddresses()
        let agent = PasteUserAgent(redirectURI: "http://127.0.0.1:50000/callback", pasted: addresses, show: bench.show)
        let outcome = try await bench.run(agent) { _ in
            for _ in 0..<wrong { addresses.paste("x") }
            addresses.end()
        }
        #expect(outcome.failure?.code == .noAnswer)
        guard wrong == 0 else { return }
        #expect(outcome.failure?.message == "the input ended before an address of the sign-in page was pasted")
    }

    @Test("an invalid redirect URI is refused before anything is shown")
    func badRedirect() async throws {
        let agent = PasteUserAgent(redirectURI: "not a uri", pasted: ScriptedAddresses()) { _ in Issue.record("shown") }
        let error = await accountError { () throws(AccountError) in
            try await agent.authorize { _ throws(AccountError) in throw AccountError(.rejected, message: "asked") }
        }
        #expect(error?.code == .invalidConfiguration)
    }
}

@Suite("Addresses from a descriptor")
struct DescriptorAddressesTests {
    @Test("lines of a pipe come one by one, the last without a line end, however they are cut")
    func pipe() async throws {
        var ends: [Int32] = [0, 0]
        #expect(Glibc.pipe(&ends) == 0)
        defer { close(ends[0]) }
        let addresses = DescriptorAddresses(descriptor: ends[0]) { _ in }
        let text = Array("first\nsecond\r\n\nlast".utf8)
        for byte in text {
            var byte = byte
            #expect(write(ends[1], &byte, 1) == 1)
        }
        close(ends[1])
        var lines: [String] = []
        while let line = try await addresses.next() { lines.append(line.revealString()) }
        #expect(lines == ["first", "second\r", "", "last"])
    }

    @Test("a line that is too long is not an address")
    func tooLong() async throws {
        let terminal = try PseudoTerminal()
        let descriptor = open(terminal.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(descriptor) }
        let addresses = DescriptorAddresses(descriptor: descriptor) { _ in }
        async let error = accountError { () throws(AccountError) in try await addresses.next() }
        while terminal.settings.c_lflag & tcflag_t(ECHO) != 0 { try await Task.sleep(for: .milliseconds(1)) }
        await terminal.send([UInt8](repeating: UInt8(ascii: "a"), count: DescriptorAddresses.maximumBytes + 4097))
        #expect(await error?.code == .noAnswer)
    }

    @Test("a terminal echoes nothing, accepts more than its line limit, allows erasing, and is restored afterwards")
    func terminal() async throws {
        let terminal = try PseudoTerminal()
        let descriptor = open(terminal.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(descriptor) }
        let before = terminal.settings
        let addresses = DescriptorAddresses(descriptor: descriptor) { _ in }
        async let line = addresses.next()
        while terminal.settings.c_lflag & tcflag_t(ECHO) != 0 { try await Task.sleep(for: .milliseconds(1)) }
        let long = String(repeating: "x", count: 6000)
        await terminal.send("wrong\u{15}\(long)yz\u{7F}\u{7F}!\r")
        #expect(try await line?.revealString() == long + "!")
        #expect(terminal.settings.c_lflag & tcflag_t(ECHO | ICANON) == 0, "silent between two lines, too")
        await addresses.finish()
        #expect(terminal.settings.c_lflag == before.c_lflag)
        // Nothing was echoed: the bytes that are written now are the first to be read.
        _ = write(descriptor, "END", 3)
        #expect(String(decoding: await terminal.receive(), as: UTF8.self) == "END")
    }

    @Test("after a cancellation the terminal is restored")
    func cancelled() async throws {
        let terminal = try PseudoTerminal()
        let descriptor = open(terminal.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(descriptor) }
        let before = terminal.settings
        let addresses = DescriptorAddresses(descriptor: descriptor) { _ in }
        let task = Task { try await addresses.next() }
        while terminal.settings.c_lflag & tcflag_t(ECHO) != 0 { try await Task.sleep(for: .milliseconds(1)) }
        task.cancel()
        #expect(try await task.value == nil)
        await addresses.finish()
        #expect(terminal.settings.c_lflag == before.c_lflag)
    }
}
