// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// README and docs tell people to type these. In the unit tier, rainctl's parser accepts each of its own (`DocumentedCommandTests`).
@Suite("Commands in README and docs")
struct CommandBlockTests {
    static let ours = DocumentedCommand.all.filter { $0.words.first == "rainctl" }

    @Test("each of the simulators' has options that they have")
    func simulators() async throws {
        for program in ["firmware-sim", "cloud-sim"] {
            let commands = DocumentedCommand.all.filter { $0.words.first == program }
            #expect(!commands.isEmpty)
            let arguments = program == "cloud-sim" ? ["cloud", "--help"] : ["--help"]
            let help = try await run(Executables.path(program), arguments).standardOutput
            let words = Set(help.split { !($0.isLetter || $0.isNumber || $0 == "-") }.map(String.init))
            for command in commands {
                let options = command.words.filter { $0.hasPrefix("--") }.map { $0.prefix { $0 != "=" } }
                for option in options where !words.contains(String(option)) {
                    Issue.record("\(command.testDescription): \(program) has no \(option)")
                }
            }
        }
    }

    // MARK: run unchanged

    /// Runs a line by the shell, in the test's folder.
    private static func expectDone(
        _ command: DocumentedCommand, _ replacing: [(String, String)], _ maker: Maker,
        environment: [String: String] = [:]
    ) async throws {
        let line = replacing.reduce(command.line) { $0.replacing($1.0, with: $1.1) }
        let programs = try Executables.path("rainctl").split(separator: "/").dropLast().joined(separator: "/")
        let ended = try await run(
            "/bin/sh", ["-c", line],
            environment: maker.environment.merging(environment) { $1 }.merging(["PATH": "/\(programs):/usr/bin:/bin"]) {
                $1
            },
            directory: maker.folder.path)
        #expect(ended.status == .exited(0), "\(command.testDescription): \(ended.standardOutput)\(ended.standardError)")
    }

    private static func lines(_ page: String) -> [DocumentedCommand] { ours.filter { $0.page == page } }

    /// Not run here: the beginning of the line, and the test that does what it says.
    static let elsewhere: [(line: String, test: String)] = [
        ("rainctl node scene add N1,N2,N3", "SharedEntriesTests"),
        ("rainctl node schedule add N1,N2,N3", "SharedEntriesTests"),
        ("rainctl node schedule edit N1", "SharedEntriesTests"),
        ("rainctl node remove", "NodeNotesTests"), ("rainctl node watch", "NodeWatchTests"),
        ("rainctl node rename Light", "NodeNotesTests"),
        ("rainctl node share accept", "SharingTests"), ("rainctl node share remove", "SharingTests"),
        ("rainctl automation add 'Door light'", "OfficialClientNodeTests"),
        ("rainctl node command cancel", "NodeCommandCancelTests"),
        ("rainctl profile add home --neo", "NeoTests"), ("rainctl profile use home", "NeoTests"),
        ("rainctl profile add neo-sim --neo", "NeoTests"), ("rainctl profile use neo-sim", "NeoTests"),
        ("rainctl node history", "NodeHistoryTests"), ("rainctl node command result", "NodeCommandTests"),
        ("rainctl node ota", "NodeUpdateTests"), ("rainctl node update", "NodeUpdateJobTests"),
        ("rainctl node params get NODE_ID --local", "LocalParamsTests"),
        ("rainctl node params set NODE_ID Light.Power=off --local", "LocalParamsTests"),
        ("rainctl device params", "DeviceParamsTests"),
        ("rainctl provision", "TerminalSizeTests"),
        ("rainctl on 'Kitchen lamp'", "ShortCommandTests"), ("rainctl on Strip/", "ShortCommandTests"),
        ("rainctl set Fan 3", "ShortCommandTests"), ("rainctl serve --socket", "ServeTests"),
        ("rainctl login gateway@", "AccountsTests"), ("rainctl account export", "RareReasonTests"),
        ("rainctl doctor", "DoctorTests"), ("rainctl login me@", "AccountPromptTests"),
        ("rainctl login --provider company", "OwnCloudTests"),
        ("rainctl account providers company", "ProviderProcessTests"),
        ("rainctl whoami --provider company", "ProviderVerbTests"),
        ("rainctl account token --provider company", "ProviderVerbTests"),
        ("rainctl provision --ssid Home", "USBBoardTests"), ("rainctl provision --port /dev/ttyUSB0", "USBBoardTests"),
        ("rainctl provision --transport softap --device-name", "BoardNetworkTests"),
        ("rainctl provision --transport on-network", "OnNetworkTests"),
        ("rainctl device discover --transport on-network", "OnNetworkDiscoveryTests"),
        ("rainctl device discover --transport softap", "BoardNetworkTests"),
        ("rainctl provision --qrcode label.json", "BluetoothProvisioningTests"),
        ("rainctl device monitor", "DeviceMonitorTests"), ("rainctl device info", "DeviceInfoTests"),
        ("rainctl device claim --host", "HostClaimTests"),
        ("rainctl provision --transport softap --device-host 127.0.0.1:8080", "ProvisioningTests"),
        ("rainctl device discover --transport ble", "DiscoverTests"),
        ("rainctl node params set 'Kitchen lamp' Light.Power=on --wait", "NodeParamsTests"),
        ("rainctl batch run boards.csv", "BatchAdaptersTests"),
        ("rainctl batch run out/2026-04-01", "BatchPremadeTests"),
    ]

