// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// What people read first when something is wrong: the cause, never something else. docs/faults.md is made of this list, and held against it.
@Suite("Advice")
struct FaultAdviceTests {
    /// One maker's place, in which one thing is broken.
    struct Lab: Sendable {
        let folder: TemporaryFolder
        let maker: Maker
        let cloud: SimulatedCloud?

        func board(_ options: [String] = ["--security", "1"]) async throws -> SimulatedBoard {
            try await SimulatedBoard.start(["--http", "127.0.0.1:0", "--join-delay", "0"] + options, in: folder)
        }

        /// `provision` at that board, for the Wi-Fi alone.
        func provision(
            _ way: [String], pop: String? = "pop", network: [String]? = nil, environment: [String: String] = [:]
        ) async throws -> Maker.Outcome {
            let secrets = pop.map { ["--pop-file", folder.file($0)] } ?? []
            let wifi = network ?? ["--ssid", SimulatedBoard.ssid, "--passphrase-file", folder.file("wifi")]
            return try await maker.rainctl(
                ["provision", "--no-mapping", "--json", "--no-input"] + secrets + wifi + way, environment: environment)
        }

        func rainctl(_ arguments: String..., environment: [String: String] = [:]) async throws -> Maker.Outcome {
            try await maker.rainctl(arguments + ["--json", "--no-input"], environment: environment)
        }

        func fails(_ rule: JSONValue) async throws { try await cloud?.control("faults", ["rules": [rule]]) }
    }

    struct Fault: Sendable {
        let area: String
        let name: String
        /// Words of the first sentence that name the cause: one of them is enough.
        let words: [String]
        let needsCloud: Bool
        let run: @Sendable (Lab) async throws -> Maker.Outcome

        init(
            _ area: String, _ name: String, _ words: String..., cloud: Bool = false,
            run: @escaping @Sendable (Lab) async throws -> Maker.Outcome
        ) {
            (self.area, self.name, self.words, needsCloud, self.run) = (area, name, words, cloud, run)
        }
    }

    private static func printed(_ log: String, _ name: String, _ words: String...) -> Fault {
        Fault("cable", name, words.joined(separator: " ")) { lab in
            let board = try await SimulatedBoard.start(
                [
                    "--console", lab.folder.file("tty"), "--console-dialect", "log-only", "--boot-log", log,
                    "--console-noise", "none",
                ],
                in: lab.folder)
            defer { board.process.kill() }
            return try await lab.provision(["--port", lab.folder.file("tty")], pop: nil)
        }
    }

    private static func radio(_ state: String, _ name: String, _ words: String) -> Fault {
        Fault("Bluetooth", name, words) { lab in
            let radio = try await SimulatedBluetooth.start(["--ble-fault", "adapter=\(state)"], in: lab.folder)
            let outcome = try await lab.provision(
                ["--transport", "ble", "--device-name", "PROV_1", "--timeout", "5"], environment: radio.environment)
            try await radio.process.terminate()
            try await radio.bus.end()
            return outcome
        }
    }

    private static func cloudFault(_ name: String, _ words: String..., rule: JSONValue) -> Fault {
        Fault("cloud", name, words.joined(separator: "|"), cloud: true) { lab in
            try await lab.fails(rule)
            return try await lab.rainctl("node", "list", "--timeout", "3")
        }
    }

    private static func server(_ behaviour: FaultyServer.Behaviour, _ name: String, _ words: String...) -> Fault {
        Fault("cloud", name, words.joined(separator: "|")) { lab in
            let server = try await FaultyServer.start(behaviour, in: lab.folder)
            _ = try await lab.maker.rainctl(["profile", "add", "faulty", "--base-url", server.base])
            _ = try await lab.maker.rainctl(["profile", "use", "faulty"])
            let outcome = try await lab.rainctl(
                "login", "me@example.com", "--password-file", lab.folder.file("password"), "--timeout", "3",
                environment: server.authorities.map { ["RAINKIT_CA_FILE": $0] } ?? [:])
            withExtendedLifetime(server) {}
            return outcome
        }
    }

