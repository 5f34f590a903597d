// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// The scripts of docs/recipes.md, run unchanged except for the time that they wait.
@Suite("Recipes for scripts")
struct RecipeTests {
    /// Returns the block of that language below the heading.
    static func block(_ language: String, below heading: String) throws -> String {
        let page = try readFile(Repository.path("docs/recipes.md"))
        let section = try #require(page.firstRange(of: "\n## \(heading)\n"), "no heading \(heading)").upperBound
        let rest = page[section...].split(separator: "\n## ").first.map(String.init) ?? ""
        let start = try #require(rest.firstRange(of: "\n```\(language)\n"), "no \(language) below \(heading)")
            .upperBound
        return String(rest[start...].prefix(upTo: try #require(rest[start...].firstRange(of: "```\n")).lowerBound))
    }

    private static func environment(_ maker: Maker, root: String = "") throws -> [String: String] {
        let programs = try Executables.path("rainctl").split(separator: "/").dropLast().joined(separator: "/")
        return maker.environment.merging(["PATH": "/\(programs):/usr/bin:/bin", "RAINKIT_SYSTEM_ROOT": root]) { $1 }
    }

    private static let network = "Home:\(SimulatedBoard.passphrase)"

    /// A signed-in maker with a boards' folder for USB, the files of the recipes, and boards that are plugged in.
    private static func withBoards(
        _ nodes: [String], pluggedIn: Bool = true,
        _ body: (SimulatedCloud, Maker, _ root: String, _ plugIn: () async throws -> Void) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: nodes, in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            try folder.write(SimulatedBoard.passphrase, to: "wifi.txt")
            try folder.write(SimulatedBoard.proofOfPossession, to: "pop.txt")
            let root = folder.file("system")
            var boards: [SimulatedBoard] = []
            let plugIn = {
                for node in nodes {
                    boards.append(
                        try await SimulatedBoard.start(
                            [
                                "--usb", "native", "--system-root", root, "--console-dialect", "protocomm",
                                "--security", "1", "--mapping", "user",
                            ]
                                + ["--join-delay", "0.2", "--wifi", Self.network] + cloud.boardOptions(node: node),
                            in: folder))
                }
            }
            if pluggedIn { try await plugIn() }
            try await body(cloud, maker, root, plugIn)
            for board in boards { try await board.process.terminate() }
        }
    }

    @Test("boards from a list: each is set up, and a board that fails is listed for the next run")
    func list() async throws {
        try await Self.withBoards(["recipe-1", "recipe-2"]) { cloud, maker, root, _ in
            let proof = SimulatedBoard.proofOfPossession
            let missing = "\(root)/dev/ttyACM7,\(proof),attic"
            let rows = [
                "port,proof,place", "\(root)/dev/ttyACM0,\(proof),kitchen", missing,
                "\(root)/dev/ttyACM1,\(proof),hall",
            ]
            try maker.folder.write(rows.map { $0 + "\n" }.joined(), to: "boards.csv")
            try maker.folder.write(try Self.block("bash", below: "Many boards from a list"), to: "provision-all.sh")
            let ended = try await run(
                "bash", ["provision-all.sh"], environment: try Self.environment(maker, root: root),
                directory: maker.folder.path)
            #expect(ended.status == .exited(1), "\(ended.standardError)")
            let places = ended.standardOutput.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
            #expect(
                Set(places.map { $0.first ?? "" }) == ["kitchen", "hall"],
                "\(ended.standardOutput)\(ended.standardError)")
            #expect(Set(places.map { $0.last ?? "" }) == ["recipe-1", "recipe-2"])
            #expect(ended.standardError.hasPrefix("attic\t"), "\(ended.standardError)")
            #expect(try maker.folder.read("failed.csv") == "port,proof,place\n\(missing)\n")
            // The list of the boards that failed is what the next run reads, and what it replaces.
            let again = try await run(
                "bash", ["provision-all.sh", "failed.csv"], environment: try Self.environment(maker, root: root),
                directory: maker.folder.path)
            #expect(again.status == .exited(1) && again.standardOutput.isEmpty, "\(again.standardOutput)")
            #expect(again.standardError.hasPrefix("attic\t"), "\(again.standardError)")
            #expect(try maker.folder.read("failed.csv") == "port,proof,place\n\(missing)\n")
            let tags = try await maker.rainctl("node", "show", places[0][1], "--json").document?["tags"]
            #expect(tags == .array([.string("place:\(places[0][0])")]))
        }
    }

