// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainMaker
import RainHTTPCurl
import RainJSON
import RainKitTesting
import TestSupport
import Testing
import RainCore

/// The whole way over libcurl to `cloud-sim`, with nodes played by foreign programs: `mosquitto_pub` and `openssl`.
@Suite("Against the simulated cloud")
struct SimulatedCloudTests {
    private static let node = "node-0011223344"

    private struct Connection {
        let simulator: SimulatedCloud
        let http = CurlHTTPClient()
        let clock = ManualWallClock(seconds: SystemWallClock().now.seconds)
        let session: AccountSession
        let cloud: RainMakerCloud
        let store: FileCredentialStore
        let key: CredentialKey

        init(_ simulator: SimulatedCloud, in folder: TemporaryFolder) throws {
            self.simulator = simulator
            let deployment = try Deployment(name: "sim", base: simulator.api)
            key = try CredentialKey(deployment.name)
            store = FileCredentialStore(folder: folder.file("accounts"))
            session = try AccountSession.rainMaker(deployment, http: http, store: store, clock: clock)
            cloud = RainMakerCloud(deployment, session: session, http: http)
        }

        func signIn(_ password: String = SimulatedCloud.password) async throws(AccountError) -> UserInfo {
            try await session.signIn(.password(user: SimulatedCloud.user, password: Secret(password)))
        }
    }

