// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Reasons of docs/reasons.md that no test of their subject provokes: what a scripter gets to read for them.
@Suite("rainctl: each reason can be provoked")
struct ReasonTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var command: String
        var status: Int
        var reason: String
        var environment: [String: String] = [:]

        init(_ command: String, _ status: Int, _ reason: String, environment: [String: String] = [:]) {
            (self.command, self.status, self.reason, self.environment) = (command, status, reason, environment)
        }

        var testDescription: String { reason }
        var words: [String] { command.split(separator: " ").map(String.init) }
    }

    private func expect(_ each: Case, _ maker: Maker) async throws {
        let words = each.words.map { $0.replacing("FOLDER", with: maker.folder.path) }
        // Behind `--` everything is curl's.
        let command = words.contains("--") ? words : words + ["--json"]
        let outcome = try await maker.rainctl(command, environment: each.environment)
        #expect(
            outcome.status == each.status && outcome.failure?["reason"]?.string == each.reason,
            "\(each.command): \(outcome.status) \(outcome.standardOutput)\(outcome.standardError)")
    }

    static let withoutAnything = [
        Case(
            "provision --no-mapping --transport softap --device-host 127.0.0.1:9 --pop-file FOLDER/pop", 64,
            "missing_ssid"),
        Case("login --provider spid --client-id c --mode nonsense", 64, "unknown_mode"),
        Case("login --provider spid --client-id c --mode assertion", 64, "missing_assertion"),
        Case("device info --transport serial --port /dev/null", 69, "not_a_port"),
    ]

    @Test("what the command line lacks", arguments: withoutAnything)
    func commandLine(each: Case) async throws {
        try await withTemporaryFolder { folder in try await expect(each, Maker(folder)) }
    }

    @Test("several boards on cables, and nobody to ask")
    func severalPorts() async throws {
        try await withTemporaryFolder { folder in
            let tree = try SystemTree(in: folder)
            let ports = try (0...1).map { _ in try PseudoTerminal() }
            defer { withExtendedLifetime(ports) {} }
            for (index, socket) in ["1-1", "1-2"].enumerated() {
                try tree.addDevice("ttyUSB\(index)", socket: socket, vendor: "10c4", product: "ea60")
                try tree.link("dev/ttyUSB\(index)", to: ports[index].path)
            }
            try await expect(
                Case("device info --transport serial", 64, "several_ports", environment: tree.environment),
                Maker(folder))
        }
    }

    /// One board that is online twice, so to speak: what has one name is meant twice.
    static let inAccount = [
        Case("account curl --json -- https://other.example/", 64, "foreign_url"),
        Case("account curl --json -- -s", 64, "missing_url"),
        Case("account curl --json -- -v /v1/user2", 64, "refused_option"),
        Case("account curl --json -- /v1/user2", 69, "no_curl", environment: ["PATH": "/nonexistent"]),
        Case("node params set node-one --file FOLDER/pop", 65, "bad_values"),
        Case("node schedule remove node-one None", 65, "no_such_entry"),
        Case("node schedule remove node-one Evening", 64, "several_entries"),
        Case("node show Light", 64, "several_nodes"),
        Case("group show None", 1, "no_such_group"),
        Case("group show Kitchen", 64, "several_groups"),
        Case("automation remove None", 1, "no_such_automation"),
        Case("automation add New --file FOLDER/pop", 65, "bad_rule"),
        Case("automation edit None --file FOLDER/pop", 65, "bad_rule"),
        Case("automation remove Rule", 64, "several_automations"),
        Case("node params set node-one,node-two Light.Nonsense=1", 65, "no_such_parameter"),
        Case("qr read FOLDER/blank.jpg", 65, "no_qr_code"),
        Case(
            "device info --transport softap --device-host 127.0.0.1:9 --qrcode FOLDER/two.jpg", 65, "several_qr_codes"),
    ]

    @Test("what an account with two boards has twice, or not at all")
    func account() async throws {
        try await OnlineBoards.with(["node-one", "node-two"]) { scene in
            let (maker, folder) = (scene.maker, scene.maker.folder)
            for _ in 1...2 {
                try await scene.done(
                    "node", "schedule", "add", "node-one", "--name", "Evening", "--at", "19:30", "Light.Power=on",
                    "--wait")
                try await scene.done("group", "add", "Kitchen")
                try await scene.done(
                    "automation", "add", "Rule", "--of", "node-one", "--when", "Light.Power=true", "--set",
                    "node-two:Light.Power=on")
            }
            try await Self.picture([], folder.file("blank.jpg"), in: folder)
            try await Self.picture(["NP:PROV_a|b|s", "NP:PROV_c|d|s"], folder.file("two.jpg"), in: folder)
            for each in Self.inAccount { try await expect(each, maker) }
            try await expect(Case("qr read \(scene.cloud.api)/v1/nowhere.png", 65, "no_picture"), maker)

            let warned = try await scene.done(
                "node", "schedule", "add", "node-two", "--name", "Morning", "--at", "6:30", "Light.Power=on", "--json")
            #expect(warned.document?["warnings"]?.array?.first?["reason"] == "no_time_zone")
        }
    }

    @Test("signing out while the cloud is away is done here, and said to be no more")
    func notRevoked() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            try await cloud.process.terminate()
            let outcome = try await maker.rainctl("logout", "--everywhere", "--json")
            #expect(outcome.status == 0, "\(outcome.standardOutput)")
            #expect(
                outcome.document?["warnings"]?.array?.first?["reason"] == "not_revoked", "\(outcome.standardOutput)")
        }
    }

    /// QR codes beside each other, drawn by qrencode, as a JPEG.
    private static func picture(_ texts: [String], _ path: String, in folder: TemporaryFolder) async throws {
        var rows = [String](repeating: "", count: 45)
        for text in texts {
            for index in rows.indices { rows[index] += String(repeating: " ", count: 20) }
            let drawn = try await run("qrencode", ["-t", "ASCII", "-v", "3", "-o", "-", text]).standardOutput
            let lines = drawn.split(separator: "\n")
            for index in rows.indices {
                rows[index] +=
                    index < lines.count ? String(lines[index]) : String(repeating: " ", count: lines[0].count)
            }
        }
        // Two characters are one module; each module becomes 4 by 4 points, on a white ground of 110 by 45 modules.
        var pgm = "P2\n440 180\n255\n"
        for row in rows {
            let characters = Array(row)
            let modules = (0..<110).map { 2 * $0 < characters.count && characters[2 * $0] == "#" ? "0" : "255" }
            let line = modules.flatMap { [String](repeating: $0, count: 4) }.joined(separator: " ")
            for _ in 1...4 { pgm += line + "\n" }
        }
        try folder.write(pgm, to: "picture.pgm")
        try await run("cjpeg", ["-outfile", path, folder.file("picture.pgm")])
    }
}