    @Test("a CI job waits for the port, sets the board up, and waits until it is online")
    func job() async throws {
        try await Self.withBoards(["recipe-ci"], pluggedIn: false) { cloud, maker, root, plugIn in
            try maker.folder.makeFolder("system/dev")
            let job = try await ChildProcess.start(
                "bash", ["-c", try Self.block("bash", below: "Wait for a board in CI")],
                environment: try Self.environment(maker, root: root), directory: maker.folder.path)
            try await plugIn()
            let status = try await job.wait(within: .waitLimit)
            #expect(status == .exited(0), "\(job.standardError)")
            try await job.drained()
            #expect(job.standardOutput.contains("recipe-ci\t"), "\(job.standardOutput)")
            #expect(job.standardOutput.contains("\ttrue"), "\(job.standardOutput)")
        }
    }

    @Test("a gateway sets up a board that is plugged in, and its unit is valid")
    func gateway() async throws {
        try await Self.withBoards(["recipe-gateway"], pluggedIn: false) { cloud, maker, root, plugIn in
            let folder = maker.folder
            try folder.makeFolder("system/dev")
            try folder.write(SimulatedBoard.passphrase, to: "wifi")
            try folder.write(
                try Self.block("sh", below: "A gateway as a systemd service").replacing("1h", with: "1s"), to: "gateway"
            )
            var environment = try Self.environment(maker, root: root)
            environment["CREDENTIALS_DIRECTORY"] = folder.path
            let gateway = try await ChildProcess.start(
                "sh", ["gateway"], environment: environment, directory: folder.path)
            try await plugIn()
            try await gateway.output(containing: "Remove the board from \(root)/dev/ttyACM0.")
            #expect(gateway.standardOutput.contains("mapping: confirmed"), "\(gateway.standardError)")
            try await gateway.terminate()

            let unit = try Self.block("ini", below: "A gateway as a systemd service")
                .replacing("/usr/local/bin/rainkit-gateway", with: "/bin/true")
            try folder.write(unit, to: "rainkit-gateway.service")
            let verified = try await run(
                "systemd-analyze", ["verify", "--man=no", folder.file("rainkit-gateway.service")],
                environment: ["SYSTEMD_LOG_LEVEL": "warning"])
            #expect(!verified.standardError.contains("rainkit-gateway"), "\(verified.standardError)")
        }
    }

    @Test("cron is silent, and a shell script reads values")
    func values() async throws {
        try await OnlineBoards.with { scene in
            let line = try Self.block("crontab", below: "Switch something every evening with cron")
            let command = line.split(separator: " ", maxSplits: 5).last.map(String.init) ?? ""
            let environment = try Self.environment(scene.maker)
            let ended = try await run("/bin/sh", ["-c", command], environment: environment)
            #expect(
                ended.status == .exited(0) && ended.standardOutput.isEmpty && ended.standardError.isEmpty, "\(ended)")

            let script = try await run(
                "bash", ["-c", try Self.block("bash", below: "Read values in a shell script")], environment: environment
            )
            #expect(script.status == .exited(0), "\(script.standardError)")
            #expect(
                script.standardOutput == "Light: power false, time zone not set\nLight\n", "\(script.standardOutput)")
            #expect(script.standardError.isEmpty)
        }
    }
}