    private func withCloud(
        _ arguments: [String] = [], _ body: (Connection, TemporaryFolder) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let simulator = try await SimulatedCloud.start(nodes: [Self.node], arguments: arguments, in: folder)
            try await body(try Connection(simulator, in: folder), folder)
            try await simulator.process.terminate()
        }
    }

    @Test("sign-in, profile, renewal and sign-out, as the cloud's journal saw them")
    func account() async throws {
        try await withCloud { connection, _ in
            let wrong = await accountError { () throws(AccountError) in try await connection.signIn("wrong") }
            #expect(wrong?.code == .invalidCredentials)
            #expect(wrong?.serverCode == 101_009)
            #expect(try connection.store.load(connection.key) == nil)

            let profile = try await connection.signIn()
            #expect(profile.userName == SimulatedCloud.user)
            #expect(try await connection.session.user() == profile)
            let saved = try #require(try connection.store.load(connection.key))

            connection.clock.advance(seconds: 3550)
            _ = try await connection.session.user()
            let renewed = try #require(try connection.store.load(connection.key))
            #expect(renewed.tokens.access != saved.tokens.access)
            #expect(renewed.tokens.refresh == saved.tokens.refresh)

            guard case .complete = try await connection.session.signOut() else {
                Issue.record("the cloud was not told")
                return
            }
            // The refresh token is not valid any more, and its use is refused.
            let (store, key) = (connection.store, connection.key)
            try await store.exclusively(key, within: .waitLimit) { access async throws(AccountError) in
                try await access.save(saved)
            }
            #expect(
                await accountError { () throws(AccountError) in try await connection.session.user() }?.code
                    == .expired)
            #expect(try store.load(key) == nil)
        }
    }

    @Test("with rotating refresh tokens and an access token that the cloud rejects, twenty requests renew once")
    func rotation() async throws {
        try await withCloud(["--rotate-refresh"]) { connection, _ in
            _ = try await connection.signIn()
            let (store, key, cloud) = (connection.store, connection.key, connection.cloud)
            let before = try await store.exclusively(key, within: .waitLimit) { access async throws(AccountError) in
                var session = try await access.load()
                session?.tokens.access = Secret("not.a.token")
                if let session { try await access.save(session) }
                return session
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 { group.addTask { _ = try await cloud.nodeIDs() } }
                try await group.waitForAll()
            }
            #expect(try refreshes(connection).map { $0["outcome"] } == ["rotated"])
            #expect(try store.load(key)?.tokens.refresh != before?.tokens.refresh)
        }
    }

    private func refreshes(_ connection: Connection) throws -> [JSONValue] {
        try connection.simulator.journal.entries().filter { $0["event"] == "refresh" }
    }

    @Test("a mapping is confirmed once the node has told the cloud the same secret, and can be removed")
    func mapping() async throws {
        try await withCloud { connection, _ in
            let user = try await connection.signIn().userID
            let node = NodeID(Self.node)
            let secret = MappingSecret(Secret("planted-mapping-secret"))
            let request = try await connection.cloud.addMapping(
                node: node, secret: secret, notes: MappingNotes(tags: ["room:hall"]))
            #expect(try await connection.cloud.mappingStatus(request) == .requested)
            #expect(try await connection.cloud.nodeIDs().isEmpty)

            try await report(
                [
                    "node_id": .string(node.rawValue), "user_id": .string(user.rawValue),
                    "secret_key": .string(secret.secret.revealString()),
                ], of: connection.simulator)
            let end = ContinuousClock.now + .waitLimit
            while try await connection.cloud.mappingStatus(request) != .confirmed, ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(try await connection.cloud.mappingStatus(request) == .confirmed)
            #expect(try await connection.cloud.nodeIDs() == [node])
            #expect(try await connection.cloud.nodes().first?.tags == ["room:hall"])
            #expect(try await connection.cloud.node(node).role == "primary")
            // The broker hears a moment later that the node is gone.
            let gone = ContinuousClock.now + .waitLimit
            while try await connection.cloud.nodeConnectivity(node).isConnected, ContinuousClock.now < gone {
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(try await connection.cloud.nodeConnectivity(node).isConnected == false)

            try await connection.cloud.removeMapping(node: node)
            #expect(try await connection.cloud.nodeIDs().isEmpty)
            let again = await accountError { () throws(AccountError) in try await connection.cloud.node(node) }
            #expect(again?.code == .unknownNode)
        }
    }

    @Test("a challenge signed with the node's key maps it at once; signed with another it is refused")
    func challenge() async throws {
        try await withCloud { connection, folder in
            _ = try await connection.signIn()
            let node = NodeID(Self.node)
            let options = try connection.simulator.boardOptions(node: Self.node)
            let key = try #require(options.last)

            let first = try await connection.cloud.initiateChallenge(lifetime: .seconds(360))
            let forged = await accountError { () throws(AccountError) in
                try await connection.cloud.verifyChallenge(first.request, node: node, signature: [1, 2, 3])
            }
            #expect(forged?.serverCode == 103_031)

            let second = try await connection.cloud.initiateChallenge(lifetime: .seconds(360))
            try folder.write(String(decoding: second.challenge, as: UTF8.self), to: "challenge")
            let signed = try await run(
                "sh",
                [
                    "-c", "openssl dgst -sha256 -sign \"$1\" \"$2\" | od -An -v -tx1", "sh", key,
                    folder.file("challenge"),
                ])
            try await connection.cloud.verifyChallenge(
                second.request, node: node, signature: hex(signed.standardOutput))
            // As a client does that has lost the answer.
            try await connection.cloud.verifyChallenge(
                second.request, node: node, signature: hex(signed.standardOutput))
            #expect(try await connection.cloud.nodeIDs() == [node])
        }
    }

    @Test("the MQTT host is public")
    func metadata() async throws {
        try await withCloud { connection, _ in
            let host = try await connection.cloud.mqttHost()
            #expect(!host.isEmpty)
        }
    }

    @Test("a cloud that is gone is a network fault, and the session stays")
    func gone() async throws {
        try await withTemporaryFolder { folder in
            let simulator = try await SimulatedCloud.start(in: folder)
            let connection = try Connection(simulator, in: folder)
            _ = try await connection.signIn()
            try await simulator.process.terminate()
            connection.clock.advance(seconds: 4000)
            let error = await accountError { () throws(AccountError) in try await connection.session.user() }
            #expect(error?.code == .network)
            #expect(error?.isTransient == true)
            #expect(try connection.store.load(connection.key) != nil)
        }
    }

    /// What a node publishes after it received its user.
    private func report(_ message: JSONValue, of simulator: SimulatedCloud) async throws {
        let options = try simulator.boardOptions(node: Self.node)
        let value = { (name: String) in options[options.firstIndex(of: name)! + 1] }
        let address = simulator.mqtt.split(separator: ":").map(String.init)
        let published = try await run(
            "mosquitto_pub",
            [
                "-h", address[0], "-p", address[1], "--cafile", value("--ca"), "--cert", value("--cert"), "--key",
                value("--key"), "-i", Self.node, "-t", "node/\(Self.node)/user/mapping", "-q", "1", "-s",
            ], input: .text(String(decoding: message.serialized(), as: UTF8.self)))
        try #require(published.status == .exited(0), "\(published.standardError)")
    }
}
