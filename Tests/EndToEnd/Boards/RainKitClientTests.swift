// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import RainDBus
import RainKit
import Synchronization
import TestSupport
import Testing

/// The front door in this process, against a simulated board and cloud that are processes.
@Suite("RainKitClient")
struct RainKitClientTests {
    enum Way: String, CaseIterable { case serial, softAP }

    @Test("a board ends on its network and in the account, and events tell of each step", arguments: Way.allCases)
    func provisions(way: Way) async throws {
        try await withTemporaryFolder { folder in
            let bench = try await GatewayBench(nodes: ["node-kit"], in: folder)
            let options = way == .serial ? ["--console", folder.file("tty")] : ["--http", "127.0.0.1:0"]
            let board = try await SimulatedBoard.start(
                options + bench.cloud.boardOptions(node: "node-kit"), in: folder)
            let address: BoardAddress = way == .serial ? .serial(board.console) : .softAP(board.http)
            let steps = Mutex<[OnboardingStep]>([])
            let node = try await bench.kit.provision(
                address, proof: GatewayBench.proof, network: try GatewayBench.home
            ) { event in
                if case .finished = event.state { steps.withLock { $0.append(event.step) } }
            }
            #expect(node.nodeID == NodeID("node-kit") && node.mapping == .confirmed)
            #expect(steps.withLock { $0 }.last == .confirm)
            #expect(try await bench.kit.nodes().map(\.id) == [NodeID("node-kit")])
        }
    }

    @Test("a board that only prints is known by its log, and takes no commands where its log is not followed")
    func onlyPrints() async throws {
        try await withTemporaryFolder { folder in
            let bench = try await GatewayBench(nodes: [], in: folder)
            let simulated = try await SimulatedBoard.start(
                ["--console", folder.file("tty"), "--console-dialect", "log-only", "--boot-log", "led-light"],
                in: folder)
            let board = try await bench.kit.open(
                .serial(simulated.console), with: BoardCredentials(proof: GatewayBench.proof), followsLog: false)
            let identity = try await board.identify()
            #expect(!identity.takesCommands && identity.reachedAt != nil)
            let error = await #expect(throws: BoardError.self) { try await board.scan() }
            #expect(error?.code == .unsupported && error?.reason == "log_only")
            await board.close()
        }
    }

