// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// `rainctl provision --transport ble` as a process, against a simulated radio on a bus of the test's own.
@Suite("rainctl provision over Bluetooth")
struct BluetoothProvisioningTests {
    /// A maker, signed in at a simulated cloud, with a radio in reach.
    struct Bench {
        let folder: TemporaryFolder
        let cloud: SimulatedCloud
        let maker: Maker
        let radio: SimulatedBluetooth
        let consent: [String]

        var board: SimulatedBluetooth.Board { radio.boards[0] }

        func provision(
            _ more: [String] = ["--json"], pop: String = "pop", passphrase: String = "wifi", name: String? = nil,
            within limit: Duration = .waitLimit
        ) async throws -> Maker.Outcome {
            try await maker.rainctl(
                [
                    "provision", "--transport", "ble", "--device-name", name ?? board.name, "--pop-file",
                    folder.file(pop), "--ssid", SimulatedBoard.ssid, "--passphrase-file", folder.file(passphrase),
                ] + consent + more, environment: radio.environment, within: limit)
        }
    }

    private func bench(_ options: [String], _ body: (Bench) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-on-the-air"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let radio = try await SimulatedBluetooth.start(
                ["--ble-fault", "disconnect=0.2"] + options + cloud.boardOptions(node: "node-on-the-air"), in: folder)
            try await body(
                Bench(
                    folder: folder, cloud: cloud, maker: maker, radio: radio,
                    consent: SimulatedBoard.consent(to: options)))
            try await radio.process.terminate()
            try await radio.bus.end()
        }
    }

    private func expectSuccess(_ outcome: Maker.Outcome, _ bench: Bench) async throws {
        #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
        #expect(outcome.document?["node_id"]?.string == "node-on-the-air")
        #expect(outcome.document?["mapping"]?.string == "confirmed")
        #expect(outcome.document?["ip"]?.string?.isEmpty == false)
        let nodes = try await bench.maker.rainctl("node", "list", "--json")
        #expect(nodes.document?["nodes"]?.array?.first?["node_id"]?.string == "node-on-the-air")
    }

    static let boards: [[String]] = [
        ["--security", "0"], ["--security", "1"], ["--security", "1", "--no-pop"],
        ["--security", "2", "--patch", "1"], ["--security", "2", "--patch", "0"],
        ["--security", "0", "--mapping", "ch-resp"], ["--security", "1", "--mapping", "ch-resp"],
        ["--security", "2", "--patch", "1", "--mapping", "ch-resp"],
        ["--security", "2", "--patch", "0", "--mapping", "ch-resp"],
    ]

    @Test("a board ends on its network and in the account", arguments: boards)
    func success(options: [String]) async throws {
        try await bench(options) { bench in
            try await expectSuccess(try await bench.provision(), bench)
        }
    }

    static let faults: [[String]] = [
        ["abort=0.6"], ["abort-quiet=0.6"], ["lose=0.5"], ["stale=1"], ["resolve=2"], ["connect=2"], ["encrypt"],
        ["cache=1"], ["stack=nimble"], ["stack=bluedroid"], ["limit=481"], ["uuids3"], ["forget=1"],
        ["scan-busy=3"], ["stale-bond"], ["stale-bond", "encrypt"], ["lose=0.5", "readdress"],
        ["abort=0.35", "lose=0.3", "stale=1", "cache=1", "encrypt"],
    ]

    @Test("and so it does whatever the radio does", arguments: faults, [["--security", "1"], ["--security", "2"]])
    func survival(faults: [String], options: [String]) async throws {
        try await bench(options + ["--seed", "7"] + faults.flatMap { ["--ble-fault", $0] }) { bench in
            try await expectSuccess(try await bench.provision(), bench)
        }
    }

    @Test("a board that has a challenge to sign is mapped once, wherever its links break", arguments: 1...6)
    func lossesWithChallenge(seed: Int) async throws {
        let options = ["--mapping", "ch-resp", "--seed", "\(seed)", "--ble-fault", "lose=0.7"]
        try await bench(options) { bench in
            try await expectSuccess(try await bench.provision(), bench)
            let confirmed = try bench.cloud.journal.entries(where: ["event": "mapping", "state": "confirmed"])
            #expect(confirmed.count == 1, "\(confirmed)")
        }
    }

    @Test("a board without a name is found by its address")
    func byAddress() async throws {
        try await bench(["--ble-fault", "noname"]) { bench in
            try await expectSuccess(try await bench.provision(name: bench.board.address.lowercased()), bench)
        }
    }

    @Test("the only board that is heard need not be named; of several one must be")
    func unnamed() async throws {
        for (count, status) in [(1, 0), (3, 64)] {
            try await withTemporaryFolder { folder in
                let radio = try await SimulatedBluetooth.start(["--boards", "\(count)"], in: folder)
                let maker = try Maker(folder)
                let outcome = try await maker.rainctl(
                    [
                        "provision", "--transport", "ble", "--pop-file", folder.file("pop"), "--ssid",
                        SimulatedBoard.ssid, "--passphrase-file", folder.file("wifi"), "--no-mapping", "--json",
                    ], environment: radio.environment)
                #expect(outcome.status == status, "\(outcome.standardOutput)\(outcome.standardError)")
                if status != 0 {
                    #expect(outcome.failure?["reason"]?.string == "several_boards")
                    for board in radio.boards {
                        #expect(outcome.failure?["message"]?.string?.contains(board.name) == true)
                    }
                }
                try await radio.process.terminate()
                try await radio.bus.end()
            }
        }
    }

    struct Refusal: CustomTestStringConvertible, Sendable {
        var what: String
        var options: [String] = []
        var pop = "pop"
        var passphrase = "wifi"
        var more: [String] = []
        var status: Int
        var code: String
        /// What the sentence says is to be tried.
        var says: String
        /// The finer cause; nil where it is the same word.
        var reason: String?
        var testDescription: String { "\(what) → \(status)" }
    }

    static let refusals = [
        Refusal(what: "a wrong proof, Security 1", pop: "wrong", status: 10, code: "wrong_pop", says: "label"),
        Refusal(
            what: "a wrong proof, Security 2", options: ["--security", "2"], pop: "wrong", status: 10,
            code: "wrong_pop", says: "label"),
        Refusal(
            what: "a wrong proof, Bluedroid, which hangs up", options: ["--ble-fault", "stack=bluedroid"],
            pop: "wrong", status: 10, code: "wrong_pop", says: "label"),
        Refusal(
            what: "a wrong Wi-Fi password", passphrase: "wrong", status: 11, code: "wifi_auth_failed",
            says: "Wi-Fi password"),
        Refusal(
            what: "an absent network", options: ["--wifi", "Elsewhere:planted-elsewhere"], status: 12,
            code: "wifi_ap_not_found", says: "2.4 GHz"),
        Refusal(
            what: "a stuck board", options: ["--fail", "stuck"], more: ["--timeout", "60s"], status: 16,
            code: "deadline", says: "nearer to the access point"),
        Refusal(
            what: "another scheme", more: ["--sec-ver", "2"], status: 15, code: "security_mismatch", says: "--sec-ver"),
        Refusal(
            what: "a board that never lets itself be connected to", options: ["--ble-fault", "abort=1"],
            more: ["--timeout", "120s"], status: 69, code: "unavailable", says: "nearer to the board",
            reason: "connection_failed"),
        Refusal(
            what: "a board whose values are too short", options: ["--security", "2", "--ble-fault", "limit=300"],
            status: 15, code: "security_mismatch", says: "another transport"),
    ]

    @Test("each refusal has its exit code, and one sentence that says what to try", arguments: refusals)
    func refused(refusal: Refusal) async throws {
        try await bench(refusal.options) { bench in
            let outcome = try await bench.provision(
                refusal.more + ["--json"], pop: refusal.pop, passphrase: refusal.passphrase)
            outcome.expectFailure(refusal.status, refusal.code, says: refusal.says)
            if let reason = refusal.reason { #expect(outcome.failure?["reason"]?.string == reason) }
        }
    }

    @Test("after a wrong Wi-Fi password the next run succeeds, on the same board")
    func secondRun() async throws {
        try await bench([]) { bench in
            let first = try await bench.provision(passphrase: "wrong")
            #expect(first.status == 11)
            try await expectSuccess(try await bench.provision(), bench)
        }
    }

    @Test("a connection that another program left behind is ended, and the board is provisioned")
    func leftBehind() async throws {
        try await bench([]) { bench in
            // As the official client leaves it after a wrong proof of possession.
            let heard = try await bench.maker.rainctl(
                ["device", "discover", "--transport", "ble", "--device-name", bench.board.name, "--timeout", "120s"],
                environment: bench.radio.environment)
            #expect(heard.status == 0)
            let connected = try await bench.radio.busctl(bench.board.path, "Device1", "Connect")
            #expect(connected != nil)
            try await expectSuccess(try await bench.provision(), bench)
        }
    }

    @Test("SIGINT lets go of the board and exits 130")
    func interrupted() async throws {
        try await bench(["--fail", "stuck"]) { bench in
            let child = try await bench.maker.start(
                [
                    "provision", "--transport", "ble", "--device-name", bench.board.name, "--pop-file",
                    bench.folder.file("pop"), "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                    bench.folder.file("wifi"), "--events", "ndjson",
                ], environment: bench.radio.environment)
            defer { child.kill() }
            try await child.output(containing: #""step":"connect""#)
            let status = try await child.terminate(2)
            #expect(status == .exited(130))
            // It advertises again once BlueZ has dropped the link.
            let heard = try await bench.maker.rainctl(
                [
                    "device", "discover", "--transport", "ble", "--device-name", bench.board.name, "--events", "ndjson",
                    "--timeout", "120s",
                ], environment: bench.radio.environment)
            #expect(heard.status == 0)
        }
    }

    @Test("a board that vanishes in the middle is lost, and one that nobody hears is unavailable")
    func vanishing() async throws {
        try await bench(["--fail", "stuck"]) { bench in
            let child = try await bench.maker.start(
                [
                    "provision", "--transport", "ble", "--device-name", bench.board.name, "--pop-file",
                    bench.folder.file("pop"), "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                    bench.folder.file("wifi"), "--events", "ndjson", "--no-mapping",
                ], environment: bench.radio.environment)
            defer { child.kill() }
            try await child.output(containing: #""step":"connect""#)
            bench.radio.process.kill()
            let status = try await child.wait()
            #expect(status == .exited(14), "\(child.standardError)")
        }
    }
}
