// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import RainKitTesting
import RainMaker
import Synchronization
import TestSupport
import Testing

@Suite("A backend that signs users in with one-time codes")
struct BackendSignInTests {
    private let node = NodeID("node-1")
    private let secret = MappingSecret(Secret("planted-secret"))

    /// An identity provider that issues a new code each time, and the clients for which codes were requested.
    private final class Codes: Sendable {
        private let asked = Mutex<[String]>([])
        var clients: [String] { asked.withLock { $0 } }

        var source: HTTPNodeMapping.CodeSource {
            { [self] client in
                asked.withLock { asked in
                    asked.append(client)
                    return Secret("planted-code-\(asked.count)")
                }
            }
        }
    }

    private func expectSignIn(_ backend: OwnBackend, token: String) {
        backend.http.expect(.post, "/sessions", #"{"data":{"token":"\#(token)"}}"#)
    }

    @Test("the code goes to the backend, and its own token with all later requests; the provider's token is not sent")
    func flow() async throws {
        let codes = Codes()
        let backend = try OwnBackend(OwnBackend.signingIn, codes: codes.source)
        expectSignIn(backend, token: "planted-own")
        backend.http.expect(.put, "/nodes/node-1/owner", #"{"data":{"id":"r1"}}"#)
        backend.http.expect(.get, "/requests?id=r1", #"{"state":"done"}"#)
        backend.http.expect(.delete, "/sessions/current", status: 204, "")
        try await backend.mapping.beginSession()
        #expect(codes.clients == ["backend-1"])
        let request = try await backend.mapping.addMapping(node: node, secret: secret)
        #expect(try await backend.mapping.mappingStatus(request) == .confirmed)
        try await backend.mapping.endSession()
        // After the end there is nothing to end.
        try await backend.mapping.endSession()
        #expect(backend.bodies[0] == ["proof": "planted-code-1", "of": "user-1"])
        #expect(backend.proofs == [nil, "Bearer planted-own", "Bearer planted-own", "Bearer planted-own"])
        for request in backend.http.requests {
            #expect(!"\(request.headers)\(String(decoding: request.body, as: UTF8.self))".contains("planted-access"))
        }
        try backend.http.finish()
    }

    @Test("without beginSession the first request signs in, once for all callers")
    func shared() async throws {
        let codes = Codes()
        let backend = try OwnBackend(OwnBackend.signingIn, codes: codes.source)
        expectSignIn(backend, token: "planted-own")
        for _ in 0..<20 { backend.http.expect(unordered: .get, "/requests?id=r1") { _ in Self.done } }
        let mapping = backend.mapping
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    let status = try await mapping.mappingStatus(RequestID("r1"))
                    #expect(status == .confirmed)
                }
            }
            try await group.waitForAll()
        }
        #expect(codes.clients == ["backend-1"])
        try backend.http.finish()
    }

