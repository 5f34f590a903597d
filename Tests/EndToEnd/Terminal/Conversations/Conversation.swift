// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import rainctl

/// A conversation with `rainctl` at a terminal: a command, the person's answers, and the exit status.
///
/// Its screens are a page in `Recorded`, which a person can read.
struct Conversation: Sendable, CustomTestStringConvertible {
    enum Board: Sendable {
        case none
        /// A board at an address, as on its own access point.
        case address([String] = [])
        /// Boards on cables, which `rainctl` finds by itself.
        case cables(Int, [String] = [])
    }

    enum Step: Sendable {
        /// Waits for the question, and answers it with a line.
        case answer(String, String)
        /// Answers it with the code that the cloud has sent.
        case answerCode(String, kind: String, to: String)
        /// Waits for this text, and presses a key such as `C-c`.
        case press(String, after: String)
        /// Waits for this text, and types without Enter being asked for.
        case type(String, after: String)
        /// Waits for this text, and changes the terminal's width.
        case resize(Int, after: String)
        /// Waits for this question, and ends the board's program, as if the board lost its power.
        case unplug(at: String)
        /// Waits for this question, and stops the cloud until ``resumeCloud``, so that a later wait lasts as long as the person needs.
        case pauseCloud(at: String)
        case resumeCloud
    }

    let name: String
    /// What happens, for the page.
    let title: String
    var columns = 80
    var rows = 24
    var board = Board.none
    /// The nodes of the cloud; nil without a cloud.
    var nodes: [String]? = ["nodelight"]
    var isSignedIn = true
    var variables: [String] = []
    /// Whether the board is in the account from the start.
    var isProvisioned = false
    /// `pop`, `wifi` and `wrong` are files with secrets.
    let command: [String]
    var steps: [Step] = []
    var status = 0

    var testDescription: String { name }

    /// Whether the conversation ends with the question for the board's name.
    var asksForName: Bool {
        status == 0 && command.first == "provision" && !command.contains("--no-mapping")
    }
}

extension Conversation {
    static let networks = ["--wifi", "Home:\(SimulatedBoard.passphrase)", "--wifi", "Cafe:"]
    static let question = NetworkQuestions.question(2)
    static let password = "Wi-Fi password (n for another network): "
    static let again = "Type the password for Home again (n for another network): "
    static let proof = "Proof of possession: "
    static let proofAgain = "Proof of possession again: "
    static let boardName = "Name of the board (Enter for Light): "
    static let email = "E-mail address (n for a new account): "

    static let all: [Conversation] = provisioning + corrections + interruptions + accounts + nodes + errors

    private static let home: [Step] = [.answer(question, "1"), .answer(password, SimulatedBoard.passphrase)]