    static let faults: [Fault] = [
        printed("empty-flash", "nothing is flashed", "no firmware"),
        printed("no-application", "a boot loader without an application", "no application"),
        printed("wrong-chip", "firmware for another chip", "chip"), printed("download", "BOOT was held", "BOOT"),
        printed("crash-loop", "the firmware crashes", "crash"), printed("brown-out", "the supply sags", "supply"),
        printed("unreadable", "another baud rate", "baud"),
        printed("provisioned", "a board that is set up already", "already"),
        Fault("cable", "no such port", "there is no port") {
            try await $0.provision(["--port", $0.folder.file("nowhere")])
        },
        Fault("cable", "a file in the place of a port", "not a serial port", "no serial port") { lab in
            try lab.folder.write("text", to: "file")
            return try await lab.provision(["--port", lab.folder.file("file")])
        },
        Fault("cable", "two boards, and none named", "several") { lab in
            let tree = try SystemTree(in: lab.folder)
            for (index, name) in ["ttyUSB0", "ttyUSB1"].enumerated() {
                try tree.addDevice(name, socket: "1-\(index)", vendor: "10c4", product: "ea60")
                try tree.write("", to: "dev/\(name)")
            }
            return try await lab.provision(["--transport", "serial"], environment: tree.environment)
        },
        Fault("cable", "no board is plugged in", "no serial port") { lab in
            try await lab.provision(["--transport", "serial"], environment: try SystemTree(in: lab.folder).environment)
        },
        Fault("Bluetooth", "no system bus", "bus") {
            try await $0.provision(["--transport", "ble", "--device-name", "PROV_1"])
        },
        Fault("Bluetooth", "BlueZ does not run", "bluez") { lab in
            let bus = try await SessionBusDaemon(in: lab.folder)
            let outcome = try await lab.provision(
                ["--transport", "ble", "--device-name", "PROV_1"], environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
            )
            try await bus.end()
            return outcome
        },
        radio("absent", "no adapter", "no Bluetooth adapter"), radio("off", "the adapter is off", "off"),
        radio("on", "no board advertises", "PROV_1"),
        Fault("Wi-Fi", "the board's address is wrong", "No connection to the board") {
            try await $0.provision(["--transport", "softap", "--device-host", "127.0.0.1:9"])
        },
        Fault("Wi-Fi", "the board has stopped", "answer") { lab in
            let board = try await lab.board()
            board.process.signal(SIGSTOP)
            defer { board.process.kill() }
            return try await lab.provision(Maker.way(to: board) + ["--timeout", "4"])
        },
        Fault("Wi-Fi", "a wrong Wi-Fi password", "password") { lab in
            let board = try await lab.board(["--security", "1", "--attempts", "1"])
            return try await lab.provision(
                Maker.way(to: board),
                network: ["--ssid", SimulatedBoard.ssid, "--passphrase-file", lab.folder.file("wrong")])
        },
        Fault("Wi-Fi", "a network that is not in reach", "does not hear that network") { lab in
            let board = try await lab.board(["--security", "1", "--attempts", "1"])
            return try await lab.provision(
                Maker.way(to: board), network: ["--ssid", "Attic", "--passphrase-file", lab.folder.file("wifi")])
        },
        Fault("Wi-Fi", "a password that no network takes", "8 to 63 bytes") { lab in
            try lab.folder.write("short", to: "four")
            try lab.folder.write("seven77", to: "seven")
            return try await lab.provision(
                ["--transport", "softap"], network: ["--ssid", "Home", "--passphrase-file", lab.folder.file("seven")])
        },
        Fault("Wi-Fi", "a name that is too long", "1 to 32 bytes") {
            try await $0.provision(
                ["--transport", "softap"],
                network: ["--ssid", String(repeating: "x", count: 33), "--passphrase-file", $0.folder.file("wifi")])
        },
        Fault("Wi-Fi", "no network is named", "No network given") {
            try await $0.provision(["--transport", "softap"], network: [])
        },
        Fault("Wi-Fi", "an empty password", "empty") { lab in
            try lab.folder.write("", to: "nothing")
            return try await lab.provision(
                ["--transport", "softap"], network: ["--ssid", "Home", "--passphrase-file", lab.folder.file("nothing")])
        },
        Fault("Wi-Fi", "the board loses its power as it joins", "stopped answering", "lost", "silent", "answer") {
            lab in
            let board = try await lab.board(["--security", "1", "--vanish", "power=0.3", "--join-delay", "1.4"])
            return try await lab.provision(Maker.way(to: board))
        },
        Fault("session", "a wrong proof of possession", "proof") { lab in
            let board = try await lab.board()
            return try await lab.provision(Maker.way(to: board), pop: "wrong")
        },
        Fault("session", "a wrong proof of possession, Security 2", "proof") { lab in
            let board = try await lab.board(["--security", "2"])
            return try await lab.provision(Maker.way(to: board), pop: "wrong")
        },
        Fault("session", "another user name of Security 2", "user name") { lab in
            let board = try await lab.board(["--security", "2", "--username", "somebody"])
            return try await lab.provision(Maker.way(to: board))
        },
        Fault("session", "a scheme that the board does not speak", "Security") { lab in
            let board = try await lab.board()
            return try await lab.provision(Maker.way(to: board) + ["--sec-ver", "2"])
        },
        Fault("session", "a board that says it speaks Security 0, and a known proof", "Security 0") { lab in
            let board = try await lab.board(["--security", "0"])
            return try await lab.provision(Maker.way(to: board))
        },
        Fault("session", "no proof of possession is given", "proof of possession") { lab in
            let board = try await lab.board()
            return try await lab.provision(Maker.way(to: board), pop: nil)
        },
        Fault("session", "a QR code of something else", "QR code") {
            try await $0.provision(["--qrcode", "https://example.com"], pop: nil)
        },
        Fault("session", "a picture without a QR code", "QR code") { lab in
            lab.folder.writePrivately(
                Array("P5 64 64 255\n".utf8) + [UInt8](repeating: 255, count: 4096), to: "white.pgm")
            _ = try await TestSupport.run(
                "cjpeg", ["-outfile", lab.folder.file("white.jpg"), lab.folder.file("white.pgm")])
            return try await lab.rainctl("qr", "read", lab.folder.file("white.jpg"))
        },
        server(.refuse, "nobody listens", "cannot be reached|refused|connect"),
        server(.hang, "the server is silent", "did not answer"), server(.noName, "no such name", "name|resolve"),
        server(.tls(.unknownAuthority), "a certificate of an unknown authority", "certificate"),
        server(.tls(.expired), "a certificate that has expired", "expired"),
        server(.tls(.otherHost), "a certificate of another host", "does not match|subject name"),
        cloudFault(
            "a fault of the cloud", "503|fault|error", rule: ["path": "/v1/*", "action": "status", "status": 503]),
        cloudFault(
            "too many requests", "slow down",
            rule: ["path": "/v1/*", "action": "status", "status": 429]),
        cloudFault(
            "a sign-in page of the network", "page|HTML|redirect|JSON|302",
            rule: ["path": "/v1/*", "action": "status", "status": 302, "location": "http://portal.example/"]),
        cloudFault("a page in the place of an answer", "JSON|page", rule: ["path": "/v1/*", "action": "html"]),
        cloudFault("half of an answer", "cut|broke|closed|connection", rule: ["path": "/v1/*", "action": "cut"]),
        cloudFault(
            "the connection breaks", "reset|broke|closed|connection", rule: ["path": "/v1/*", "action": "reset"]),
        Fault("account", "nobody is signed in", "signed in") { try await $0.rainctl("node", "list") },
        Fault("account", "a wrong password", "password", cloud: true) {
            try await $0.rainctl("login", SimulatedCloud.user, "--password-file", $0.folder.file("wrong"))
        },
        Fault("account", "an unknown user", "user", cloud: true) {
            try await $0.rainctl("login", "nobody@example.com", "--password-file", $0.folder.file("password"))
        },
        Fault("account", "a profile that nobody added", "nope") {
            try await $0.rainctl("node", "list", environment: ["RAINKIT_PROFILE": "nope"])
        },
        Fault("account", "a board that is not in the account", "n-of-somebody", cloud: true) {
            try await $0.rainctl("node", "show", "n-of-somebody")
        },
        Fault("account", "a board without a certificate, and no claim service", "claim", "certificate", cloud: true) {
            lab in
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--security", "1"] + (lab.cloud?.unclaimedBoardOptions ?? []), in: lab.folder)
            return try await lab.maker.provision(board, ["--json", "--no-input"])
        },
        Fault("machine", "others may write where sessions are kept", "write", cloud: true) { lab in
            chmod(lab.folder.file("state/rainkit"), 0o777)
            return try await lab.rainctl("login", SimulatedCloud.user, "--password-file", lab.folder.file("password"))
        },
        Fault("machine", "the file of a session is damaged", "session", cloud: true) { lab in
            lab.folder.writePrivately(Array("{".utf8), to: Maker.sessionFile)
            return try await lab.rainctl("whoami")
        },
        Fault("machine", "the file of profiles is damaged", "deployments") { lab in
            try lab.folder.makeFolder("config/rainkit")
            chmod(lab.folder.file("config/rainkit"), 0o700)
            lab.folder.writePrivately(Array("{".utf8), to: "config/rainkit/deployments.json")
            return try await lab.rainctl("profile", "list")
        },
        Fault("machine", "a file of certificates that is not there", "certificate", "authorities", "CA") {
            try await $0.rainctl(
                "login", "me@example.com", "--password-file", $0.folder.file("password"), "--ca-file",
                $0.folder.file("no.pem"))
        },
        Fault("machine", "a file with a secret that is not there", "no-such-file") {
            try await $0.rainctl("login", "me@example.com", "--password-file", $0.folder.file("no-such-file"))
        },
    ]