    private static let done = HTTPResponse(status: 200, body: Array(#"{"state":"done"}"#.utf8))

    @Test("an expired token is replaced with another code, once")
    func renewal() async throws {
        let codes = Codes()
        let backend = try OwnBackend(OwnBackend.signingIn, codes: codes.source)
        expectSignIn(backend, token: "planted-first")
        backend.http.expect(.get, "/requests?id=r1", status: 401, "{}")
        expectSignIn(backend, token: "planted-second")
        backend.http.expect(.get, "/requests?id=r1", #"{"state":"done"}"#)
        #expect(try await backend.mapping.mappingStatus(RequestID("r1")) == .confirmed)
        #expect(backend.bodies[2]?["proof"] == "planted-code-2")

        backend.http.expect(.get, "/requests?id=r1", status: 401, "{}")
        expectSignIn(backend, token: "planted-third")
        backend.http.expect(.get, "/requests?id=r1", status: 401, #"{"message":"planted-third planted-second"}"#)
        let error = await accountError { () throws(AccountError) in
            try await backend.mapping.mappingStatus(RequestID("r1"))
        }
        #expect(error?.code == .expired && !"\(error as Any)".contains("planted"), "\(error as Any)")
        // This does not concern the provider's session.
        #expect(backend.store.load(backend.key) != nil)
        try backend.http.finish()
    }

    @Test(
        "answers of a backend to a code, and whether another try may help",
        arguments: [
            (200, "{}", AccountError.Code.malformedAnswer), (200, #"{"data":{"token":""}}"#, .malformedAnswer),
            (200, #"{"data":{"token":{"a":1}}}"#, .malformedAnswer),
            (200, #"{"data":{"token":"a\r\nX-Admin: 1"}}"#, .malformedAnswer),
            (200, #"{"data":{"token":"two words"}}"#, .malformedAnswer),
            (200, "<html>Accept the terms</html>", .malformedAnswer), (302, "", .malformedAnswer), (301, "", .moved),
            (400, #"{"error":"invalid_grant"}"#, .invalidGrant), (401, "{}", .invalidGrant), (403, "{}", .invalidGrant),
            (422, "{}", .invalidGrant), (404, "{}", .invalidConfiguration), (405, "", .invalidConfiguration),
            (408, "", .timeout), (429, "{}", .rateLimited), (500, "{}", .serverFault), (503, "", .serverFault),
        ])
    func refused(status: Int, answer: String, code: AccountError.Code) async throws {
        let backend = try OwnBackend(OwnBackend.signingIn, codes: Codes().source)
        backend.http.expect(.post, "/sessions", status: status, answer)
        let error = await accountError { () throws(AccountError) in try await backend.mapping.beginSession() }
        #expect(error?.code == code, "\(error as Any)")
        #expect(error?.isTransient == [.malformedAnswer, .timeout, .rateLimited, .serverFault].contains(code))
        #expect(error?.message.contains("provider's token") == false)
        if [.invalidGrant, .invalidConfiguration].contains(code) {
            #expect(error?.message.contains("signIn.url") == true)
        }
        // No session was begun, so none can be ended.
        try await backend.mapping.endSession()
        try backend.http.finish()
    }

    @Test("the error of a backend that repeats the code does not contain it")
    func echoed() async throws {
        let mapping = try OwnBackend.mapping(OwnBackend.signingIn, over: EchoingClient(), codes: Codes().source)
        let error = await accountError { () throws(AccountError) in try await mapping.beginSession() }
        let shown = "\(error as Any) \(String(reflecting: error))"
        #expect(error != nil && !shown.contains("planted"), "\(shown)")
    }

    @Test("the provider's refusal of a code is the error, and nothing is sent to the backend")
    func noCode() async throws {
        let backend = try OwnBackend(OwnBackend.signingIn) { _ throws(AccountError) in
            throw AccountError(.clientRefused, message: "another merchant's")
        }
        let error = await accountError { () throws(AccountError) in
            try await backend.mapping.addMapping(node: node, secret: secret)
        }
        #expect(error?.code == .clientRefused)
        try backend.http.finish()
    }

    @Test(
        "a sign-out that fails is an error; a session that has already ended is not", arguments: [401, 404, 403, 500])
    func signOut(status: Int) async throws {
        let backend = try OwnBackend(OwnBackend.signingIn, codes: Codes().source)
        expectSignIn(backend, token: "planted-own")
        backend.http.expect(.delete, "/sessions/current", status: status, "{}")
        try await backend.mapping.beginSession()
        let error = await accountError { () throws(AccountError) in try await backend.mapping.endSession() }
        #expect((error == nil) == [401, 404].contains(status))
        try backend.http.finish()
    }

    // MARK: The kind of proof

    @Test("a provider without codes: its own token only if the description allows it")
    func withoutCodes() async throws {
        let error = #expect(throws: AccountError.self) { try OwnBackend(OwnBackend.signingIn) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("sendsProviderToken") == true)

        let both = OwnBackend.signingIn.replacing(
            #"{"schemaVersion":1,"#, with: #"{"schemaVersion":1,"sendsProviderToken":true,"#)
        let backend = try OwnBackend(both)
        backend.http.expect(.get, "/requests?id=r1", #"{"state":"done"}"#)
        #expect(try await backend.mapping.mappingStatus(RequestID("r1")) == .confirmed)
        #expect(backend.proofs == ["Bearer planted-access"])
        try backend.http.finish()

        // With codes the provider's token is not sent, even if that is allowed.
        let exchanging = try OwnBackend(both, codes: Codes().source)
        expectSignIn(exchanging, token: "planted-own")
        exchanging.http.expect(.get, "/requests?id=r1", #"{"state":"done"}"#)
        #expect(try await exchanging.mapping.mappingStatus(RequestID("r1")) == .confirmed)
        #expect(exchanging.proofs == [nil, "Bearer planted-own"])
        try exchanging.http.finish()
    }

    @Test(
        "a session without an access token is refused before anything is sent", arguments: ["basic", "cookie", "new"])
    func noToken(kind: String) async throws {
        for text in [OwnBackend.text, OwnBackend.signingIn] {
            let backend = try OwnBackend(text, codes: Codes().source)
            try await backend.mapping.checkSession()
            var session = try #require(backend.store.load(backend.key))
            session.tokens.kind = CredentialKind(rawValue: kind)
            let changed = session
            try await backend.store.exclusively(backend.key, within: .seconds(120)) {
                access async throws(AccountError) in
                try await access.save(changed)
            }
            let error = await accountError { () throws(AccountError) in try await backend.mapping.checkSession() }
            #expect(error?.code == .invalidConfiguration)
            try backend.http.finish()
        }
    }
}
