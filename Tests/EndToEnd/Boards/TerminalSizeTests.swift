// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import rainctl

/// The text on the screens of small, large and plain terminals, and the effect of keys. tmux provides them.
@Suite("rainctl in a terminal of a size")
struct TerminalSizeTests {
    struct Size: Sendable, CustomTestStringConvertible {
        var columns: Int
        var rows: Int
        var testDescription: String { "\(columns)×\(rows)" }
        static let usual = Size(columns: 80, rows: 24)
        static let small = Size(columns: 40, rows: 10)
    }

    private static let networks = (1...14).flatMap { ["--wifi", "Neighbour \($0):planted-neighbour"] }
    private static let board = BoardQuestions.question
    private static let password = "Wi-Fi password (n for another network): "
    private static let question = NetworkQuestions.question(2)

    /// Runs a command at such a terminal.
    private func terminal(
        _ size: Size, _ command: [String], _ maker: Maker, variables: [String] = [],
        _ body: (TmuxTerminal) async throws -> Void
    ) async throws {
        let terminal = try await TmuxTerminal.start(
            "/usr/bin/env", variables + [try Executables.path("rainctl")] + command, environment: maker.environment,
            columns: size.columns, rows: size.rows, in: maker.folder)
        do {
            try await body(terminal)
        } catch {
            try? await terminal.end()
            throw error
        }
        try await terminal.end()
    }

    private func board(_ more: [String] = [], in folder: TemporaryFolder) async throws -> SimulatedBoard {
        try await SimulatedBoard.start(["--http", "127.0.0.1:0", "--join-delay", "0.2"] + more, in: folder)
    }

