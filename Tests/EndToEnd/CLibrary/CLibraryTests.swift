// SPDX-License-Identifier: Apache-2.0
import Foundation
import RainJSON
import TestSupport
import Testing

/// A C program that uses librainkit in every way that rainkit.h permits (Programs/exercise.c), against the simulators.
@Suite("The C library")
struct CLibraryTests {
    /// What the program does, and how often or for how many seconds.
    struct Mode: Sendable, CustomTestStringConvertible {
        let name: String
        let count: Int
        /// How often in a soak.
        let soak: Int
        var cloud: [String] = []
        var needsBoard = false
        var testDescription: String { name }
    }

    static let modes = [
        Mode(name: "arguments", count: 1, soak: 1), Mode(name: "token", count: 10_000, soak: 1_000_000),
        Mode(name: "freed", count: 100, soak: 10_000), Mode(name: "left", count: 10, soak: 1000),
        Mode(name: "fork", count: 5, soak: 200), Mode(name: "unanswered", count: 1, soak: 1),
        Mode(name: "dlclose", count: 1, soak: 1), Mode(name: "logged", count: 1, soak: 1),
        Mode(name: "flat", count: 500, soak: 10_000), Mode(name: "fuzz", count: 2, soak: 600),
        Mode(name: "repeat", count: 2, soak: 200, needsBoard: true),
        Mode(name: "cancel", count: 24, soak: 200, needsBoard: true),
    ]

    @Test("a program in C", arguments: modes)
    func program(mode: Mode) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(
                nodes: mode.needsBoard ? ["c-board"] : [], arguments: mode.cloud, in: folder)
            if mode.name == "unanswered" {
                try await cloud.control("mfa", ["user": .string(SimulatedCloud.user), "on": true])
            }
            var board: [String] = []
            var simulated: SimulatedBoard?
            if mode.needsBoard {
                simulated = try await SimulatedBoard.start(
                    ["--http", "127.0.0.1:0", "--no-auto-stop"] + cloud.boardOptions(node: "c-board"), in: folder)
                board = [
                    "softap:\(simulated?.http ?? "")", SimulatedBoard.proofOfPossession, SimulatedBoard.ssid,
                    SimulatedBoard.passphrase,
                ]
            }
            let output = try await exercise(mode.name, isSoak ? mode.soak : mode.count, cloud, board, in: folder)
            #expect(output.hasSuffix("ok\n"), "\(output)")
            withExtendedLifetime(simulated) {}
        }
    }

    @Test(
        "64 threads, and 64 clients, share a session whose tokens rotate: one renewal a round",
        arguments: ["threads", "clients"])
    func renewals(mode: String) async throws {
        try await withTemporaryFolder { folder in
            // Long enough that no token expires between its renewal and its use, however busy the machine is.
            let (lifetime, seconds) = (20, isSoak ? 300 : 45)
            let cloud = try await SimulatedCloud.start(
                arguments: ["--access-ttl", "\(lifetime)", "--rotate-refresh"], in: folder)
            let output = try await exercise(mode, seconds, cloud, [], in: folder)
            #expect(output.hasSuffix("ok\n"), "\(output)")
            // A token is renewed at most once in its lifetime. With a token each, there would be 64 renewals a round.
            let renewals = try cloud.journal.entries(where: ["event": "refresh"]).count
            #expect((1...seconds / (lifetime - 1) + 2).contains(renewals), "\(renewals)")
        }
    }

    /// Ways in which a server ends a connection.
    enum Ending: String, CaseIterable { case atOnce, afterRequest, inHead, inBody }

    @Test("a connection that ends at any moment raises no signal", arguments: Ending.allCases)
    func signals(ending: Ending) async throws {
        try await withTemporaryFolder { folder in
            let server = try LoopbackServer(remembersRequests: false) { peer in
                if ending == .atOnce { return }
                _ = peer.readRequest()
                switch ending {
                case .atOnce, .afterRequest: break
                case .inHead: _ = peer.write("HTTP/1.1 200 OK\r\nContent-Le")
                case .inBody: _ = peer.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"a\":")
                }
            }
            let count = isSoak ? 1000 : 10
            let output = try await exercise("broken", count, at: String(server.url.dropLast()), [], in: folder)
            #expect(output == "failed \(count)\nok\n", "\(output)")
        }
    }

    @Test(
        "the small gateway examples/c/lamp.c: a lamp follows the light at the door, and the second start needs no password"
    )
    func lamp() async throws {
        try await OnlineBoards.with(["door", "lamp"]) { scene in
            let folder = scene.maker.folder
            let program = try await compile("examples/c/lamp.c", in: folder)
            try await scene.done("off", "door", "lamp")
            let environment = [
                "HOME": folder.path, "EXAMPLE_CLOUD": scene.cloud.api, "EXAMPLE_STATE": folder.file("gateway"),
                "EXAMPLE_USER": SimulatedCloud.user, "EXAMPLE_DOOR": "door", "EXAMPLE_LAMP": "lamp",
            ]
            for (password, command) in [(SimulatedCloud.password, "on"), ("forgotten", "off")] {
                let gateway = try await ChildProcess.start(
                    program, environment: environment.merging(["EXAMPLE_PASSWORD": password]) { $1 })
                defer { gateway.kill() }
                // The first event: from now on it misses nothing.
                _ = try await gateway.line()
                try await scene.done(command, "door")
                let isOn = command == "on"
                #expect(try await scene.value("Light.Power", of: "lamp", becomes: "\(isOn)"))
                gateway.signal(SIGTERM)
                #expect(try await gateway.wait() == .exited(0))
            }
        }
    }

    private func compile(_ source: String, in folder: TemporaryFolder) async throws -> String {
        let program = folder.file(String(source.split(separator: "/").last?.dropLast(2) ?? "program"))
        let compiled = try await run(
            "gcc",
            [
                "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-I",
                Repository.path("Sources/CRainKit/include"), Repository.path(source), "-o", program,
                "-L", Executables.folder, "-lrainkit-c", "-Wl,-rpath,\(Executables.folder)",
            ])
        try #require(compiled.status == .exited(0), "\(compiled.standardError)")
        return program
    }

    /// Compiles the program, and runs it.
    /// - Returns: its standard output, with the errors of a failure.
    private func exercise(
        _ mode: String, _ count: Int, _ cloud: SimulatedCloud, _ board: [String], in folder: TemporaryFolder
    ) async throws -> String { try await exercise(mode, count, at: cloud.api, board, in: folder) }

    private func exercise(
        _ mode: String, _ count: Int, at base: String, _ board: [String], in folder: TemporaryFolder
    ) async throws -> String {
        let program = try await compile("Tests/EndToEnd/CLibrary/Programs/exercise.c", in: folder)
        let finished = try await run(
            program,
            [mode, base, folder.file("state-of-\(mode)"), SimulatedCloud.user, SimulatedCloud.password, "\(count)"]
                + board,
            environment: ["HOME": folder.path, "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent/bus"],
            within: .seconds(isSoak ? 4 * 3600 : 480))
        return finished.status == .exited(0)
            ? finished.standardOutput
            : "\(finished.status) \(finished.standardOutput)\(finished.standardError)"
    }
}
