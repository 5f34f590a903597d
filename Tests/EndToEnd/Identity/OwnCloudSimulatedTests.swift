// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import Logging
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import RainMaker
import TestSupport
import Testing

/// How a user of one provider signs in.
private enum SignedInUser: String, CaseIterable, CustomTestStringConvertible {
    case spid, liferay, oclc, oidc
    var testDescription: String { rawValue }

    /// As the provider names Ada.
    var id: String { self == .oclc ? "p-ada" : "1001" }

    var isRenewable: Bool { self != .oclc }

    func session(_ desk: IdentityDesk, logger: Logger? = nil) async throws -> AccountSession {
        var settings = ProviderSettings(clientID: "app-1", clientSecret: Secret("app-1-secret"))
        settings.base = desk.base
        var credentials: SignInCredentials? = .password(user: "ada@example.com", password: Secret("correct-horse"))
        switch self {
        case .spid: break
        case .liferay:
            (settings.clientID, settings.clientSecret) = ("screens-2", Secret("screens-2-secret"))
            settings.mode = "oauth2UsernameAndPassword"
            settings.scope = ["liferay-json-web-services.everything"]
        case .oclc:
            (settings.clientID, settings.clientSecret) = ("wskey-1", nil)
            settings.base = desk.base + "/oauth2"
            settings.scope = ["WMS_NCIP"]
            settings.parameters = ["authenticatingInstitutionId": "128807", "contextInstitutionId": "128807"]
            credentials = nil
        case .oidc:
            (settings.clientID, settings.clientSecret) = ("native-1", nil)
            settings.scope = ["openid", "offline_access"]
            settings.base = nil
            settings.parameters = ["issuer": desk.base]
            credentials = nil
        }
        let provider = try ProviderRegistry.builtIn.provider(rawValue, settings: settings, tools: desk.tools)
        let session = AccountSession(
            provider: provider, http: desk.http, store: desk.store, key: desk.key, clock: desk.clock, logger: logger)
        if credentials == nil {
            let robot = PageRobot(
                http: desk.http, user: "ada",
                redirect: self == .oclc ? "oclcApp://user_agent_flow" : "http://127.0.0.1:4711/callback")
            credentials =
                self == .oclc
                ? try await provider.signInThroughBrowser(.implicit, by: robot)
                : try await provider.signInThroughBrowser(by: robot)
        }
        _ = try await session.signIn(try #require(credentials))
        return session
    }
}

@Suite("A user's own backend, beside the simulated identity providers")
struct OwnCloudSimulatedTests {
    private let node = NodeID("node-aabbccdd")
    private let secret = MappingSecret(Secret("planted-mapping-secret"))

    /// Ada, signed in, and the backend.
    private struct Scene {
        let desk: IdentityDesk
        let session: AccountSession
        let mapping: HTTPNodeMapping
        let backend: String

        init(_ user: SignedInUser, in folder: TemporaryFolder, as id: String? = nil, logger: Logger? = nil) async throws
        {
            desk = try await IdentityDesk(user.rawValue, in: folder)
            session = try await user.session(desk, logger: logger)
            backend = try desk.simulator.mappingURL()
            let description = try NodeMappingDescription(
                parsing: Array(try desk.simulator.mappingDescription().utf8), origin: "simulated")
            let own = try await session.userID()
            #expect(own.rawValue == user.id)
            mapping = try HTTPNodeMapping(
                description, session: session, user: id.map { UserID($0) } ?? own, http: desk.http)
        }

        func post(_ path: String, _ body: JSONValue) async throws -> Int {
            try await desk.http.send(HTTPRequest(method: .post, url: backend + path, body: body.serialized())).status
        }

        func states() throws -> [String] {
            try desk.simulator.journal.entries(where: ["event": "node_mapping"]).compactMap { $0["state"]?.string }
        }
    }

