// SPDX-License-Identifier: Apache-2.0
import TestSupport
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import RainKitTesting
import RainMaker
import Testing

@Suite("Refusals and failures of the user's own backend")
struct HTTPNodeMappingFailureTests {
    private let node = NodeID("node-1")
    private let secret = MappingSecret(Secret("planted-secret"))

    private func add(to backend: OwnBackend) async -> AccountError? {
        await accountError { () throws(AccountError) in
            try await backend.mapping.addMapping(node: node, secret: secret)
        }
    }

    @Test(
        "each status has its cause; a fault may be tried again, a refusal not",
        arguments: [
            (301, AccountError.Code.moved), (302, .malformedAnswer), (307, .malformedAnswer), (400, .mappingRefused),
            (403, .forbidden), (404, .mappingRefused),
            (408, .timeout), (409, .mappingRefused), (422, .mappingRefused), (429, .rateLimited), (500, .serverFault),
            (502, .serverFault), (503, .serverFault),
        ])
    func statuses(status: Int, code: AccountError.Code) async throws {
        let backend = try OwnBackend()
        backend.http.expect(.put, "/nodes/node-1/owner", status: status, #"{"error":"why","message":"because"}"#)
        let error = await add(to: backend)
        #expect(error?.code == code && error?.status == status)
        #expect(error?.serverMessage == "because" && error?.serverCause == "why")
        // 302 and 307 are answers of a network's sign-in page.
        #expect(error?.isTransient == (status >= 500 || [302, 307, 408, 429].contains(status)))
        #expect(error?.isRefusal == (400..<500 ~= status && status != 408 && status != 429))
        try backend.http.finish()
    }

    @Test("a token without the scope differs from a node that the user may not have")
    func scope() async throws {
        let backend = try OwnBackend()
        backend.http.expect(.put, "/nodes/node-1/owner", status: 403, #"{"error":"insufficient_scope"}"#)
        #expect(await add(to: backend)?.code == .insufficientScope)
    }

    @Test("a failed connection is a temporary fault", arguments: [HTTPError.Code.timeout, .unreachable])
    func noConnection(code: HTTPError.Code) async throws {
        let backend = try OwnBackend()
        backend.http.expect(.put, "/nodes/node-1/owner", failure: code)
        #expect(await add(to: backend)?.isTransient == true)
    }

    @Test("the time that the backend asks to wait is reported")
    func retryAfter() async throws {
        let backend = try OwnBackend()
        backend.http.expect(.put, "/nodes/node-1/owner") { _ in
            HTTPResponse(status: 503, headers: [HTTPHeader("Retry-After", "7")])
        }
        #expect(await add(to: backend)?.retryAfter == .seconds(7))
    }

    @Test("a page is not an answer: with 200 it does not confirm, and with 403 it is not a refusal of the backend")
    func pages() async throws {
        for (status, code) in [(200, AccountError.Code.malformedAnswer), (403, .forbidden)] {
            let backend = try OwnBackend()
            backend.http.expect(.put, "/nodes/node-1/owner", status: status, "<html>Accept the terms</html>")
            let error = await add(to: backend)
            #expect(error?.code == code && error?.isRefusal == false)
        }
    }

    @Test("an answer beyond the limits is malformed")
    func bounds() async throws {
        let deep = String(repeating: #"{"data":"#, count: 20) + "1" + String(repeating: "}", count: 20)
        for answer in [deep, #"{"x":""# + String(repeating: "x", count: 65 << 10) + #""}"#] {
            let backend = try OwnBackend()
            backend.http.expect(.put, "/nodes/node-1/owner", answer)
            #expect(await add(to: backend)?.code == .malformedAnswer)
            #expect(backend.http.requests[0].maximumResponseBytes == 64 << 10)
        }
    }

    // MARK: 401

    @Test("a token that is not accepted is renewed, and the request sent once more")
    func renewal() async throws {
        let backend = try OwnBackend()
        backend.http.expect(.put, "/nodes/node-1/owner", status: 401, "{}")
        backend.http.expect(.post, "/v1/login2", #"{"status":"success","idtoken":"i","accesstoken":"planted-second"}"#)
        backend.http.expect(.put, "/nodes/node-1/owner", #"{"data":{"id":"r1"}}"#)
        #expect(try await backend.mapping.addMapping(node: node, secret: secret) == RequestID("r1"))
        #expect(backend.proofs.last == "Bearer planted-second")
        try backend.http.finish()
    }

    @Test("a token that is not accepted even after its renewal fails this call; the session remains")
    func wrongToken() async throws {
        let backend = try OwnBackend()
        backend.http.expect(.put, "/nodes/node-1/owner", status: 401, "{}")
        backend.http.expect(.post, "/v1/login2", #"{"status":"success","idtoken":"i","accesstoken":"planted-second"}"#)
        backend.http.expect(.put, "/nodes/node-1/owner", status: 401, #"{"message":"planted-second, planted-access"}"#)
        let error = await add(to: backend)
        #expect(error?.code == .expired && error?.isRefusal == false)
        #expect(!"\(error as Any)".contains("planted"))
        #expect(backend.store.load(backend.key) != nil)
        try backend.http.finish()
    }

    @Test("if nothing renews the session, the backend's 401 does not end it")
    func noRefresh() async throws {
        let backend = try OwnBackend(refresh: false)
        backend.http.expect(.put, "/nodes/node-1/owner", status: 401, "{}")
        #expect(await add(to: backend)?.code == .expired)
        #expect(backend.store.load(backend.key) != nil)
        try backend.http.finish()
    }

    // MARK: Secrets

    @Test("the error of a backend that repeats the request has neither the secret nor the token")
    func echoed() async throws {
        let mapping = try OwnBackend.mapping(over: EchoingClient())
        let error = try #require(
            await accountError { () throws(AccountError) in try await mapping.addMapping(node: node, secret: secret) })
        let shown = "\(error) \(String(reflecting: error))"
        #expect(shown.contains("node-1") && !shown.contains("planted"), "\(shown)")
    }
}
