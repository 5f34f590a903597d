// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainJSON
import RainKit
import TestSupport
import Testing

@testable import rainctl

/// What `provision` asks a person at a terminal.
@Suite("rainctl provision: at a terminal")
struct ProvisionPromptTests {
    private static let networks = ["--wifi", "Home:\(SimulatedBoard.passphrase)", "--wifi", "Cafe:"]

    private struct Scene {
        let board: SimulatedBoard
        let person: Person

        func ends(_ status: Int) async throws {
            let ended = try await person.wait()
            #expect(ended == .exited(status), "\(person.transcript)")
            for secret in [SimulatedBoard.passphrase, SimulatedBoard.proofOfPossession] {
                #expect(!person.transcript.contains(secret), "a secret was shown: \(person.transcript)")
            }
            // However it ended.
            #expect(person.terminal.settings.c_lflag & tcflag_t(ECHO) != 0)
        }

        func expectJoined(_ network: String) throws {
            let joined = try board.journal.entries(where: ["event": "state", "change": "joined"])
            #expect(joined.compactMap { $0["ssid"]?.string } == [network], "\(person.transcript)")
        }

        /// The text on the terminal from this question on.
        func transcript(from question: String) -> Substring {
            let all = person.transcript
            return all.firstRange(of: question).map { all[$0.lowerBound...] } ?? ""
        }
    }