    static let provisioning = [
        Conversation(
            name: "first-board", title: "A board on a cable, a network from the list, and its password",
            board: .cables(1, networks), command: ["provision", "--pop-file", "pop"], steps: home),
        Conversation(
            name: "first-board-narrow", title: "A first board, in a narrow terminal", columns: 44,
            board: .address(networks), command: ["provision", "--pop-file", "pop"], steps: home),
        Conversation(
            name: "first-board-wide", title: "A first board, in a wide terminal", columns: 100,
            board: .address(networks),
            command: ["provision", "--pop-file", "pop"], steps: home),
        Conversation(
            name: "first-board-details", title: "A first board, with every step (-v)", board: .address(networks),
            command: ["provision", "-v", "--log-file", "/dev/null", "--pop-file", "pop"], steps: home),
        Conversation(
            name: "first-board-dumb", title: "A first board, in a terminal that only prints lines",
            board: .address(networks), variables: ["TERM=dumb"], command: ["provision", "--pop-file", "pop"],
            steps: home),
        Conversation(
            name: "proof-typed", title: "The proof of possession is asked for", board: .address(networks),
            command: ["provision"], steps: [.answer(proof, SimulatedBoard.proofOfPossession)] + home),
        Conversation(
            name: "enter-takes-first", title: "Enter takes the first network", board: .address(networks),
            command: ["provision", "--pop-file", "pop"],
            steps: [.answer(question, ""), .answer(password, SimulatedBoard.passphrase)]),
        Conversation(
            name: "open-network", title: "An open network needs no password", board: .address(networks),
            command: ["provision", "--pop-file", "pop"], steps: [.answer(question, "Cafe")]),
        Conversation(
            name: "network-by-name", title: "A network is chosen by its name", board: .address(networks),
            command: ["provision", "--pop-file", "pop"],
            steps: [.answer(question, "Home"), .answer(password, SimulatedBoard.passphrase)]),
        Conversation(
            name: "scan-again", title: "r scans again", board: .address(networks),
            command: ["provision", "--pop-file", "pop"], steps: [.answer(question, "r")] + home),
        Conversation(
            name: "hidden-network", title: "A hidden network is given by its name",
            board: .address([
                "--ap", #"{"ssid_hex":"4174746963","passphrase":"planted-passphrase","hidden":true}"#, "--wifi",
                "Cafe:",
            ]), command: ["provision", "--pop-file", "pop"],
            steps: [
                .answer(NetworkQuestions.question(1), "Attic"), .answer(password, SimulatedBoard.passphrase),
            ]),
        Conversation(
            name: "many-networks-small", title: "More networks than the terminal has rows", rows: 10,
            board: .address(
                (1...9).flatMap { ["--wifi", "Neighbour \($0):planted-neighbour"] }
                    + ["--wifi", "Home:\(SimulatedBoard.passphrase)"]),
            command: ["provision", "--pop-file", "pop"],
            steps: [
                .answer(NetworkQuestions.question(10), "+"), .answer(NetworkQuestions.question(10), "Home"),
                .answer(password, SimulatedBoard.passphrase),
            ]),
        Conversation(
            name: "two-boards", title: "One of two boards on cables", board: .cables(2, networks),
            command: ["provision", "--no-mapping", "--pop-file", "pop", "--ssid", "Cafe", "--open"],
            steps: [.answer(BoardQuestions.question, "2")]),
        Conversation(
            name: "two-boards-enter", title: "Enter takes the first of two boards", board: .cables(2, networks),
            command: ["provision", "--no-mapping", "--pop-file", "pop", "--ssid", "Cafe", "--open"],
            steps: [.answer(BoardQuestions.question, "")]),
        Conversation(
            name: "two-boards-narrow", title: "Two boards in a narrow terminal", columns: 44,
            board: .cables(2, networks),
            command: ["provision", "--no-mapping", "--pop-file", "pop", "--ssid", "Cafe", "--open"],
            steps: [.answer(BoardQuestions.question, "7"), .answer(BoardQuestions.question, "1")]),
        Conversation(
            name: "no-mapping", title: "Only the Wi-Fi, without an account", board: .address(networks), nodes: nil,
            isSignedIn: false, command: ["provision", "--no-mapping", "--pop-file", "pop"], steps: home),
    ]

