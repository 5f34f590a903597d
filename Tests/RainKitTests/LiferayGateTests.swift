// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainKit
import RainKitTesting
import TestSupport
import Testing

/// Liferay's modes `basic` and `cookie` give no access token, which a backend of the user's own needs.
@Suite("A session without an access token")
struct LiferayGateTests {
    private static let base = "https://portal.example"
    private static let user = UserID("1001")
    private static let descriptions = [
        #"{"schemaVersion":1,"sendsProviderToken":true,"add":{"method":"POST","url":"https://own.example/{node_id}"}}"#,
        """
        {"schemaVersion":1,"signIn":{"method":"POST","url":"https://own.example/in","body":{"code":"{code}"},
          "client":"c","token":"t"},"sendsProviderToken":true,"add":{"method":"POST","url":"https://own.example/{node_id}"}}
        """,
    ]

    /// A client whose HTTP client fails the test if anything is sent, with a user who has signed in at Liferay.
    private func kit(
        _ kind: CredentialKind, _ description: String, pending: [PendingMapping] = []
    ) throws -> (kit: RainKitClient, pending: InMemoryPendingMappings) {
        let tokens = Tokens(kind: kind, access: Secret("planted-password"), received: SystemWallClock().now)
        let saved = SavedSession(provider: "liferay", userID: Self.user, userName: "ada@example.com", tokens: tokens)
        let store = InMemoryPendingMappings(pending)
        var configuration = RainKitConfiguration.inMemory()
        configuration.environment = [:]
        configuration.provider = ProviderSelection(
            "liferay", settings: ProviderSettings(base: Self.base, parameters: ["companyId": "10157"]))
        configuration.sessions = InMemoryCredentialStore([try CredentialKey("liferay"): saved])
        configuration.pendingMappings = store
        configuration.backend = try NodeMappingDescription(parsing: Array(description.utf8), origin: "own.json")
        let http = ScriptedHTTPClient()
        configuration.tools.http = { _ in http }
        return (RainKitClient(configuration), store)
    }

    @Test(
        "is refused before anything is sent to the board or a server, and the modes with a token are listed",
        arguments: [CredentialKind.basic, .cookie, CredentialKind(rawValue: "another")], descriptions)
    func refused(kind: CredentialKind, description: String) async throws {
        let kit = try self.kit(kind, description).kit
        let remedy = Remedy.signInMode(provider: "liferay", modes: ["oauth2Redirect", "oauth2UsernameAndPassword"])
        let early = await #expect(throws: RainKitError.self) { try await kit.checkCanProvision() }
        #expect(early?.account?.code == .invalidConfiguration && early?.remedies == [remedy])
        #expect(early?.message.contains("no access token") == true && "\(early as Any)".contains("planted") == false)

        let board = UntouchedBoard()
        let late = await #expect(throws: RainKitError.self) {
            try await kit.provision(board, OnboardingRequest(network: .none))
        }
        #expect(late?.step == .account && late?.remedies == [remedy])
        #expect(await board.isClosed)
    }

    @Test("a session with an access token is not refused", arguments: descriptions)
    func taken(description: String) async throws {
        try await kit(.oauth, description).kit.checkCanProvision()
    }

    // MARK: Left-overs

    private static func pending(_ node: String, _ user: UserID, _ stage: PendingMapping.Stage) -> PendingMapping {
        PendingMapping(
            node: NodeID(node), user: user,
            proof: .secret(MappingSecret(randomBytes: [UInt8](0..<16)), request: RequestID("r")), stage: stage,
            peer: "/dev/ttyUSB0")
    }

    @Test(
        "giving up the mappings of earlier runs affects only the user's, and not those that another run is working on")
    func forgotten() async throws {
        let all = [
            Self.pending("n1", Self.user, .applied), Self.pending("n2", UserID("1003"), .online),
            Self.pending("n3", Self.user, .associated), Self.pending("n4", Self.user, .online),
            Self.pending("n5", Self.user, .online),
        ]
        let (kit, store) = try self.kit(.basic, Self.descriptions[0], pending: all)
        let hold = store.hold(node: NodeID("n4"))
        #expect(try await kit.forgetPendingMappings() == [NodeID("n1"), NodeID("n3"), NodeID("n5")])
        #expect(store.all().map(\.node) == [NodeID("n2"), NodeID("n4")])
        #expect(try await kit.forgetPendingMappings().isEmpty)
        withExtendedLifetime(hold) {}
        // After that the mapping is free for the next run.
        #expect(store.hold(node: NodeID("n1")) != nil)
    }

    @Test("without a signed-in user no mapping is given up")
    func notSignedIn() async throws {
        let kit = RainKitClient(.inMemory())
        let error = await #expect(throws: RainKitError.self) { try await kit.forgetPendingMappings() }
        #expect(error?.step == .resume)
        let isNotSignedIn = if case .account(let cause)? = error?.cause { cause.code == .notSignedIn } else { false }
        #expect(isNotSignedIn, "\(error as Any)")
    }
}
