// SPDX-License-Identifier: Apache-2.0
import TestSupport
import RainCore
import RainHTTP
import RainKitTesting
import RainMaker
import Testing

@testable import RainAccount

/// A renewal after its callers have left.
@Suite("A renewal that nobody waits for")
struct EndedRenewalTests {
    /// The cloud's answer to a renewal, which arrives on command.
    private struct Answer {
        let isAsked: AsyncStream<Void>
        let give: @Sendable () -> Void

        init(_ bench: Bench, _ name: String) {
            let (gate, opener) = AsyncStream.makeStream(of: Void.self)
            let (asked, ask) = AsyncStream.makeStream(of: Void.self)
            isAsked = asked
            give = { opener.finish() }
            let renewal = bench.renewal(name)
            bench.http.expect(.post, "/v1/login2") { _ throws(HTTPError) in
                ask.finish()
                for await _ in gate {}
                // This is what a real client does: it closes the connection, and the answer is lost.
                if Task.isCancelled { throw HTTPError(.cancelled, host: "scripted", message: "cancelled") }
                return HTTPResponse(status: 200, body: Array(renewal.utf8))
            }
        }
    }

    @Test("its answer is stored, and a process can wait for that before it ends")
    func stored() async throws {
        try await RenewalsUnderWay.$current.withValue(RenewalsUnderWay()) {
            let bench = try Bench(savedSession("a", life: 1))
            bench.clock.advance(seconds: 10)
            let answer = Answer(bench, "b")
            let call = Task { await accountError { () throws(AccountError) in try await bench.session.accessToken() } }
            for await _ in answer.isAsked {}
            call.cancel()
            #expect(await call.value?.code == .cancelled)
            #expect(await AccountSession.finishRenewals(within: .milliseconds(10)) == false)
            let ending = Task { await AccountSession.finishRenewals() }
            answer.give()
            #expect(await ending.value)
            #expect(try await bench.stored()?.tokens.access == tokens("b", received: bench.clock.now.seconds).access)
            try bench.http.finish()
        }
    }

    @Test("a sign-out that is cancelled while it renews keeps the new tokens")
    func signOut() async throws {
        try await RenewalsUnderWay.$current.withValue(RenewalsUnderWay()) {
            let bench = try Bench(savedSession("a", life: 1))
            bench.clock.advance(seconds: 10)
            let answer = Answer(bench, "b")
            let signOut = Task {
                await accountError { () throws(AccountError) in _ = try await bench.session.signOut() }
            }
            for await _ in answer.isAsked {}
            signOut.cancel()
            #expect(await AccountSession.finishRenewals(within: .milliseconds(10)) == false)
            answer.give()
            #expect(await AccountSession.finishRenewals())
            _ = await signOut.value
            let stored = try await bench.stored()
            #expect(stored == nil || stored?.tokens.access == tokens("b", received: bench.clock.now.seconds).access)
        }
    }

    @Test("a cancelled task requests nothing, and waiting for renewals then ends at once")
    func nothingAsked() async throws {
        try await RenewalsUnderWay.$current.withValue(RenewalsUnderWay()) {
            let bench = try Bench(savedSession("a", life: 1))
            bench.clock.advance(seconds: 10)
            let call = Task {
                while !Task.isCancelled { await Task.yield() }
                return await accountError { () throws(AccountError) in try await bench.session.accessToken() }
            }
            call.cancel()
            #expect(await call.value?.code == .cancelled)
            #expect(await AccountSession.finishRenewals(within: .zero))
            #expect(bench.http.requests.isEmpty)
        }
    }
}