    @Test(
        "the node becomes the user's, and the journal says whose and by which provider",
        arguments: SignedInUser.allCases)
    private func mapped(user: SignedInUser) async throws {
        try await withTemporaryFolder { folder in
            let scene = try await Scene(user, in: folder)
            let notes = MappingNotes(tags: ["room:hall"], metadata: #"{"floor":1}"#)
            let request = try await scene.mapping.addMapping(node: node, secret: secret, notes: notes)
            #expect(try await scene.mapping.mappingStatus(request) == .confirmed)
            let entries = try scene.desk.simulator.journal.entries(where: [
                "event": "node_mapping", "node": "node-aabbccdd", "user_id": .string(user.id),
                "provider": .string(user.rawValue), "state": "confirmed",
            ])
            #expect(entries.count == 1)
            #expect(!(try readFile(scene.desk.simulator.journal.path)).contains("planted"))
        }
    }

    @Test(
        "a token that the provider ended is renewed on the way; without a renewal it is 401 and nothing is mapped",
        arguments: SignedInUser.allCases)
    private func expired(user: SignedInUser) async throws {
        try await withTemporaryFolder { folder in
            let scene = try await Scene(user, in: folder)
            try await scene.desk.control("expire", ["user": "ada@example.com"])
            let result = await code { () throws(AccountError) in
                let request = try await scene.mapping.addMapping(node: node, secret: secret)
                #expect(try await scene.mapping.mappingStatus(request) == .confirmed)
            }
            #expect(result == (user.isRenewable ? nil : "expired"))
            #expect(try scene.states().contains("confirmed") == user.isRenewable)
            // A backend's word does not end the provider's session.
            #expect(scene.desk.store.load(scene.desk.key) != nil)
        }
    }

    @Test("another user's id is refused; so is a token that stays wrong, and a backend that is down passes")
    func failures() async throws {
        try await withTemporaryFolder { folder in
            let scene = try await Scene(.spid, in: folder, as: "1003")
            let add = {
                await accountError { () throws(AccountError) in
                    try await scene.mapping.addMapping(node: self.node, secret: self.secret)
                }
            }
            let refusal = await add()
            #expect(refusal?.code == .forbidden && refusal?.isRefusal == true)
            let rule: JSONValue = ["path": "/nodes/*", "action": "status", "status": 401]
            #expect(try await scene.post("/_sim/faults", ["rules": [rule]]) == 200)
            #expect(await add()?.code == .expired)
            let down: JSONValue = ["path": "*", "action": "status", "status": 503, "retry_after": 3]
            #expect(try await scene.post("/_sim/faults", ["rules": [down]]) != 200)
            let slow: JSONValue = ["path": "/*", "action": "status", "status": 503, "retry_after": 3]
            #expect(try await scene.post("/_sim/faults", ["rules": [slow]]) == 200)
            let fault = await add()
            #expect(fault?.isTransient == true && fault?.retryAfter == .seconds(3))
            let reset: JSONValue = ["path": "/*", "action": "reset"]
            #expect(try await scene.post("/_sim/faults", ["rules": [reset]]) == 200)
            #expect(await add()?.isTransient == true)
            try await scene.desk.simulator.process.terminate()
            let gone = await add()
            #expect(gone?.code == .network)
            #expect(try scene.states().isEmpty)
        }
    }

    @Test("a backend that waits for the node's own report is pending until both halves agree; another secret discards")
    func nodeReport() async throws {
        try await withTemporaryFolder { folder in
            let scene = try await Scene(.spid, in: folder)
            #expect(try await scene.post("/_sim/settings", ["confirmation": "node_report"]) == 200)
            let first = try await scene.mapping.addMapping(node: node, secret: secret)
            #expect(try await scene.mapping.mappingStatus(first) == .requested)
            let path = "/nodes/node-aabbccdd/report"
            #expect(try await scene.post(path, ["user_id": "1001", "secret_key": "another"]) == 200)
            #expect(try await scene.mapping.mappingStatus(first) == .discarded)
            let second = try await scene.mapping.addMapping(node: node, secret: secret)
            #expect(
                try await scene.post(path, ["user_id": "1001", "secret_key": "planted-mapping-secret"]) == 200)
            #expect(try await scene.mapping.mappingStatus(second) == .confirmed)
        }
    }

