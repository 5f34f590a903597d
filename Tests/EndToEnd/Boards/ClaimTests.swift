// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Assisted claiming with the three programs as processes: board, cloud and `rainctl`.
@Suite("rainctl and unclaimed boards")
struct ClaimTests {
    private struct Place {
        let folder: TemporaryFolder
        let cloud: SimulatedCloud
        let maker: Maker

        func board(_ options: [String] = []) async throws -> SimulatedBoard {
            try await SimulatedBoard.start(
                (options.contains("--console") ? [] : ["--http", "127.0.0.1:0"]) + cloud.unclaimedBoardOptions
                    + options,
                in: folder)
        }

        /// Switched off and on: the same chip in the same place, without what was in its memory.
        func restarted(_ board: SimulatedBoard, _ options: [String] = []) async throws -> SimulatedBoard {
            try await board.process.terminate()
            let mac = try #require(board.nodeID)
            return try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--mac", mac] + cloud.unclaimedBoardOptions + options, in: folder)
        }

        func faults(_ rules: [JSONValue]) async throws { try await cloud.control("faults", ["rules": .array(rules)]) }
    }

    private func withPlace(
        _ arguments: [String] = [], claims: Bool = true, _ body: (Place) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(
                arguments: ["--data", folder.file("data")] + arguments, in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud, claims: claims)
            try await body(Place(folder: folder, cloud: cloud, maker: maker))
        }
    }

    private func changes(_ board: SimulatedBoard) throws -> [String] {
        try board.journal.entries(where: ["event": "state"]).compactMap { $0["change"]?.string }
    }

    private func requests(_ board: SimulatedBoard) throws -> [String] {
        try board.journal.entries(where: ["event": "request"]).compactMap { $0["endpoint"]?.string }
    }

    static let boards = [
        ["--security", "0"], ["--security", "1"], ["--security", "1", "--no-pop"], ["--security", "2"],
        ["--security", "2", "--patch", "0", "--mapping", "ch-resp"], ["--security", "1", "--mapping", "ch-resp"],
    ]

    @Test(
        "provision claims a board, maps it by its new name, and puts it online with its new certificate",
        arguments: boards)
    func success(options: [String]) async throws {
        try await withPlace { place in
            let board = try await place.board(["--mac", "7cdfa1000042"] + options)
            #expect(board.nodeID == "7CDFA1000042")
            let outcome = try await place.maker.provision(board, ["--json"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            let id = try #require(outcome.document?["node_id"]?.string)
            #expect(id != board.nodeID && outcome.document?["claimed"] == true)
            #expect(outcome.document?["mapping"] == "confirmed")
            #expect(try changes(board).contains("claimed") && !changes(board).contains("claim_aborted"))
            // It publishes under its new name, with the certificate that names it: the broker lets nobody else do so.
            _ = try await board.journal.entry(
                where: ["event": "publish", "topic": .string("$aws/rules/esp_node_config/node/\(id)/config")])
            _ = try await place.cloud.journal.entry(where: ["event": "node", "node": .string(id), "what": "config"])
            let nodes = try await place.maker.rainctl("node", "list", "--json")
            #expect(nodes.document?["nodes"]?.array?.first?["node_id"]?.string == id)
            let judged = try await run(
                "openssl", ["verify", "-CAfile", place.cloud.ca, place.folder.file("data/nodes/\(id).crt")])
            #expect(judged.status == .exited(0), "\(judged.standardError)")
            let subject = try await run(
                "openssl", ["x509", "-in", place.folder.file("data/nodes/\(id).crt"), "-noout", "-subject"])
            #expect(subject.standardOutput == "subject=CN = \(id)\n")
        }
    }

    @Test("device claim says the new id, and a board that is claimed again keeps it")
    func alone() async throws {
        try await withPlace { place in
            let board = try await place.board(["--log-level", "debug"])
            let way = Maker.way(to: board) + ["--pop-file", place.folder.file("pop")]
            let log = place.folder.file("log")
            let outcome = try await place.maker.rainctl(
                ["device", "claim"] + way + ["--json", "-vv", "--log-file", log])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            let id = try #require(outcome.document?["node_id"]?.string)
            #expect(outcome.document?["claimed"] == true)
            #expect(try !requests(board).contains("prov-config"))
            // Until it restarts, firmware goes on saying that it wants to be claimed, and must not be.
            let whole = try await place.maker.provision(board, ["--json"])
            #expect(whole.status == 0, "\(whole.standardOutput)\(whole.standardError)")
            #expect(whole.document?["node_id"]?.string == id && whole.document?["claimed"] == false)
            #expect(try !changes(board).contains("claim_over"))
            // A new board, with the same address in its fuses: it is claimed, and has the same name.
            let restarted = try await place.restarted(board)
            let again = try await place.maker.provision(restarted, ["--json"])
            #expect(again.status == 0, "\(again.standardOutput)\(again.standardError)")
            #expect(again.document?["node_id"]?.string == id && again.document?["claimed"] == true)
            let words = [
                try readFile(board.journal.path), board.process.standardError, try readFile(place.cloud.journal.path),
                place.cloud.process.standardError, try readFile(log), outcome.standardOutput, outcome.standardError,
                restarted.process.standardError,
            ]
            for text in words {
                #expect(!text.contains("PRIVATE KEY") && !text.contains("BEGIN CERT"))
            }
        }
    }

    @Test(
        "after a wrong Wi-Fi password the next run goes on with the board that the first has claimed",
        arguments: ["user", "ch-resp"])
    func wrongPassword(mapping: String) async throws {
        try await withPlace { place in
            let board = try await place.board(["--mapping", mapping])
            let outcome = try await place.maker.provision(board, passphrase: "wrong", ["--json"])
            #expect(outcome.status == 11, "\(outcome.standardOutput)\(outcome.standardError)")
            let second = try await place.maker.provision(board, ["--json"])
            #expect(second.status == 0, "\(second.standardOutput)\(second.standardError)")
            #expect(second.document?["mapping"] == "confirmed" && second.document?["claimed"] == false)
            #expect(try changes(board).filter { $0 == "claim_started" }.count == 1)
            #expect(try !changes(board).contains("claim_over"))
        }
    }

    @Test("a board whose claim was asked for once more, and that has had it, says to restart it")
    func claimedTwice() async throws {
        try await withPlace { place in
            let board = try await place.board()
            let claim =
                ["device", "claim"] + Maker.way(to: board) + ["--pop-file", place.folder.file("pop"), "--json"]
            #expect(try await place.maker.rainctl(claim).status == 0)
            try check(try await place.maker.rainctl(claim), advises: "estart", board)
            #expect(try changes(board).contains("claim_over"))
        }
    }

    @Test("a board that is claimed already is left alone")
    func claimedAlready() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-claimed"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud, claims: true)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0"] + cloud.boardOptions(node: "node-claimed"), in: folder)
            let outcome = try await maker.rainctl(
                ["device", "claim"] + Maker.way(to: board) + ["--pop-file", folder.file("pop"), "--json"])
            #expect(outcome.status == 0)
            #expect(outcome.document?["claimed"] == false && outcome.document?["node_id"] == nil)
        }
    }

    @Test(
        "a fault at the board ends in 17, the board is informed, and the message asks for a restart before the next run",
        arguments: ["lose-fragment=1", "lose-fragment=2", "lose-fragment=3", "oversize-csr", "wrong-csr"])
    func boardFault(fault: String) async throws {
        try await withPlace { place in
            let board = try await place.board(["--security", "2", "--claim-fault", fault])
            try check(try await place.maker.provision(board, ["--json"]), advises: "estart", board)
            #expect(try changes(board).contains("claim_aborted"))
            // It has ended for the board, too: nothing can be done before its restart.
            let early = try await place.maker.provision(board, ["--json"])
            try check(early, advises: "estart", board)
            #expect(try changes(board).filter { $0 == "claim_aborted" }.count == 1)
            let restarted = try await place.restarted(board)
            let second = try await place.maker.provision(restarted, ["--json"])
            #expect(second.status == 0, "\(second.standardOutput)\(second.standardError)")
            #expect(second.document?["claimed"] == true)
        }
    }

    @Test(
        "a board that restarts, or cannot be claimed yet, ends in 17 and gets no message: the next run succeeds",
        arguments: [
            "not-ready", "reboot-at=start", "reboot-at=init", "reboot-at=csr", "reboot-at=verify", "reboot-at=store",
        ])
    func boardRestart(fault: String) async throws {
        try await withPlace { place in
            let board = try await place.board(["--security", "2", "--claim-fault", fault])
            try check(try await place.maker.provision(board, ["--json"]), advises: "try again", board)
            #expect(try changes(board).contains("rebooted") == fault.hasPrefix("reboot"))
            let second = try await place.maker.provision(board, ["--json"])
            #expect(second.status == 0, "\(second.standardOutput)\(second.standardError)")
            #expect(second.document?["claimed"] == true)
            #expect(try !changes(board).contains("claim_aborted"))
        }
    }

    private func check(_ outcome: Maker.Outcome, advises advice: String, _ board: SimulatedBoard) throws {
        #expect(outcome.status == 17, "\(outcome.standardOutput)\(outcome.standardError)")
        #expect(outcome.failure?["code"]?.string == "claim_needed")
        #expect(outcome.failure?["step"]?.string == "claim")
        #expect(outcome.failure?["message"]?.string?.lowercased().contains(advice) == true, "\(outcome.standardOutput)")
        #expect(try !requests(board).contains("prov-config"), "nothing but the claim was tried")
    }

    struct CloudFault: Sendable, CustomTestStringConvertible {
        var what: String
        var rule: JSONValue
        var status: Int
        var reason: String
        /// How the claim ends at the board; nil if the next run continues it.
        var end: String?
        var testDescription: String { what }
    }

    static let cloudFaults = [
        CloudFault(
            what: "the platform is refused",
            rule: [
                "path": "/claim/initiate", "action": "status", "status": 400,
                "body": ["status": "failure", "description": "Platform is invalid"],
            ], status: 17, reason: "rejected", end: "claim_aborted"),
        CloudFault(
            what: "the service is down", rule: ["path": "/claim/initiate", "action": "status", "status": 503],
            status: 75,
            reason: "server_fault"),
        CloudFault(
            what: "the connection breaks at the certificate", rule: ["path": "/claim/verify", "action": "reset"],
            status: 75, reason: "network"),
        CloudFault(
            what: "a portal answers", rule: ["path": "/claim/verify", "action": "html"], status: 75,
            reason: "malformed_answer"),
        CloudFault(
            what: "the certificate is too long for a board",
            rule: [
                "path": "/claim/verify", "action": "status", "status": 200,
                "body": ["certificate": .string(String(repeating: "x", count: 4000))],
            ], status: 17, reason: "rejected", end: "claim_aborted"),
        CloudFault(
            what: "the certificate is another's",
            rule: [
                "path": "/claim/verify", "action": "status", "status": 200,
                "body": ["certificate": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"],
            ], status: 17, reason: "claim_failed", end: "claim_refused"),
        CloudFault(
            what: "the session is not good there", rule: ["path": "/claim/*", "action": "status", "status": 401],
            status: 75, reason: "server_fault"),
    ]

    @Test(
        "a fault of the claim service is reported with its cause; the board is informed only if it cannot be claimed",
        arguments: cloudFaults)
    func cloudFault(fault: CloudFault) async throws {
        try await withPlace { place in
            let board = try await place.board()
            try await place.faults([fault.rule])
            let outcome = try await place.maker.provision(board, ["--json"])
            #expect(outcome.status == fault.status, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.failure?["reason"]?.string == fault.reason)
            if fault.what.contains("platform") {
                #expect(outcome.failure?["message"]?.string?.contains("Platform is invalid") == true)
            }
            let ends = try changes(board).filter { ["claim_aborted", "claim_refused"].contains($0) }
            #expect(ends == (fault.end.map { [$0] } ?? []))
            #expect(
                outcome.failure?["message"]?.string?.contains("estart") == (fault.end != nil),
                "\(outcome.standardOutput)")
            try await place.faults([])
            let next = fault.end == nil ? board : try await place.restarted(board)
            let second = try await place.maker.provision(next, ["--json"])
            #expect(second.status == 0, "\(second.standardOutput)\(second.standardError)")
            #expect(second.document?["claimed"] == true)
        }
    }

    @Test("a short outage of the service is waited out")
    func outage() async throws {
        try await withPlace { place in
            let board = try await place.board()
            try await place.faults([["path": "/claim/*", "action": "status", "status": 503, "count": 2]])
            let outcome = try await place.maker.provision(board, ["--json"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(try !changes(board).contains("claim_aborted"))
        }
    }

    @Test("a user's limit of claims is reported")
    func quota() async throws {
        try await withPlace(["--claim-quota", "0"]) { place in
            let board = try await place.board()
            let outcome = try await place.maker.provision(board, ["--json"])
            #expect(outcome.status == 17)
            #expect(outcome.failure?["message"]?.string?.contains("quota") == true)
            #expect(try changes(board).contains("claim_aborted"))
        }
    }

    @Test("without a claim service the board gets no message, and its Wi-Fi alone can still be set up")
    func noService() async throws {
        try await withPlace(claims: false) { place in
            let board = try await place.board()
            let outcome = try await place.maker.provision(board, ["--json"])
            #expect(outcome.status == 17, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.failure?["message"]?.string?.contains("--claim-url") == true)
            #expect(try requests(board) == ["proto-ver"])
            let wifi = try await place.maker.provision(board, ["--no-mapping", "--json"])
            #expect(wifi.status == 0, "\(wifi.standardOutput)\(wifi.standardError)")
            #expect(wifi.document?["claimed"] == false)
            #expect(try !requests(board).contains("rmaker_claim"))
        }
    }

    @Test(
        "the console's lines are too short for a claim, which is said before any of it is sent", arguments: ["1", "0"])
    func console(security: String) async throws {
        try await withPlace { place in
            let board = try await place.board(["--console", place.folder.file("tty"), "--security", security])
            let outcome = try await place.maker.provision(board, ["--json"])
            #expect(outcome.status == 17, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.failure?["message"]?.string?.contains("console") == true)
            #expect(try !requests(board).contains("rmaker_claim"))
        }
    }

    @Test("who is not signed in touches no board")
    func notSignedIn() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            let maker = try Maker(folder)
            try await maker.use(cloud, claims: true)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0"] + cloud.unclaimedBoardOptions, in: folder)
            let outcome = try await maker.rainctl(
                ["device", "claim"] + Maker.way(to: board) + ["--pop-file", folder.file("pop"), "--json"])
            #expect(outcome.status == 77)
            #expect(try requests(board).isEmpty)
        }
    }

    @Test("events tell how far a claim is")
    func events() async throws {
        try await withPlace { place in
            let board = try await place.board()
            let outcome = try await place.maker.rainctl(
                ["device", "claim"] + Maker.way(to: board) + [
                    "--pop-file", place.folder.file("pop"), "--events", "ndjson",
                ])
            #expect(outcome.status == 0, "\(outcome.standardError)")
            let details = try outcome.events().filter { $0["step"] == "claim" }.compactMap { $0["detail"]?.string }
            #expect(details == ["claim_initiated", "certificate_requested", "claimed"])
        }
    }
}