    @Test("a proof that is known is not given up because somebody says in clear that none is wanted")
    func inClear() async throws {
        try await withTemporaryFolder { folder in
            let bench = try await GatewayBench(nodes: ["node-clear"], in: folder)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--security", "0"] + bench.cloud.boardOptions(node: "node-clear"), in: folder)
            let error = await #expect(throws: RainKitError.self) {
                try await bench.kit.provision(
                    .softAP(board.http), proof: GatewayBench.proof, network: try GatewayBench.home)
            }
            guard case .board(let cause)? = error?.cause else {
                Issue.record(Comment(rawValue: "\(error, default: "no error")"))
                return
            }
            #expect(cause.code == .securityMismatch)
            let asked = try board.journal.entries(where: ["event": "request"]).compactMap { $0["endpoint"]?.string }
            #expect(Set(asked) == ["proto-ver"])
        }
    }

    @Test("over the simulated radio, by the address that discovery found")
    func overRadio() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-radio"], in: folder)
            try folder.write(cloud.readyDocument, to: "nodes.json")
            let radio = try await SimulatedBluetooth.start(
                ["--boards", "1", "--nodes", folder.file("nodes.json"), "--mapping", "ch-resp"], in: folder)
            let kit = try GatewayBench.client(of: cloud, in: folder, bus: .at(radio.bus.address))
            try await kit.signIn(user: SimulatedCloud.user, password: SimulatedCloud.password)
            var found: FoundBoard?
            for try await board in kit.boards(BoardSearch(for: .seconds(120)), over: ["ble"]) {
                found = board
                break
            }
            let address = try #require(found?.address)
            let proof = ProofOfPossession(try #require(radio.boards.first).proofOfPossession)
            let node = try await kit.provision(address, proof: proof, network: try GatewayBench.home)
            #expect(node.nodeID == NodeID("node-radio") && node.mapping == .confirmed)
            await kit.close()
            try await radio.process.terminate()
            try await radio.bus.end()
        }
    }

    @Test("the run as a sequence ends with the node")
    func sequence() async throws {
        try await withTemporaryFolder { folder in
            let bench = try await GatewayBench(nodes: ["node-sequence"], in: folder)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0"] + bench.cloud.boardOptions(node: "node-sequence"), in: folder)
            let run = bench.kit.provisioning(
                .softAP(board.http), proof: GatewayBench.proof, network: try GatewayBench.home)
            var steps: [OnboardingStep] = []
            for try await event in run { steps.append(event.step) }
            #expect(steps.first == .account && steps.last == .confirm)
            // On a board's own access point the cloud may be out of reach: the challenge was fetched with the account.
            #expect(!steps.contains(.challenge))
            #expect(try await run.node.nodeID == NodeID("node-sequence"))
        }
    }

    @Test("leaving the sequence cancels the run, and nothing more goes to the board")
    func leaving() async throws {
        try await withTemporaryFolder { folder in
            let bench = try await GatewayBench(nodes: ["node-left"], in: folder)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--join-delay", "60"] + bench.cloud.boardOptions(node: "node-left"),
                in: folder)
            let run = bench.kit.provisioning(
                .softAP(board.http), proof: GatewayBench.proof, network: try GatewayBench.home)
            for try await event in run where event.step == .connect { break }
            let error = await #expect(throws: RainKitError.self) { try await run.node }
            if case .cancelled? = error?.cause {} else { Issue.record("\(String(describing: error))") }
        }
    }

    @Test("nobody signed in: that is said before anything goes to the board")
    func notSignedIn() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            let kit = try GatewayBench.client(of: cloud, in: folder)
            let board = try await SimulatedBoard.start(["--http", "127.0.0.1:0"], in: folder)
            let error = await #expect(throws: RainKitError.self) {
                try await kit.provision(.softAP(board.http), network: try! GatewayBench.home)
            }
            guard case .account(let cause)? = error?.cause else { return #expect(error == nil) }
            #expect(cause.code == .notSignedIn)
            #expect(try board.journal.entries(where: ["event": "request"]).isEmpty)
        }
    }

    @Test("another process, or the next start, finds the session in the folder")
    func keepsItsSession() async throws {
        try await withTemporaryFolder { folder in
            let bench = try await GatewayBench(nodes: [], in: folder)
            let next = try GatewayBench.client(of: bench.cloud, in: folder)
            #expect(try await next.userID() == bench.kit.userID())
            try await next.signOut()
            await #expect(throws: RainKitError.self) { try await bench.kit.userID() }
        }
    }

    @Test("a sign-in that fails leaves the client with the account that it used")
    func failedSignIn() async throws {
        try await withTemporaryFolder { folder in
            let bench = try await GatewayBench(nodes: [], in: folder)
            let user = try await bench.kit.userID()
            let error = await #expect(throws: RainKitError.self) {
                try await bench.kit.signIn(user: SimulatedCloud.user, password: "not the password")
            }
            #expect(error?.account?.code == .invalidCredentials)
            #expect(try await bench.kit.userID() == user)
        }
    }

    @Test("signing out takes an account off the list whose name was known only after the sign-in")
    func signsOutNameless() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            let kit = try GatewayBench.client(of: cloud, in: folder)
            try await kit.signIn(
                with: .credentials(.password(user: SimulatedCloud.user, password: Secret(SimulatedCloud.password))))
            try await kit.signOut()
            #expect(try kit.accounts.known.load().entries.isEmpty)
            try await cloud.process.terminate()
        }
    }

    @Test("a client that nobody has signed in to finds the session that another process makes later")
    func signedInLater() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            let waiting = try GatewayBench.client(of: cloud, in: folder)
            let error = await #expect(throws: RainKitError.self) { try await waiting.userID() }
            #expect(error?.account?.code == .notSignedIn)
            let other = try GatewayBench.client(of: cloud, in: folder)
            try await other.signIn(user: SimulatedCloud.user, password: SimulatedCloud.password)
            #expect(try await waiting.userID() == other.userID())
        }
    }

    @Test("several clients in one process do not know of each other")
    func several() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            let deployment = try Deployment(name: "sim", base: cloud.api)
            let (one, other) = (
                RainKitClient(.inMemory(deployment: deployment)), RainKitClient(.inMemory(deployment: deployment))
            )
            try await one.signIn(user: SimulatedCloud.user, password: SimulatedCloud.password)
            _ = try await one.userID()
            let error = await #expect(throws: RainKitError.self) { try await other.userID() }
            #expect(error?.account?.code == .notSignedIn)
        }
    }
}