    struct Row: Sendable, Equatable {
        var area: String
        var name: String
        var exit: Int
        var reason: String
        var sentence: String

        var line: String { "| \(area) | \(name) | \(exit) | `\(reason)` | \(sentence) |" }
    }

    @Test("the first sentence names the cause, for each fault that is injected")
    func advice() async throws {
        #expect(Self.faults.count >= 50)
        var rows: [Row] = []
        for start in stride(from: 0, to: Self.faults.count, by: 4) {
            let some = Array(Self.faults[start..<min(start + 4, Self.faults.count)])
            rows += try await withThrowingTaskGroup(of: (Int, Row).self) { group in
                for (index, fault) in some.enumerated() {
                    group.addTask { (index, try await Self.row(fault)) }
                }
                return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
            }
        }
        var wrong: [String] = []
        for (fault, row) in zip(Self.faults, rows) {
            let words = fault.words.flatMap { $0.split(separator: "|") }.map { $0.lowercased() }
            #expect(row.exit != 0, "\(row.line)")
            if !words.contains(where: { row.sentence.lowercased().contains($0) }) { wrong.append(row.line) }
        }
        #expect(wrong.count * 50 <= Self.faults.count, "\(wrong.joined(separator: "\n"))")

        let path = Repository.path("docs/faults.md")
        let table = rows.map(\.line).joined(separator: "\n") + "\n"
        if currentEnvironment()["RAINKIT_RECORD"] == "1" {
            let stream = try #require(fopen(path, "we"))
            fputs(Self.head + table, stream)
            fclose(stream)
        }
        let page = try readFile(path).split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().map(String.init)
        #expect(page == rows.map(\.line))
    }