    @Test(
        "the whole way: a network from a list that fits, a wrong password, the right one, and what to do next",
        arguments: [Size.usual, .small])
    func wholeWay(size: Size) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let cloud = try await SimulatedCloud.start(nodes: ["nodelight"], in: folder)
            try await maker.signIn(to: cloud)
            let board = try await board(
                Self.networks + ["--wifi", "\(SimulatedBoard.ssid):\(SimulatedBoard.passphrase)"]
                    + cloud.boardOptions(node: "nodelight"), in: folder)
            try await terminal(size, ["provision", "--pop-file", folder.file("pop")] + Maker.way(to: board), maker) {
                try await $0.asks(Self.question)
                let asked = try await $0.screen()
                #expect(asked.contains("1  "), "the first of the list has scrolled away: \(asked)")
                #expect(asked.contains("+  shows ") == (size.rows < 24), "\(asked)")
                if size.rows < 24 {
                    try await $0.answers(Self.question, "+")
                    try await $0.asks(Self.question)
                }
                try await $0.answers(Self.question, SimulatedBoard.ssid)
                try await $0.answers(Self.password, "planted-but-wrong")
                try await $0.answers(
                    "Type the password for Home again (n for another network): ", SimulatedBoard.passphrase)
                try await $0.answers("Name of the board (Enter for Light): ", "")
                #expect(try await $0.status() == 0)
                let screen = try await $0.screen()
                #expect(!screen.contains("…"), "a line that was drawn is left: \(screen)")
                #expect(!screen.contains("planted"), "\(screen)")
                let flat = try await $0.text().split(whereSeparator: \.isWhitespace).joined(separator: " ")
                #expect(flat.contains("In your account (node nodelight)") || size.rows < 24, "\(screen)")
                #expect(flat.contains("Light (node nodelight) is in your account. Next:"), "\(screen)")
                #expect(flat.contains("rainctl on nodelight"), "\(screen)")
            }
            try await board.process.terminate()
        }
    }

    @Test("colours where they are wanted, and never as the only word", arguments: [nil, "NO_COLOR", "TERM"])
    func colours(without: String?) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await board(in: folder)
            let command = [
                "provision", "--no-mapping", "--ssid", SimulatedBoard.ssid, "--passphrase-file", folder.file("wifi"),
                "--pop-file", folder.file("pop"),
            ]
            // tmux has a word of its own for TERM.
            let variables =
                switch without {
                case "NO_COLOR": ["NO_COLOR=1"]
                case "TERM": ["NO_COLOR=", "TERM=dumb"]
                default: ["NO_COLOR="]
                }
            try await terminal(.usual, command + Maker.way(to: board), maker, variables: variables) {
                #expect(try await $0.status() == 0)
                let (plain, coloured) = (try await $0.screen(), try await $0.screen(withColours: true))
                #expect(plain.contains("On Wi-Fi: Home"), "\(plain)")
                #expect(coloured.contains("\u{1B}[32m") == (without == nil), "\(coloured)")
                #expect(plain.contains("✓ ") == (without != "TERM"), "\(plain)")
                #expect(plain.contains("The board is set up"), "\(plain)")
            }
            try await board.process.terminate()
        }
    }

    @Test("CLICOLOR_FORCE has the marks and their colours in a pipe, too", arguments: ["1", "0"])
    func forcedColours(force: String) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await board(in: folder)
            let outcome = try await maker.rainctl(
                [
                    "provision", "--no-mapping", "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                    folder.file("wifi"), "--pop-file", folder.file("pop"),
                ] + Maker.way(to: board), environment: ["CLICOLOR_FORCE": force])
            #expect(outcome.status == 0, "\(outcome.standardError)")
            #expect(outcome.standardError.contains("\u{1B}[32m✓\u{1B}[0m On Wi-Fi: ") == (force == "1"))
            #expect(outcome.standardError.contains("On Wi-Fi: Home"), "\(outcome.standardError)")
            try await board.process.terminate()
        }
    }

    @Test(
        "one of several boards is chosen from the list of those that were found, by number",
        arguments: [Size.usual, .small])
    func chooseBoard(size: Size) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let tree = try SystemTree(in: folder)
            var boards: [SimulatedBoard] = []
            for (index, socket) in ["1-1", "1-2"].enumerated() {
                try tree.addDevice(
                    "ttyUSB\(index)", socket: socket, vendor: "10c4", product: "ea60", title: "CP2102N Bridge")
                let console = ["--console", tree.port("ttyUSB\(index)"), "--security", "1", "--mapping", "user"]
                boards.append(try await SimulatedBoard.start(console + ["--join-delay", "0.2"], in: folder))
            }
            defer { for board in boards { board.process.kill() } }
            let command = [
                "provision", "--no-mapping", "--pop-file", folder.file("pop"), "--ssid", SimulatedBoard.ssid,
                "--passphrase-file", folder.file("wifi"),
            ]
            let variables = tree.environment.map { "\($0.key)=\($0.value)" }
            try await terminal(size, command, maker, variables: variables) {
                try await $0.asks(Self.board)
                let screen = try await $0.screen()
                #expect(screen.contains("1  ") && screen.contains("2  "), "\(screen)")
                try await $0.answers(Self.board, "2")
                #expect(try await $0.status() == 0)
            }
            #expect(try boards[1].journal.entries(where: ["event": "state", "change": "joined"]).count == 1)
        }
    }

    @Test("three wrong proofs of possession, none of which is shown, and then how it ended")
    func wrongProofs() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await board(in: folder)
            let command = ["provision", "--no-mapping", "--ssid", SimulatedBoard.ssid, "--open"]
            try await terminal(.small, command + Maker.way(to: board), maker) {
                try await $0.answers("Proof of possession: ", "planted-1")
                try await $0.answers("Proof of possession again: ", "planted-2")
                // The same question is on the screen already.
                try await $0.shows("received 2 wrong")
                try await $0.answers("Proof of possession again: ", "planted-3")
                #expect(try await $0.status() == 10)
                let screen = try await $0.screen()
                #expect(screen.contains("error: ") && !screen.contains("planted"), "\(screen)")
            }
            try await board.process.terminate()
        }
    }

    @Test("a QR code that is wider than the terminal is not drawn", arguments: [(Size.small, 64), (Size.usual, 0)])
    func wideCode(size: Size, status: Int) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let command = ["qr", "show", "--device-name", "PROV_a1b2c3", "--pop-file", folder.file("pop")]
            try await terminal(size, command, maker) {
                #expect(try await $0.status() == status)
                let text = try await $0.text()
                #expect(text.contains("--svg") == (status == 64), "\(text)")
                #expect(text.contains("█") == (status == 0), "\(text)")
            }
        }
    }

    struct Moment: Sendable, CustomTestStringConvertible {
        var name: String
        var command: [String]
        var board: [String] = []
        var answers: [(String, String)] = []
        /// The last line on the screen when Ctrl-C is pressed.
        var last: String
        /// What it says in the end, where that is known.
        var ends: String?
        var testDescription: String { name }
    }

    static let moments = [
        Moment(name: "network", command: ["provision", "--no-mapping", "--pop-file", "pop"], last: question),
        Moment(
            name: "Wi-Fi password", command: ["provision", "--no-mapping", "--pop-file", "pop"],
            answers: [(question, SimulatedBoard.ssid)], last: "Wi-Fi password"),
        Moment(
            name: "proof of possession", command: ["provision", "--no-mapping", "--ssid", "Home", "--open"],
            last: "Proof of possession:"),
        Moment(
            name: "password again",
            command: [
                "provision", "--no-mapping", "--pop-file", "pop", "--ssid", "Home", "--passphrase-file", "wrong",
            ],
            last: "Type the password for Home again"),
        Moment(
            name: "proof again", command: ["device", "scan"], answers: [("Proof of possession: ", "planted-wrong")],
            last: "Proof of possession again"),
        Moment(
            name: "joining",
            command: ["provision", "--no-mapping", "--pop-file", "pop", "--ssid", "Home", "--passphrase-file", "wifi"],
            board: ["--join-delay", "30"], last: "Waiting for the board to join",
            ends: "Cancelled while waiting for the board to join."),
        Moment(
            name: "looking for a board", command: ["provision", "--no-mapping", "--wait"], last: "Looking for a board"),
        Moment(name: "user name", command: ["login"], last: "E-mail address or telephone number:"),
        Moment(name: "password", command: ["login", "me@example.com"], last: "Password:"),
    ]

    @Test("Ctrl-C ends it at every step, with the terminal as it was", arguments: moments)
    func interrupted(moment: Moment) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let tree = try SystemTree(in: folder)
            let board = try await board(moment.board, in: folder)
            let words = moment.command.map { ["wifi", "wrong", "pop"].contains($0) ? folder.file($0) : $0 }
            let goesToBoard = words[0] != "login" && !words.contains("--wait")
            let command = [try Executables.path("rainctl")] + words + (goesToBoard ? Maker.way(to: board) : [])
            let terminal = try await TmuxTerminal.start(
                command[0], Array(command.dropFirst()), environment: maker.environment.merging(tree.environment) { $1 },
                columns: 80, rows: 24, in: folder)
            do {
                for (asked, answer) in moment.answers { try await terminal.answers(asked, answer) }
                try await terminal.shows(moment.last)
                try await terminal.presses("C-c")
                let status = try await terminal.status()
                let last = try await terminal.text()
                #expect(status == 130, "\(last)")
                // Echo is on again.
                try await terminal.types("is this seen")
                try await terminal.shows("is this seen")
            } catch {
                try? await terminal.end()
                throw error
            }
            let screen = try await terminal.text()
            #expect(!screen.contains("planted"), "\(screen)")
            #expect(!screen.contains("in step"), "an internal word: \(screen)")
            if let words = moment.ends { #expect(screen.contains(words), "\(screen)") }
            try await terminal.end()
            try await board.process.terminate()
        }
    }
}
