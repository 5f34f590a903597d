// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainKitTesting
import TestSupport
import Testing

@testable import IdentityProviders
@testable import RainAccount
@testable import RainMaker

@Suite("The loopback listener")
struct LoopbackUserAgentTests {
    @Test(
        "the answer arrives at 127.0.0.1 or ::1, the browser has its page, and the port is closed",
        arguments: [false, true])
    func answered(version6: Bool) async throws {
        let bench = SignInBench()
        let port = Once<Int>()
        // After this port is closed, the kernel gives it to nobody else.
        let agent = LoopbackUserAgent(port: UInt16(try LoopbackServer.assignablePort()), show: bench.show)
        let outcome = try await bench.run(agent) { url throws in
            #expect(try SignInBench.parameter("redirect_uri", of: url).hasPrefix("http://127.0.0.1:"))
            let found = try SignInBench.port(of: url)
            port.set(found)
            #expect(
                try LoopbackConnection.get("/callback?code=c&state=right-state", port: found, version6: version6) == 200
            )
        }
        #expect(try outcome.get().outcome == .code(Secret("c")))
        let closed = try #require(port.value)
        for version6 in [false, true] {
            #expect(throws: NobodyListens.self) { try LoopbackConnection(port: closed, version6: version6) }
        }
    }

    @Test("a refusal is an answer too, and its page reports the refusal")
    func refused() async throws {
        let bench = SignInBench()
        let outcome = try await bench.run(LoopbackUserAgent(path: "/signed/in", show: bench.show)) { url throws in
            let connection = try LoopbackConnection(port: SignInBench.port(of: url))
            connection.send(
                "GET /signed/in?error=access_denied&state=right-state HTTP/1.1\r\nHost: 127.0.0.1:\(try SignInBench.port(of: url))\r\n\r\n"
            )
            let page = connection.readToEnd()
            #expect(page.contains("Not signed in"))
            for header in [
                "Cache-Control: no-store", "Referrer-Policy: no-referrer",
                "Content-Security-Policy: default-src 'none'",
            ] {
                #expect(page.contains(header))
            }
        }
        #expect(try outcome.get().outcome == .refused(OAuthError(.accessDenied)))
    }

    static let strays: [(String, Int)] = [
        ("GET /favicon.ico HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", 404),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", 404),
        ("GET /callback/?code=c&state=right-state HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", 404),
        ("GET /Callback?code=c&state=right-state HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", 404),
        ("GET /callback?code=c&state=wrong-state HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", 400),
        ("GET /callback?code=c HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", 400),
        ("GET /callback HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", 400),
        ("GET /callback?state=right-state HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", 400),
        ("GET /callback?code=c&code=d&state=right-state HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", 400),
        ("GET /callback?code=c&state=right-state HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
        ("GET /callback?code=c&state=right-state HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 421),
        ("GET /callback?code=c&state=right-state HTTP/1.1\r\n\r\n", 400),
        ("GET /callback?code=c&state=right-state HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nHost: x\r\n\r\n", 400),
        ("HEAD /callback?code=c&state=right-state HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", 405),
        ("POST /callback?code=c&state=right-state HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", 405),
        ("POST /callback HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 3\r\n\r\na=b", 405),
        ("POST /callback HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 40000\r\n\r\n", 413),
        ("GET /callback HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 3\r\n\r\na=b", 413),
        ("GET http://127.0.0.1:PORT/callback?code=c&state=right-state HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", 400),
        ("\u{16}\u{3}\u{1} TLS\r\n\r\n", 400), ("GET /callback\r\n\r\n", 400),
        ("GET /" + String(repeating: "x", count: 40_000), 431),
    ]

    @Test("a request that is not the answer gets an error page, and the wait continues", arguments: strays)
    func stray(request: String, status: Int) async throws {
        let bench = SignInBench()
        let outcome = try await bench.run(LoopbackUserAgent(show: bench.show)) { url throws in
            let port = try SignInBench.port(of: url)
            let connection = try LoopbackConnection(port: port)
            connection.send(
                request.split(separator: "PORT", omittingEmptySubsequences: false).joined(separator: "\(port)"))
            #expect(LoopbackConnection.status(connection.readToEnd()) == status)
            #expect(try LoopbackConnection.get("/callback?code=right&state=right-state", port: port) == 200)
        }
        #expect(try outcome.get().outcome == .code(Secret("right")))
    }

    @Test("of two callbacks, one is the answer; the other gets the page for late answers")
    func twice() async throws {
        let bench = SignInBench()
        let outcome = try await bench.run(LoopbackUserAgent(show: bench.show)) { url throws in
            let port = try SignInBench.port(of: url)
            // Both are connected before either sends a request, so a closed port cannot refuse one.
            let first = try LoopbackConnection(port: port), second = try LoopbackConnection(port: port)
            let head = " HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n"
            second.send("GET /callback?code=second&state=right-state")
            first.send("GET /callback?code=first&state=right-state\(head)")
            // The listener waits a moment for the browser to close its end, so that the page is not lost.
            #expect(LoopbackConnection.status(first.readToEnd()) == 200)
            second.send(head)
            #expect(LoopbackConnection.status(second.readToEnd()) == 409)
        }
        #expect(try outcome.get().outcome == .code(Secret("first")))
    }

    @Test("silent and slow connections do not delay the answer")
    func silent() async throws {
        let bench = SignInBench()
        let start = ContinuousClock.now
        let outcome = try await bench.run(LoopbackUserAgent(show: bench.show)) { url throws in
            let port = try SignInBench.port(of: url)
            // The listener gives a connection ten seconds for its request. Here no other connection uses them.
            try await onOwnThread {
                let silent = try (0..<20).map { _ in try LoopbackConnection(port: port) }
                for connection in silent { connection.send("GET /callback?code=x") }
                let answer = try LoopbackConnection(port: port)
                for piece in [
                    "GE", "T /callback?co", "de=c&state=right-", "state HTTP/1.1\r",
                    "\nHost: localhost:\(port)\r\n\r", "\n",
                ] {
                    answer.send(piece)
                    usleep(2000)
                }
                #expect(LoopbackConnection.status(answer.readToEnd()) == 200)
                withExtendedLifetime(silent) {}
            }
        }
        #expect(try outcome.get().outcome == .code(Secret("c")))
        if isAlone { #expect(ContinuousClock.now - start < .seconds(9)) }
    }

    @Test("an answer of another issuer is ignored")
    func issuer() async throws {
        let bench = SignInBench()
        let outcome = try await bench.run(LoopbackUserAgent(show: bench.show), issuer: "https://honest.example") {
            url in
            let port = try SignInBench.port(of: url)
            let start = "/callback?code=c&state=right-state&iss=https%3A%2F%2F"
            #expect(try LoopbackConnection.get(start + "attacker.example", port: port) == 400)
            #expect(try LoopbackConnection.get(start + "honest.example", port: port) == 200)
        }
        #expect(try outcome.get().issuer == "https://honest.example")
    }

    @Test("after the time limit the sign-in ends without an answer, and the port is closed")
    func deadline() async throws {
        let bench = SignInBench()
        let clock = ManualClock()
        let port = Once<Int>()
        let agent = LoopbackUserAgent(
            port: UInt16(try LoopbackServer.assignablePort()), within: .seconds(120), by: clock, show: bench.show)
        let outcome = try await bench.run(agent) { url in
            port.set(try SignInBench.port(of: url))
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(120))
        }
        #expect(outcome.failure?.code == .noAnswer)
        #expect(outcome.failure?.message.contains("120 seconds") == true)
        let closed = try #require(port.value)
        #expect(throws: NobodyListens.self) { try LoopbackConnection(port: closed) }
    }

    @Test("a cancelled sign-in ends at once, and the port is closed")
    func cancelled() async throws {
        let bench = SignInBench()
        let agent = LoopbackUserAgent(port: UInt16(try LoopbackServer.assignablePort()), show: bench.show)
        let task = Task {
            try await bench.run(agent) { bench.shown.continuation.yield($0) }
        }
        var shown = bench.shown.stream.makeAsyncIterator()
        let url = try #require(await shown.next())
        let start = ContinuousClock.now
        task.cancel()
        #expect(try await task.value.failure?.code == .cancelled)
        if isAlone { #expect(ContinuousClock.now - start < .seconds(6)) }
        let port = try SignInBench.port(of: url)
        #expect(throws: NobodyListens.self) { try LoopbackConnection(port: port) }
    }

    @Test(
        "a port that another program uses, in either family, is refused before anything is shown",
        arguments: [false, true])
    func portInUse(version6: Bool) async throws {
        let taken = try LoopbackSockets(port: 0)
        let (keep, free) = version6 ? (1, 0) : (0, 1)
        #expect(taken.descriptors.count == 2)
        close(taken.descriptors[free])
        defer { close(taken.descriptors[keep]) }
        let agent = LoopbackUserAgent(port: taken.port) { _ in Issue.record("shown") }
        let error = await accountError { () throws(AccountError) in
            try await agent.authorize { _ throws(AccountError) in throw AccountError(.rejected, message: "asked") }
        }
        #expect(error?.code == .cannotListen)
        #expect(error?.message.contains("port \(taken.port) of this machine is not available") == true)
        #expect(error?.remedies == [.otherCallbackPort, .pastedAddress])
    }

    @Test("a requested port is used")
    func chosenPort() async throws {
        let free = try LoopbackSockets(port: 0)
        free.close()
        let bench = SignInBench()
        let outcome = try await bench.run(LoopbackUserAgent(port: free.port, show: bench.show)) { url throws in
            #expect(try SignInBench.port(of: url) == Int(free.port))
            #expect(try LoopbackConnection.get("/callback?code=c&state=right-state", port: Int(free.port)) == 200)
        }
        #expect(try outcome.get().outcome == .code(Secret("c")))
    }

    @Test("the address can be pasted instead, and then the listener is closed")
    func pasted() async throws {
        let bench = SignInBench()
        let addresses = ScriptedAddresses()
        let port = Once<Int>()
        let outcome = try await bench.run(LoopbackUserAgent(pasted: addresses, show: bench.show)) { url throws in
            let redirect = try SignInBench.parameter("redirect_uri", of: url)
            port.set(try SignInBench.port(of: url))
            addresses.paste("")
            addresses.paste(redirect + "?code=c&state=wrong")
            addresses.paste("https://elsewhere.example/?code=c&state=right-state")
            addresses.paste("  <\(redirect)?code=pasted&state=right-state>\r")
        }
        #expect(try outcome.get().outcome == .code(Secret("pasted")))
        #expect(addresses.refusals.count == 2)
        let closed = try #require(port.value)
        #expect(throws: NobodyListens.self) { try LoopbackConnection(port: closed) }
    }

    @Test("when no more lines can be pasted, the listener continues")
    func pasteEnds() async throws {
        let bench = SignInBench()
        let addresses = ScriptedAddresses()
        addresses.end()
        let outcome = try await bench.run(LoopbackUserAgent(pasted: addresses, show: bench.show)) { url throws in
            #expect(
                try LoopbackConnection.get("/callback?code=c&state=right-state", port: SignInBench.port(of: url)) == 200
            )
        }
        #expect(try outcome.get().outcome == .code(Secret("c")))
    }
}

extension Result {
    var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
