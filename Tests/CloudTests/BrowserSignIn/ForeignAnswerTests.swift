// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKitTesting
import Synchronization
import Testing

@testable import RainAccount

@Suite("Answers of another sign-in, or of another server")
struct ForeignAnswerTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var query: String
        /// The reported text about the answer.
        var words: String
        var testDescription: String { query }
    }

    private static let issuer = "https://honest.example"

    static let cases: [Case] = [
        Case(query: "code=c&state=wrong-state", words: "the state is not the one that was sent"),
        Case(query: "code=c", words: "the answer has no state"),
        Case(
            query: "error=access_denied&state=wrong-state",
            words: "the state is not the one that was sent (error: access_denied)"),
        Case(
            query: "code=c&state=right-state&iss=https%3A%2F%2Fattacker.example",
            words: "the answer comes from another issuer"),
    ]

    @Test("the browser's page says what is wrong with it, and the wait continues", arguments: cases)
    func page(one: Case) async throws {
        let bench = SignInBench()
        let outcome = try await bench.run(LoopbackUserAgent(show: bench.show), issuer: Self.issuer) { url throws in
            let port = try SignInBench.port(of: url)
            let connection = try LoopbackConnection(port: port)
            connection.send("GET /callback?\(one.query) HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n")
            let page = connection.readToEnd()
            #expect(LoopbackConnection.status(page) == 400)
            #expect(page.contains("Not accepted") && page.contains("another sign-in"), "\(page)")
            let rest = "&iss=https%3A%2F%2Fhonest.example"
            #expect(try LoopbackConnection.get("/callback?code=right&state=right-state" + rest, port: port) == 200)
        }
        #expect(try outcome.get().outcome == .code(Secret("right")))
    }

    @Test("if no other answer arrives in time, the error names it, and not only the time", arguments: cases)
    func deadline(one: Case) async throws {
        let bench = SignInBench()
        let clock = ManualClock()
        let agent = LoopbackUserAgent(within: .seconds(120), by: clock, show: bench.show)
        let outcome = try await bench.run(agent, issuer: Self.issuer) { url in
            let port = try SignInBench.port(of: url)
            #expect(try LoopbackConnection.get("/callback?\(one.query)", port: port) == 400)
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(120))
        }
        let error = try #require(outcome.failure)
        #expect(error.code == .untrustedAnswer)
        #expect(error.message.contains(one.words), "\(error.message)")
        #expect(error.message.contains("120 seconds"), "\(error.message)")
    }

    @Test("the program gets a report at once, and once for each flaw, whatever else is sent")
    func reported() async throws {
        let bench = SignInBench()
        let reports = Mutex<[String]>([])
        let agent = LoopbackUserAgent(
            report: { error in reports.withLock { $0.append("\(error.code): \(error.message)") } }, show: bench.show)
        let outcome = try await bench.run(agent, issuer: Self.issuer) { url throws in
            let port = try SignInBench.port(of: url)
            for _ in 0..<5 {
                for one in Self.cases {
                    #expect(try LoopbackConnection.get("/callback?\(one.query)", port: port) == 400)
                }
            }
            #expect(reports.withLock { $0.count } == 3)
            #expect(try LoopbackConnection.get("/callback?code=c&state=right-state", port: port) == 200)
        }
        #expect(try outcome.get().outcome == .code(Secret("c")))
        let told = reports.withLock { $0 }
        #expect(told.allSatisfy { $0.hasPrefix("untrusted_answer: ") && $0.contains("is still waiting") }, "\(told)")
    }

    @Test("the listener answers from the beginning, however long a browser takes to open")
    func opener() async throws {
        let status = Once<Int>()
        let agent = LoopbackUserAgent { url in
            // This opener runs as long as its browser, which waits for the page.
            guard let port = try? SignInBench.port(of: url) else { return }
            status.set((try? LoopbackConnection.get("/callback?code=c&state=right-state", port: port)) ?? -1)
        }
        let bench = SignInBench()
        bench.shown.continuation.finish()
        let outcome = try await bench.run(agent) { _ in }
        #expect(try outcome.get().outcome == .code(Secret("c")))
        #expect(status.value == 200)
    }
}