    private static let head = """
        # What is said first

        One thing is broken in each row, and the first sentence of what `rainctl` says about it is to name the cause. A test breaks them and makes this table
        (`FaultAdviceTests`); the numbers are [exit codes](exit-codes.md), and what helps is in [troubleshooting](troubleshooting.md).

        | where | what is wrong | exit | reason | the first sentence |
        |---|---|---|---|---|

        """

    private static func row(_ fault: Fault) async throws -> Row {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            var cloud: SimulatedCloud?
            if fault.needsCloud {
                cloud = try await SimulatedCloud.start(in: folder)
                try await maker.signIn(to: cloud!)
            }
            let outcome = try await fault.run(Lab(folder: folder, maker: maker, cloud: cloud))
            let message = outcome.failure?["message"]?.string ?? ""
            return Row(
                area: fault.area, name: fault.name, exit: outcome.status,
                reason: outcome.failure?["reason"]?.string ?? "",
                sentence: Self.shown(Self.firstSentence(message), in: folder))
        }
    }

    /// To the first full stop that ends a sentence.
    static func firstSentence(_ text: String) -> String {
        guard let end = text.firstRange(of: ". ") else { return text }
        return String(text[..<end.lowerBound]) + "."
    }

    /// Without what is different each time: folders, ports, names that were made up.
    private static func shown(_ text: String, in folder: TemporaryFolder) -> String {
        text.replacing(folder.path, with: "…").replacing(/(127\.0\.0\.1|localhost):\d+/, with: "HOST")
            .replacing(/port \d+ after \d+ ms/, with: "port N")
            .replacing(/PROV_[0-9a-f]{6}/, with: "PROV_a1b2c3").replacing("|", with: "\\|")
    }
}
