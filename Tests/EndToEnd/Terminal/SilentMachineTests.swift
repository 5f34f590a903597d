// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import Testing

@testable import TestSupport

/// A cloud that accepts connections and says nothing more, and a board that does: processes that were stopped.
@Suite("rainctl where nothing answers")
struct SilentMachineTests {
    /// The arguments of commands whose example in the help cannot run here: it needs a board, a file or a confirmation, or it leads to
    /// another server. BOARD and SERVER are replaced by the options for the board and the cloud's URL, and the names of files by paths.
    private static let arguments: [String: [String]] = [
        "account confirm": ["u@example.com", "--code", "1"],
        "account convert": ["u@example.com", "--password-file", "password"],
        "account delete": ["--yes", "--code", "1"], "account fetch": ["/v1/user2"],
        "account password change": ["--password-file", "password", "--new-password-file", "strong"],
        "account resend": ["u@example.com", "--password-file", "password"],
        "account signup": ["u@example.com", "--password-file", "password"],
        "batch resume": ["--ledger", "ledger", "--ssid", "Home", "--passphrase-file", "wifi"],
        "batch retry": ["--ledger", "ledger", "--ssid", "Home", "--passphrase-file", "wifi"],
        "batch run": ["boards", "--ssid", "Home", "--passphrase-file", "wifi"],
        "device claim": ["BOARD"], "device info": ["BOARD"], "device params get": ["BOARD"],
        "device params set": ["Light.Power=on", "BOARD"], "device reset": ["BOARD"], "device scan": ["BOARD"],
        "device send": ["custom-data", "--text", "hello", "BOARD"],
        "group remove": ["g", "--yes"], "login": ["maker@example.com", "--password-file", "password"],
        "node ota": ["n1", "image"], "node remove": ["n1", "--yes"],
        "provision": ["BOARD", "--ssid", "Home", "--passphrase-file", "wifi"], "qr read": ["SERVER"],
        "station": ["boards", "--ssid", "Home", "--passphrase-file", "wifi"],
    ]

    /// Each command with a time limit, and its arguments: those above, or otherwise those of the example in its help.
    private static func commands() throws -> [String: [String]] {
        let folder = Repository.path("Tests/rainctlTests/Recorded/Help")
        let pages = try filesBelow(folder).filter { $0.hasSuffix(".txt") }.map { try readFile("\(folder)/\($0)") }
        try #require(pages.count > 100)
        var commands: [String: [String]] = [:]
        for help in pages where help.contains("--timeout") && !help.contains("SUBCOMMANDS:") {
            let name = String(try #require(help.firstMatch(of: /USAGE: rainctl ([a-z -]+?)(?: [\[<-]|\n)/)).1)
            guard !elsewhere.contains(name) else { continue }
            commands[name] = try arguments[name] ?? exampleArguments(of: name, in: help)
        }
        let unknown = arguments.keys.filter { commands[$0] == nil }
        try #require(unknown.isEmpty, "no command with --timeout: \(unknown)")
        return commands
    }

    /// The example may continue on further lines. A second example is indented.
    private static func exampleArguments(of name: String, in help: String) throws -> [String] {
        let lines = help.replacing(#/\\\n */#, with: "").split(separator: "\n", omittingEmptySubsequences: false).drop {
            !$0.hasPrefix("Example: ")
        }
        let example = lines.prefix(1) + lines.dropFirst().prefix { !$0.isEmpty && !$0.hasPrefix(" ") }
        let line = example.joined(separator: " ").dropFirst("Example: ".count)
        let words = DocumentedCommand(page: name, line: String(line)).words
        let path = name.split(separator: " ")
        let named = words.dropFirst().prefix(path.count)
        try #require(named.joined(separator: " ") == name, "the help of \(name) begins with the example \(line)")
        return words.dropFirst(1 + path.count).filter { $0 != "--json" }
    }

    /// Others wait for something else: another program, the system's own devices, or another provider's servers.
    private static let elsewhere: Set = [
        "account curl", "account exchange", "account web-session", "device discover", "device monitor",
    ]

    /// The exit codes of commands that need neither the cloud nor the board here. Each other one ends because it had waited for them.
    private static let answered: [String: [Int]] = [
        "account confirm": [77], "account delete": [77],  // Nobody has asked for a code.
        "account header": [0], "account token": [0],  // The tokens are fresh.
        "batch report": [69], "batch status": [69],  // There is no ledger.
        "doctor": [1],
    ]

    @Test("every command ends with its time")
    func ends() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud, claims: true)
            let board = try await SimulatedBoard.start(["--http", "127.0.0.1:0", "--security", "1"], in: folder)
            var image = [UInt8](repeating: 0, count: 400)
            (image[0], image[12], image[31]) = (0xE9, 5, 0xEF)
            image.replaceSubrange(32..<36, with: [0x32, 0x54, 0xCD, 0xAB])
            folder.writePrivately(image, to: "image")
            try folder.write("Passw0rd-of-another", to: "strong")
            try folder.write("address,transport,pop\n\(board.http ?? ""),softap,abcd1234\n", to: "boards")
            let session = try folder.readBytes(Maker.sessionFile)
            board.process.signal(SIGSTOP)
            // A batch with a board that waits.
            let batch = try await maker.start(
                ["batch", "run", folder.file("boards"), "--ledger", folder.file("ledger"), "--ssid", "Home"]
                    + ["--passphrase-file", folder.file("wifi")])
            try await batch.errorOutput(containing: "Batch 1:")
            batch.kill()
            _ = try await batch.wait()
            cloud.process.signal(SIGSTOP)