    static let corrections = [
        Conversation(
            name: "wrong-wifi-password", title: "A wrong Wi-Fi password is corrected", board: .address(networks),
            command: ["provision", "--pop-file", "pop"],
            steps: [
                .answer(question, "1"), .answer(password, "planted-but-wrong"),
                .answer(again, SimulatedBoard.passphrase),
            ]),
        Conversation(
            name: "wrong-wifi-password-narrow", title: "A wrong Wi-Fi password, in a narrow terminal", columns: 44,
            board: .address(networks), command: ["provision", "--pop-file", "pop"],
            steps: [
                .answer(question, "1"), .answer(password, "planted-but-wrong"),
                .answer(again, SimulatedBoard.passphrase),
            ]),
        Conversation(
            name: "wrong-password-other-network", title: "After a wrong password, another network",
            board: .address(networks), command: ["provision", "--pop-file", "pop"],
            steps: [
                .answer(question, "1"), .answer(password, "planted-but-wrong"), .answer(again, "n"),
                .answer(NetworkQuestions.question(2, maySearchAgain: false), "2"),
            ]),
        Conversation(
            name: "short-wifi-password", title: "A password that no network accepts is not sent",
            board: .address(networks), command: ["provision", "--pop-file", "pop"],
            steps: [
                .answer(question, "1"), .answer(password, "seven77"), .answer(password, ""),
                .answer(password, SimulatedBoard.passphrase),
            ]),
        Conversation(
            name: "back-to-the-list", title: "n at the password goes back to the list", board: .address(networks),
            command: ["provision", "--pop-file", "pop"],
            steps: [.answer(question, "1"), .answer(password, "n"), .answer(question, "2")]),
        Conversation(
            name: "wrong-number", title: "A number that is not in the list", board: .address(networks),
            command: ["provision", "--pop-file", "pop"], steps: [.answer(question, "7"), .answer(question, "2")]),
        Conversation(
            name: "wrong-proof", title: "A wrong proof of possession is corrected", board: .address(networks),
            command: ["provision"],
            steps: [
                .answer(proof, "planted-wrong"), .answer(proofAgain, SimulatedBoard.proofOfPossession),
            ] + home),
        Conversation(
            name: "three-wrong-proofs", title: "Three wrong proofs of possession", board: .address(networks),
            command: ["provision"],
            steps: [
                .answer(proof, "planted-1"), .answer(proofAgain, "planted-2"), .answer(proofAgain, "planted-3"),
            ], status: 10),
        Conversation(
            name: "no-network-heard", title: "The board hears no network",
            board: .address(["--ap", #"{"ssid":"Far","passphrase":"planted-passphrase","rssi":-120}"#]),
            command: ["provision", "--pop-file", "pop", "--ssid", "Home", "--passphrase-file", "wifi", "--no-input"],
            status: 12),
    ]

    static let interruptions = [
        Conversation(
            name: "ctrl-c-network", title: "Ctrl-C at the list of networks", board: .address(networks),
            command: ["provision", "--pop-file", "pop"], steps: [.press("C-c", after: question)], status: 130),
        Conversation(
            name: "ctrl-c-password", title: "Ctrl-C at the Wi-Fi password", board: .address(networks),
            command: ["provision", "--pop-file", "pop"],
            steps: [.answer(question, "1"), .press("C-c", after: password)], status: 130),
        Conversation(
            name: "ctrl-c-proof", title: "Ctrl-C at the proof of possession", board: .address(networks),
            command: ["provision"], steps: [.press("C-c", after: proof)], status: 130),
        Conversation(
            name: "ctrl-c-two-boards", title: "Ctrl-C at the list of boards", board: .cables(2, networks),
            command: ["provision", "--no-mapping", "--pop-file", "pop", "--ssid", "Cafe", "--open"],
            steps: [.press("C-c", after: BoardQuestions.question)], status: 130),
        Conversation(
            name: "ctrl-c-sign-in", title: "Ctrl-C at the user", board: .address(networks), isSignedIn: false,
            command: ["provision", "--pop-file", "pop"], steps: [.press("C-c", after: email)], status: 130),
        Conversation(
            name: "ctrl-c-joining", title: "Ctrl-C while the board joins",
            board: .address(networks + ["--join-delay", "100"]),
            command: ["provision", "--pop-file", "pop", "--ssid", "Home", "--passphrase-file", "wifi"],
            steps: [.press("C-c", after: "Waiting for the board to join")], status: 130),
        Conversation(
            name: "typed-ahead", title: "Text that is typed while rainctl works is neither shown nor used",
            board: .address(networks), command: ["provision", "--pop-file", "pop"],
            steps: [
                .answer(question, "1"), .pauseCloud(at: password), .answer(password, SimulatedBoard.passphrase),
                .type("planted-ahead\n", after: "Waiting for the cloud to confirm"), .resumeCloud,
            ]),
        Conversation(
            name: "typed-ahead-error", title: "Text typed while rainctl works does not reach the shell after an error",
            board: .address(networks + ["--join-delay", "100"]),
            command: ["provision", "--pop-file", "pop", "--ssid", "Home", "--passphrase-file", "wifi"],
            steps: [
                .type("planted-ahead\n", after: "Waiting for the board to join"),
                .press("C-c", after: "Waiting for the board to join"),
            ], status: 130),
        Conversation(
            name: "resized", title: "The terminal becomes narrower while rainctl waits", columns: 100,
            board: .address(networks), command: ["provision", "--pop-file", "pop"],
            steps: [
                .answer(question, "1"), .pauseCloud(at: password), .answer(password, SimulatedBoard.passphrase),
                .resize(44, after: "Waiting for the cloud to confirm"), .resumeCloud,
            ]),
        Conversation(
            name: "board-lost", title: "The board loses its power while the password is typed",
            board: .address(networks), command: ["provision", "--no-mapping", "--pop-file", "pop", "--timeout", "10s"],
            steps: [
                .answer(question, "1"), .unplug(at: password), .answer(password, SimulatedBoard.passphrase),
            ], status: 14),
    ]

    static let accounts = [
        Conversation(
            name: "sign-in-first", title: "Nobody is signed in", board: .address(networks), isSignedIn: false,
            command: ["provision", "--pop-file", "pop"],
            steps: [.answer(email, SimulatedCloud.user), .answer("Password: ", SimulatedCloud.password)] + home),
        Conversation(
            name: "sign-in-wrong-password", title: "A wrong account password is corrected", board: .address(networks),
            isSignedIn: false, command: ["provision", "--pop-file", "pop"],
            steps: [
                .answer(email, SimulatedCloud.user), .answer("Password: ", "planted-wrong"),
                .answer("E-mail address or telephone number (Enter for \(SimulatedCloud.user)): ", ""),
                .answer("Password: ", SimulatedCloud.password),
            ] + home),
        Conversation(
            name: "new-account", title: "Somebody without an account creates one", board: .address(networks),
            isSignedIn: false, command: ["provision", "--pop-file", "pop"],
            steps: [
                .answer(email, "n"), .answer("E-mail address for the new account: ", "new@example.com"),
                .answer("Password: ", "Passw0rd-planted"), .answer("Type it again: ", "Passw0rd-planted"),
                .answerCode("Code that was sent to new@example.com: ", kind: "signup", to: "new@example.com"),
            ] + home),
        Conversation(
            name: "login", title: "Signing in", isSignedIn: false, command: ["login"],
            steps: [
                .answer("E-mail address or telephone number: ", SimulatedCloud.user),
                .answer("Password: ", SimulatedCloud.password),
            ]),
        Conversation(
            name: "login-wrong-password", title: "Three wrong passwords", isSignedIn: false,
            command: ["login", SimulatedCloud.user],
            steps: (1...3).map { .answer("Password: ", "planted-wrong-\($0)") }, status: 77),
        Conversation(
            name: "login-ctrl-c", title: "Ctrl-C at the password", isSignedIn: false,
            command: ["login", SimulatedCloud.user], steps: [.press("C-c", after: "Password: ")], status: 130),
        Conversation(name: "whoami", title: "Who is signed in", command: ["whoami"]),
        Conversation(
            name: "not-signed-in", title: "A command without a session", isSignedIn: false,
            command: ["node", "list"], status: 77),
    ]

    static let nodes = [
        Conversation(name: "no-boards", title: "An account without boards", command: ["node", "list"]),
        Conversation(
            name: "node-list", title: "The boards in an account", board: .address(networks), isProvisioned: true,
            command: ["node", "list"]),
        Conversation(
            name: "node-list-narrow", title: "The boards in an account, in a narrow terminal", columns: 44,
            board: .address(networks), isProvisioned: true, command: ["node", "list"]),
        Conversation(
            name: "switched-on", title: "A lamp is switched on", board: .address(networks), isProvisioned: true,
            command: ["on", "Light"]),
        Conversation(
            name: "watch-ctrl-c", title: "Ctrl-C is the normal end of node watch", board: .address(networks),
            isProvisioned: true, command: ["node", "watch", "Light"],
            steps: [.press("C-c", after: "watching Light")], status: 130),
    ]

    static let errors = [
        Conversation(
            name: "long-error-narrow", title: "A long message in a narrow terminal", columns: 44,
            command: ["provision", "--port", "/dev/nowhere", "--pop-file", "pop", "--ssid", "Home", "--open"],
            status: 69),
        Conversation(
            name: "missing-file", title: "A file that does not exist",
            command: ["provision", "--pop-file", "nowhere.txt", "--ssid", "Home", "--open"], status: 65),
        Conversation(name: "mistyped-command", title: "A mistyped command", command: ["provison"], status: 64),
        Conversation(
            name: "warning-narrow", title: "A warning in a narrow terminal", columns: 44,
            board: .address(networks + ["--pop", "abcd1234"]),
            command: ["provision", "--no-mapping", "--pop", "abcd1234", "--ssid", "Cafe", "--open"]),
        Conversation(
            name: "qr-code", title: "A label's QR code", rows: 40,
            command: ["qr", "show", "--device-name", "PROV_a1b2c3", "--pop-file", "pop"]),
    ]
}