    /// - Parameter arguments: `wifi`, `wrong` and `pop` stand for the files of that name.
    private func scene(
        _ arguments: [String], board options: [String] = [], _ body: (Scene) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--join-delay", "0"] + Self.networks + options, in: folder)
            let words = arguments.map { ["wifi", "wrong", "pop"].contains($0) ? folder.file($0) : $0 }
            try await body(Scene(board: board, person: maker.atTerminal(words + Maker.way(to: board))))
        }
    }

    private static let network = NetworkQuestions.question(2)
    private static let password = "Wi-Fi password (n for another network): "
    private static let again = "Type the password for Home again (n for another network): "
    private let provision = ["provision", "--no-mapping", "--pop-file", "pop"]

    @Test("an empty password for a given network is asked for again, and --open is mentioned")
    func emptyPassword() async throws {
        try await scene(provision + ["--ssid", "Home"]) { scene in
            try await scene.person.answers("Wi-Fi password: ", "")
            try await scene.person.hears("--open")
            try await scene.person.answers("Wi-Fi password: ", SimulatedBoard.passphrase)
            try await scene.ends(0)
            try scene.expectJoined("Home")
        }
    }

    @Test("of the networks that the board hears, an open one asks for no password")
    func chooseOpen() async throws {
        try await scene(provision) { scene in
            try await scene.person.hears("  Cafe  ")
            try await scene.person.answers(Self.network, "2")
            try await scene.ends(0)
            try scene.expectJoined("Cafe")
        }
    }

    @Test("a network is chosen by its name as well, and one that the board does not hear is tried as a hidden one")
    func chooseByName() async throws {
        try await scene(
            provision,
            board: ["--ap", #"{"ssid_hex":"4174746963","passphrase":"\#(SimulatedBoard.passphrase)","hidden":true}"#]
        ) { scene in
            try await scene.person.answers(Self.network, "Attic")
            try await scene.person.hears("Attic is not in the list")
            try await scene.person.answers(Self.password, "short")
            try await scene.person.answers(
                "Type the password for Attic again (n for another network): ", SimulatedBoard.passphrase)
            try await scene.ends(0)
            try scene.expectJoined("Attic")
        }
    }

    @Test("n at the password is the way back to the list; keys without a letter and a + for nothing are no names")
    func wayBack() async throws {
        try await scene(provision) { scene in
            for keys in ["\u{1B}[1~", "\u{1B}[A"] {
                try await scene.person.answers(Self.network, keys)
                try await scene.person.hears("The answer contains a key that is not a character")
            }
            try await scene.person.answers(Self.network, "+")
            try await scene.person.hears("Type a number from 1 to 2, a name, or r to scan again.")
            try await scene.person.answers(Self.network, "1")
            try await scene.person.answers(Self.password, "n")
            try await scene.person.hears("2  ")
            try await scene.person.hears("  Cafe  ")
            try await scene.person.answers(Self.network, "2")
            try await scene.ends(0)
            try scene.expectJoined("Cafe")
            #expect(try scene.board.journal.entries(where: ["change": "credentials_received"]).count == 1)
        }
    }

    @Test("networks that do not say their name are counted")
    func hidden() async throws {
        let hidden = #"{"ssid_hex":"4174746963","passphrase":"\#(SimulatedBoard.passphrase)","hidden":true}"#
        try await scene(provision, board: ["--ap", hidden]) { scene in
            try await scene.person.hears("One hidden network: type its name")
            try await scene.person.hears(Self.network)
            await scene.person.types("\u{3}")
            try await scene.ends(130)
        }
    }

    @Test("the time in which a person thinks is not a step's")
    func thinking() async throws {
        try await scene(["provision", "-v", "--no-mapping", "--ssid", "Cafe", "--open"]) { scene in
            try await scene.person.hears("Proof of possession: ")
            let thought = Duration.seconds(20)
            try await Task.sleep(for: thought)
            await scene.person.types(SimulatedBoard.proofOfPossession + "\n")
            try await scene.ends(0)
            let told = scene.person.transcript.firstMatch(of: #/secured: Security \d \((\d+)\.\d\d s\)/#)
            let seconds = try #require(told.flatMap { Int($0.1) }, "\(scene.person.transcript)")
            #expect(.seconds(seconds) < thought)
        }
    }

    @Test("and one with a password asks until there is one; an invalid number is asked for again")
    func chooseProtected() async throws {
        try await scene(provision) { scene in
            try await scene.person.answers(Self.network, "7")
            try await scene.person.answers(Self.network, "1")
            try await scene.person.answers(Self.password, "")
            try await scene.person.answers(Self.password, String(repeating: "x", count: 64))
            try await scene.person.hears("63 bytes")
            try await scene.person.answers(Self.password, SimulatedBoard.passphrase)
            try await scene.ends(0)
            try scene.expectJoined("Home")
        }
    }

    @Test("another network than the refused one is open only where that is said", arguments: [true, false])
    func another(isOpen: Bool) async throws {
        let command = provision + ["--ssid", "Home", "--passphrase-file", "wrong"]
        try await scene(command) { scene in
            let name = isOpen ? "Cafe" : "Home"
            try await scene.person.answers(Self.again, "n")
            try await scene.person.answers("Network name: ", name)
            try await scene.person.answers(Self.password, "")
            try await scene.person.answers("Is \(name) open, without a password? Type yes: ", isOpen ? "yes" : "")
            if !isOpen { try await scene.person.answers(Self.password, SimulatedBoard.passphrase) }
            try await scene.ends(0)
            try scene.expectJoined(name)
        }
    }

    @Test("after a wrong password the password is asked for again, hidden, and one that no network takes is not tried")
    func passwordAgain() async throws {
        try await scene(provision + ["--ssid", "Home", "--passphrase-file", "wrong"]) { scene in
            try await scene.person.answers(Self.again, "seven77")
            try await scene.person.hears("8 to 63 bytes")
            try await scene.person.answers(Self.again, SimulatedBoard.passphrase)
            try await scene.ends(0)
            try scene.expectJoined("Home")
            #expect(try scene.board.journal.entries(where: ["change": "credentials_received"]).count == 2)
            // The second attempt is shown like the first, and no message asks for another run while this one continues.
            let after = scene.transcript(from: Self.again)
            for words in ["… Waiting for the board to join (", "On Wi-Fi: Home"] {
                #expect(after.contains(words), "\(words): \(scene.person.transcript)")
            }
            #expect(!scene.person.transcript.contains("try again"), "\(scene.person.transcript)")
        }
    }

    private static let proofAgain = "Proof of possession again: "

    @Test("a wrong proof of possession is asked for again", arguments: ["1", "2"])
    func proofAgain(security: String) async throws {
        try await scene(
            ["provision", "--no-mapping", "--ssid", "Cafe", "--open"], board: ["--security", security]
        ) { scene in
            try await scene.person.answers("Proof of possession: ", "wrong one")
            try await scene.person.answers(Self.proofAgain, SimulatedBoard.proofOfPossession)
            try await scene.ends(0)
            try scene.expectJoined("Cafe")
        }
    }

    @Test(
        "three times in all; the first with Security 2 is two wrong ones to the board, which stops after five, and the message counts as it does",
        arguments: [("1", [1, 2, 3]), ("2", [2, 3, 4])])
    func wrongProofs(security: String, counts: [Int]) async throws {
        try await scene(
            ["provision", "--no-mapping", "--ssid", "Cafe", "--open"], board: ["--security", security]
        ) { scene in
            try await scene.person.answers("Proof of possession: ", "wrong 1")
            for attempt in 2...3 {
                try await scene.person.answers(Self.proofAgain, "wrong \(attempt)")
                if attempt == 2 { try await scene.person.hears("received \(counts[1]) wrong proofs") }
            }
            try await scene.person.hears("error: ")
            try await scene.ends(10)
            #expect(scene.transcript(from: "error: ").contains("received \(counts[2]) wrong proofs"))
            #expect(try scene.board.journal.entries(where: ["change": "wrong_proof"]).count == counts[2])
        }
    }

    @Test("an empty proof of possession is asked for again")
    func emptyProof() async throws {
        try await scene(["device", "scan"]) { scene in
            try await scene.person.hears("label")
            try await scene.person.answers("Proof of possession: ", "")
            try await scene.person.hears("Nothing was typed")
            try await scene.person.answers("Proof of possession: ", SimulatedBoard.proofOfPossession)
            try await scene.ends(0)
        }
    }

    @Test(
        "Ctrl-C and the end of input end a run at its question", arguments: ["\u{3}", "\u{4}"])
    func stopped(keys: String) async throws {
        try await scene(provision) { scene in
            try await scene.person.hears(Self.network)
            await scene.person.types(keys)
            try await scene.ends(130)
        }
    }

    struct Question: Sendable, CustomTestStringConvertible {
        var command: [String]
        var answers: [(String, String)] = []
        var last: String
        /// The answer to it.
        var answer: String
        var testDescription: String { last }
    }

    static let questions = [
        Question(
            command: ["provision", "--no-mapping", "--pop-file", "pop"], answers: [(Self.network, "1")],
            last: Self.password, answer: SimulatedBoard.passphrase),
        Question(
            command: ["device", "scan"], last: "Proof of possession: ", answer: SimulatedBoard.proofOfPossession),
        Question(
            command: [
                "provision", "--no-mapping", "--pop-file", "pop", "--ssid", "Home", "--passphrase-file", "wrong",
            ], last: again, answer: SimulatedBoard.passphrase),
    ]

    @Test("the time at a question does not count, and nothing is drawn over the question", arguments: questions)
    func slowAnswer(question: Question) async throws {
        // Long enough for all that is not a question, also on a busy machine.
        try await scene(question.command + ["--timeout", "40s"]) { scene in
            for (asked, answer) in question.answers { try await scene.person.answers(asked, answer) }
            try await scene.person.hears(question.last)
            try await Task.sleep(for: .seconds(41))
            let after = scene.transcript(from: question.last).dropFirst(question.last.count)
            #expect(after.prefix { !$0.isNewline } == "", "\(scene.person.transcript.debugDescription)")
            // A step that ends with the question may be drawn once.
            #expect(after.split(separator: "… ").count <= 2, "\(scene.person.transcript.debugDescription)")
            await scene.person.types(question.answer + "\n")
            try await scene.ends(0)
        }
    }
}
