// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// A cloud that accepts connections and says nothing more, and a board that does: processes that were stopped.
@Suite("rainctl where nothing answers")
struct SilentMachineTests {
    /// What each command that has `--timeout` needs besides: BOARD stands for the way to the board, files for those of a maker.
    static let arguments: [String: [String]] = [
        "account confirm": ["u@example.com", "--code", "1"],
        "account convert": ["u@example.com", "--password-file", "password"],
        "account data get": [], "account data remove": ["k"], "account data set": ["k", "v"],
        "account delete": ["--yes", "--code", "1"], "account fetch": ["/v1/user2"], "account header": [],
        "account password change": ["--password-file", "password", "--new-password-file", "strong"],
        "account password reset": ["u@example.com"], "account refresh": [],
        "account resend": ["u@example.com", "--password-file", "password"],
        "account signup": ["u@example.com", "--password-file", "password"], "account token": [],
        "account update": ["--name", "Ada"], "account versions": [],
        "automation add": ["Door light", "--when", "Door.Open=true", "--of", "n1", "--set", "n1:Light.Power=on"],
        "automation edit": ["a1", "--name", "x"], "automation list": [], "automation remove": ["a1"],
        "device claim": ["BOARD"], "device info": ["BOARD"], "device params get": ["BOARD"],
        "device params set": ["Light.Power=on", "BOARD"], "device reset": ["BOARD"], "device scan": ["BOARD"],
        "device send": ["custom-data", "--text", "hello", "BOARD"],
        "doctor": [],
        "group add": ["Kitchen"], "group add-nodes": ["g", "n1"], "group edit": ["g", "--name", "x2"], "group list": [],
        "group remove": ["g", "--yes"], "group remove-nodes": ["g", "n1"], "group show": ["g"],
        "login": ["maker@example.com", "--password-file", "password"], "logout": [],
        "node command result": ["r1"], "node command send": ["n1", "4096"], "node config": ["n1"], "node list": [],
        "node metadata delete": ["n1", "k"], "node metadata get": ["n1"], "node metadata set": ["n1", "k=1"],
        "node ota": ["n1", "image"], "node params get": ["n1"], "node params set": ["n1", "Light.Power=on"],
        "node remove": ["n1", "--yes"], "node rename": ["n1", "Lamp"], "node scene activate": ["n1", "s"],
        "node scene add": ["n1", "Light.Power=on", "--name", "s"], "node scene edit": ["n1", "s", "Light.Power=on"],
        "node scene list": ["n1"], "node scene remove": ["n1", "s"],
        "node schedule add": ["n1", "Light.Power=on", "--name", "s", "--at", "07:30"],
        "node schedule disable": ["n1", "s"],
        "node schedule edit": ["n1", "s", "--at", "07:30"], "node schedule enable": ["n1", "s"],
        "node schedule list": ["n1"], "node schedule remove": ["n1", "s"], "node show": ["n1"], "node status": ["n1"],
        "node tags add": ["n1", "a:b"], "node tags remove": ["n1", "a:b"], "node watch": ["n1"],
        "provision": ["BOARD", "--ssid", "Home", "--passphrase-file", "wifi"], "qr read": ["SERVER"], "whoami": [],
    ].merging(shares("node")) { $1 }.merging(shares("group")) { $1 }

    private static func shares(_ what: String) -> [String: [String]] {
        [
            "\(what) share accept": ["r1"], "\(what) share add": ["n1", "--with", "u@example.com"],
            "\(what) share cancel": ["r1"], "\(what) share decline": ["r1"], "\(what) share list": [],
            "\(what) share remove": ["n1", "--with", "u@example.com"], "\(what) share requests": [],
        ]
    }

    /// Others wait for something else: another program, the system's own devices, or another provider's servers.
    static let elsewhere: Set = [
        "account curl", "account exchange", "account web-session", "device discover", "device monitor",
    ]

    @Test("every command with a time limit is among those")
    func complete() throws {
        let folder = Repository.path("Tests/rainctlTests/Recorded/Help")
        let usage = try filesBelow(folder).filter { $0.hasSuffix(".txt") }.map { try readFile("\(folder)/\($0)") }
        try #require(usage.count > 100)
        for help in usage where help.contains("--timeout") && !help.contains("SUBCOMMANDS:") {
            let words = try #require(help.firstMatch(of: /USAGE: rainctl ([a-z -]+?)(?: [\[<-]|\n)/))
            let name = String(words.1)
            guard !Self.elsewhere.contains(name) else { continue }
            #expect(Self.arguments[name] != nil, "\(name)")
        }
    }

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
            let session = try folder.readBytes(Maker.sessionFile)
            cloud.process.signal(SIGSTOP)
            board.process.signal(SIGSTOP)

            let commands = Self.arguments.sorted { $0.key < $1.key }
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
                                case "password", "wifi", "image", "strong": [folder.file(word)]
                                default: [word]
                                }
                            }
                            let began = ContinuousClock.now
                            let outcome = try await maker.rainctl(
                                name.split(separator: " ").map(String.init) + words
                                    + ["--timeout", "2", "--no-input", "--json"],
                                environment: ["XDG_STATE_HOME": folder.file("\(home)/state")])
                            let took = began.duration(to: .now)
                            #expect(outcome.status != 64, "\(name): \(outcome.standardOutput)\(outcome.standardError)")
                            // A provider may have renewed the session already: its answer is waited for (docs/exit-codes.md).
                            let limit = Timings.limit(.seconds(name == "account refresh" ? 12 : 2.5))
                            #expect(took < limit, "\(name) took \(took)")
                            // Some need nobody; what waited says what for.
                            if took > .seconds(1.9) {
                                let expected = name == "doctor" ? [1] : [16, 69, 75]
                                #expect(expected.contains(outcome.status), "\(name): \(outcome.standardOutput)")
                            }
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
