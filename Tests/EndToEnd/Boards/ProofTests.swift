// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// A proof of possession that is known is used: whoever answers in the board's place cannot talk the session down to one in clear. A board
/// that wants none under Security 1 is gone on with where its label does not say otherwise, and that is said.
@Suite("rainctl and a proof of possession that the board says it does not want", .serialized)
struct ProofTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var what: String
        var board: [String]
        /// The words of the command; `FILE` stands for a file with the proof, `NAME` for the board's name.
        var words: [String]
        var input: ChildProcess.Input = .empty
        var environment: [String: String] = [:]
        /// What the refusal names as the way to go on; nil where there is none.
        var remedy: [String]?
        var warns = false
        var testDescription: String { what }
    }

    private static let proof = SimulatedBoard.proofOfPossession
    private static let unprotected = ["--security", "0"]
    private static let unproven = ["--security", "1", "--no-pop"]
    private static let zero = ["--sec-ver", "0"]
    private static let one = ["--sec-ver", "1"]
    private static let label = #"{"ver":"v1","name":"NAME","pop":"\#(proof)"}"#
    private static let labelOfTwo = #"{"ver":"v1","name":"NAME","username":"wifiprov","pop":"\#(proof)"}"#

    static let cases: [Case] = [
        Case(what: "--pop, Security 0", board: unprotected, words: ["--pop", proof], remedy: zero),
        Case(what: "--pop-file, Security 0", board: unprotected, words: ["--pop-file", "FILE"], remedy: zero),
        Case(
            what: "--pop-stdin, Security 0", board: unprotected, words: ["--pop-stdin"], input: .text(proof),
            remedy: zero),
        Case(
            what: "RAINKIT_POP, Security 0", board: unprotected, words: [], environment: ["RAINKIT_POP": proof],
            remedy: zero),
        Case(what: "a label, Security 0", board: unprotected, words: ["--qrcode", label], remedy: zero),
        Case(
            what: "a label of Security 2, Security 0", board: unprotected, words: ["--qrcode", labelOfTwo], remedy: zero
        ),
        Case(
            what: "a compact label, Security 0", board: unprotected, words: ["--qrcode", "NP:NAME|\(proof)|s"],
            remedy: zero),
        Case(
            what: "a label without a proof and a proof beside it, Security 0", board: unprotected,
            words: ["--qrcode", "NP:NAME||s", "--pop-file", "FILE"], remedy: zero),
        Case(
            what: "a label of Security 0 with a proof, Security 0", board: unprotected,
            words: ["--qrcode", #"{"name":"NAME","pop":"\#(proof)","security":0}"#], warns: true),
        Case(what: "nothing given, Security 0", board: unprotected, words: []),
        Case(what: "a label without a proof, Security 0", board: unprotected, words: ["--qrcode", "NP:NAME||s"]),
        Case(what: "a label, no_pop", board: unproven, words: ["--qrcode", label], remedy: one, warns: true),
        Case(what: "--pop-file, no_pop", board: unproven, words: ["--pop-file", "FILE"], warns: true),
        Case(what: "nothing given, no_pop", board: unproven, words: []),
        Case(
            what: "a label of Security 2, Security 1", board: ["--security", "1"], words: ["--qrcode", labelOfTwo],
            remedy: one),
        Case(
            what: "a compact label, Security 1", board: ["--security", "1"],
            words: ["--qrcode", "NP:NAME|\(proof)|s"]),
        Case(what: "a label of Security 1, Security 2", board: ["--security", "2"], words: ["--qrcode", label]),
    ]

    private func check(
        _ example: Case, _ way: [String], name: String, journal: Journal, maker: Maker,
        environment: [String: String] = [:]
    ) async throws {
        let words = example.words.map {
            $0 == "FILE" ? maker.folder.file("pop") : $0.replacing("NAME", with: name)
        }
        func scan(_ more: [String]) async throws -> Maker.Outcome {
            try await maker.rainctl(
                ["device", "scan", "--json"] + way + words + more,
                environment: environment.merging(example.environment) { $1 }, input: example.input)
        }
        func asked() throws -> Set<String> {
            Set(try journal.entries(where: ["event": "request"]).compactMap { $0["endpoint"]?.string })
        }
        var outcome = try await scan([])
        if let remedy = example.remedy {
            #expect(outcome.status == 15, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.failure?["reason"] == "security_mismatch")
            let way = remedy.joined(separator: " ") + "."
            #expect(outcome.failure?["message"]?.string?.hasSuffix(way) == true, "\(outcome.standardOutput)")
            #expect(try asked() == ["proto-ver"])
            outcome = try await scan(remedy)
        }
        #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
        #expect(try asked().isSuperset(of: ["proto-ver", "prov-scan"]))
        #expect(outcome.standardError.contains("is not used") == example.warns, "\(outcome.standardError)")
        let told = outcome.document?["warnings"]?.array ?? []
        guard !words.contains("--pop") else { return }
        #expect(told.contains { $0["reason"] == "proof_not_used" } == example.warns, "\(outcome.standardOutput)")
    }

    @Test("over SoftAP", arguments: cases)
    func softAP(example: Case) async throws {
        try await withTemporaryFolder { folder in
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--name", "PROV_c0ffee"] + example.board, in: folder)
            try await check(
                example, Maker.way(to: board), name: "PROV_c0ffee", journal: board.journal, maker: Maker(folder))
            try await board.process.terminate()
        }
    }

    @Test("over a console", arguments: cases.filter { $0.board.contains("0") || $0.warns })
    func console(example: Case) async throws {
        try await withTemporaryFolder { folder in
            let board = try await SimulatedBoard.start(
                ["--console", folder.file("tty"), "--name", "PROV_c0ffee"] + example.board, in: folder)
            try await check(
                example, Maker.way(to: board), name: "PROV_c0ffee", journal: board.journal, maker: Maker(folder))
            try await board.process.terminate()
        }
    }

    @Test(
        "over Bluetooth",
        arguments: cases.filter {
            ["--pop-file, Security 0", "a label, Security 0", "a label, no_pop", "--pop-file, no_pop"].contains($0.what)
        })
    func bluetooth(example: Case) async throws {
        try await withTemporaryFolder { folder in
            let radio = try await SimulatedBluetooth.start(
                ["--ble-fault", "disconnect=0.2"] + example.board, in: folder)
            let name = radio.boards[0].name
            try await check(
                example, ["--transport", "ble", "--device-name", name], name: name, journal: radio.journal,
                maker: Maker(folder), environment: radio.environment)
            try await radio.process.terminate()
            try await radio.bus.end()
        }
    }
}