    private static func isElsewhere(_ command: DocumentedCommand) -> Bool {
        elsewhere.contains { command.line.contains($0.line) }
    }

    @Test("a page's commands work one after the other, on boards in an account")
    func nodes() async throws {
        try await OnlineBoards.with { scene in
            let folder = scene.maker.folder
            try await scene.done("node", "rename", "nodelight", "Kitchen lamp", "--wait")
            try folder.write(#"{"Light":{"Power":true}}"#, to: "values.json")
            for command in Self.lines("docs/nodes.md") where !Self.isElsewhere(command) {
                try await Self.expectDone(
                    command, [("N1,N2,N3", "nodelight"), (" Light.Brightness=40", "")], scene.maker)
            }
        }
    }

    @Test("a label is drawn as its page says")
    func label() async throws {
        try await withTemporaryFolder { folder in
            try folder.write("abcd1234", to: "pop.txt")
            for command in Self.ours where command.words.prefix(2) == ["rainctl", "qr"] {
                try await Self.expectDone(command, [], Maker(folder))
            }
            #expect(try folder.read("label.svg").contains("<svg"))
        }
    }

    @Test("over Bluetooth, as its page says")
    func bluetooth() async throws {
        let command = try #require(
            Self.lines("docs/bluetooth.md").first {
                $0.line.contains("--transport ble --device-name PROV_a1b2c3 --pop-file")
            })
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let cloud = try await SimulatedCloud.start(nodes: ["node-ble"], in: folder)
            try await maker.signIn(to: cloud)
            let radio = try await SimulatedBluetooth.start(
                ["--name", "PROV_a1b2c3", "--security", "1", "--mapping", "user"]
                    + cloud.boardOptions(node: "node-ble"), in: folder)
            try folder.write(SimulatedBoard.proofOfPossession, to: "pop.txt")
            try folder.write(SimulatedBoard.passphrase, to: "wifi.txt")
            try await Self.expectDone(command, [], maker, environment: radio.environment)
            try await radio.process.terminate()
            try await radio.bus.end()
        }
    }

    @Test("what is not run here, a test of its own does")
    func complete() throws {
        let run = Self.lines("docs/nodes.md").filter { !Self.isElsewhere($0) }
        for command in Self.ours where !run.contains(command) && command.words.prefix(2) != ["rainctl", "qr"] {
            guard !Self.isElsewhere(command) else { continue }
            #expect(
                command.page == "docs/bluetooth.md" && command.line.contains("--pop-file")
                    || command.line == "rainctl node list"
                    // BatchCommandTests and BatchStationsTests run these.
                    || command.page == "docs/batch.md" || command.page == "docs/station.md"
                    // So does WorkshopPageTests, and BatchServiceTests the gateway's.
                    || command.page == "docs/workshop.md"
                    // RecipeTests runs the whole page.
                    || command.page == "docs/recipes.md"
                    // SimulatorRecipeTests runs these blocks.
                    || ["docs/simulated-cloud.md", "docs/simulated-board.md"].contains(command.page),
                "nothing runs \(command.testDescription)")
        }
        let tests = Repository.path("Tests")
        let files = Set(try filesBelow(tests).map { $0.split(separator: "/").last.map(String.init) ?? "" })
        for (line, test) in Self.elsewhere {
            #expect(files.contains("\(test).swift"), "\(line): there is no test \(test)")
            #expect(Self.ours.contains { $0.line.contains(line) }, "no page says: \(line)")
        }
    }
}