            let commands = try Self.commands().sorted { $0.key < $1.key }
            // Some at a time, each with a separate maker: a sign-out must not end another's session.
            let width = Timings.isAlone ? 1 : 6
            for start in stride(from: 0, to: commands.count, by: width) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (name, given) in commands[start..<min(start + width, commands.count)] {
                        group.addTask {
                            let home = "home-\(name.replacing(" ", with: "-"))"
                            try folder.makeFolder("\(home)/state/rainkit/sessions")
                            folder.writePrivately(
                                try folder.readBytes("state/rainkit/accounts.json"),
                                to: "\(home)/state/rainkit/accounts.json")
                            chmod(folder.file("\(home)/state/rainkit"), 0o700)
                            chmod(folder.file("\(home)/state/rainkit/sessions"), 0o700)
                            folder.writePrivately(session, to: "\(home)/\(Maker.sessionFile)")
                            let words = given.flatMap { word -> [String] in
                                switch word {
                                case "BOARD": Maker.way(to: board) + ["--pop-file", folder.file("pop")]
                                case "SERVER": [cloud.api + "/picture.png"]
                                case "password", "wifi", "image", "strong", "boards", "ledger": [folder.file(word)]
                                default: [word]
                                }
                            }
                            // A command that waits for neither ends by itself, and a busy machine needs time for it.
                            let waits = Self.answered[name] == nil || name == "doctor"
                            let began = ContinuousClock.now
                            let outcome = try await maker.rainctl(
                                name.split(separator: " ").map(String.init) + words
                                    + ["--timeout", waits ? "2" : "60", "--no-input", "--json"],
                                environment: ["XDG_STATE_HOME": folder.file("\(home)/state")])
                            let took = began.duration(to: .now)
                            #expect(
                                outcome.status != 64,
                                "\(name) \(words), from the example in its help or from `arguments`: \(outcome.standardOutput)"
                            )
                            // A provider may have renewed the session already: its answer is waited for (docs/exit-codes.md).
                            let limit = Timings.limit(.seconds(name == "account refresh" ? 12 : 2.5))
                            #expect(took < limit, "\(name) took \(took)")
                            let expected = Self.answered[name] ?? [16, 69, 75]
                            #expect(expected.contains(outcome.status), "\(name): \(outcome.standardOutput)")
                        }
                    }
                    try await group.waitForAll()
                }
            }
            cloud.process.signal(SIGCONT)
            board.process.signal(SIGCONT)
        }
    }
}