    @Test(
        "a board that signs a challenge: its own key maps it, another does not, and a lost answer may be asked for again"
    )
    func challenge() async throws {
        try await withTemporaryFolder { folder in
            let scene = try await Scene(.spid, in: folder)
            let made = try await run(
                "sh",
                [
                    "-c",
                    "openssl ecparam -name prime256v1 -genkey -noout -out \"$1\" && openssl ec -in \"$1\" -pubout -out \"$2\"",
                    "sh", folder.file("key"), folder.file("public"),
                ])
            try #require(made.status == .exited(0), "\(made.standardError)")
            let key = try readFile(folder.file("public"))
            #expect(
                try await scene.post("/_sim/nodes", ["node": "node-aabbccdd", "public_key": .string(key)]) == 200)

            let forged = try await scene.mapping.initiateChallenge(lifetime: .seconds(360))
            let refusal = await accountError { () throws(AccountError) in
                try await scene.mapping.verifyChallenge(forged.request, node: node, signature: [1, 2, 3])
            }
            #expect(refusal?.code == .mappingRefused)

            let challenge = try await scene.mapping.initiateChallenge(lifetime: .seconds(360))
            try folder.write(String(decoding: challenge.challenge, as: UTF8.self), to: "challenge")
            let signed = try await run(
                "sh",
                [
                    "-c", "openssl dgst -sha256 -sign \"$1\" \"$2\" | od -An -v -tx1", "sh", folder.file("key"),
                    folder.file("challenge"),
                ])
            for _ in 0..<2 {
                try await scene.mapping.verifyChallenge(
                    challenge.request, node: node, signature: hex(signed.standardOutput))
            }
            #expect(try scene.states().filter { $0 == "confirmed" }.count == 1)
        }
    }

    @Test("a session that holds a password in place of a token is refused before anything is sent")
    func noToken() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("liferay", in: folder)
            let session = desk.session(try desk.provider("liferay", ProviderSettings(mode: "basic")))
            let user = try await session.signIn(.password(user: "ada@example.com", password: Secret("correct-horse")))
            let mapping = try HTTPNodeMapping(
                NodeMappingDescription(
                    parsing: Array(try desk.simulator.mappingDescription().utf8), origin: "simulated"),
                session: session, user: user.userID, http: desk.http)
            let sent = desk.http.requests.count
            #expect(
                await code { () throws(AccountError) in try await mapping.addMapping(node: node, secret: secret) }
                    == "invalid_configuration")
            #expect(desk.http.requests.count == sent)
        }
    }

    @Test("no secret gets into logs or errors")
    func quiet() async throws {
        try await withTemporaryFolder { folder in
            let log = CapturedLog()
            let scene = try await Scene(
                .spid, in: folder, as: "1003", logger: Logger(label: "test") { _ in log.handler })
            var shown = ""
            for status in [0, 400, 401, 500] {
                let rule: JSONValue = ["path": "/*", "action": "status", "status": .integer(Int64(max(status, 200)))]
                _ = try await scene.post("/_sim/faults", ["rules": status == 0 ? [] : [rule]])
                let error = await accountError { () throws(AccountError) in
                    try await scene.mapping.addMapping(node: node, secret: secret)
                }
                dump(error, to: &shown)
            }
            dump(scene.mapping, to: &shown)
            shown += log.text
            let tokens = scene.desk.http.requests.compactMap { request in
                request.headers.first { $0.name == "Authorization" }?.value.split(separator: " ").last.map(String.init)
            }
            #expect(tokens.count > 3 && shown.contains("AccountError"))
            for secret in tokens + ["planted"] { #expect(!shown.contains(secret)) }
        }
    }
}
