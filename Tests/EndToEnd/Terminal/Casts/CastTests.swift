// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// The casts of docs/casts are what a terminal shows today. `RAINKIT_RECORD=1` records them; then run `scripts/pictures`.
@Suite("Casts")
struct CastTests {
    private static let node = "7CDFA1000001"
    private static let name = "Kitchen lamp"
    private static let signedIn: @Sendable (SimulatedCloud, Maker) async throws -> Void = { cloud, maker in
        try await maker.signIn(to: cloud)
    }

    @Test("cable: a board on a cable is set up, and switched on")
    func cable() async throws {
        try await Stage.play(
            "cable", title: "rainctl provision", rows: 20, nodes: [Self.node], prepare: Self.signedIn
        ) {
            let board = try await $0.plugIn(Self.node)
            try await $0.types("rainctl provision")
            try await $0.answers(Conversation.question, "1")
            try await $0.answers(Conversation.password, SimulatedBoard.passphrase)
            try await $0.answers(Conversation.boardName, Self.name)
            try await $0.hearsPrompt()
            try await $0.runs("rainctl on '\(Self.name)'")
            try await board.process.terminate()
        }
    }

    @Test("wrong-password: a wrong Wi-Fi password is asked for again")
    func wrongPassword() async throws {
        try await Stage.play(
            "wrong-password", title: "A wrong Wi-Fi password", nodes: [Self.node], prepare: Self.signedIn
        ) {
            // The message depends on the attempts of the board, so they take their usual time in each run.
            let board = try await $0.plugIn(Self.node, joinsAtOnce: false)
            try await $0.types("rainctl provision")
            try await $0.answers(Conversation.question, "1")
            try await $0.answers(Conversation.password, "planted-but-wrong")
            try await $0.answers(Conversation.again, SimulatedBoard.passphrase)
            try await $0.answers(Conversation.boardName, "")
            try await $0.hearsPrompt()
            try await board.process.terminate()
        }
    }

    @Test("doctor: what is missing, and the command that fixes it")
    func doctor() async throws {
        try await withTemporaryFolder { bus in
            let radio = try await SimulatedBluetooth.start(in: bus)
            try await Stage.play(
                "doctor", title: "rainctl doctor", columns: 100, rows: 44, nodes: [Self.node],
                environment: { _ in ["DBUS_SYSTEM_BUS_ADDRESS": radio.bus.address] },
                prepare: { try await $1.use($0, claims: true) }
            ) {
                let board = try await $0.plugIn(Self.node)
                try await $0.runs("rainctl doctor")
                try await $0.types("rainctl login \(SimulatedCloud.user)")
                try await $0.answers("Password: ", SimulatedCloud.password)
                try await $0.hearsPrompt()
                try await $0.runs("rainctl doctor")
                try await board.process.terminate()
            }
            try await radio.process.terminate()
        }
    }

    @Test("schedules: a board switches itself on and off")
    func schedules() async throws {
        try await Stage.play(
            "schedules", title: "rainctl node schedule", columns: 100, nodes: [Self.node], prepare: Self.signedIn
        ) {
            let board = try await $0.plugIn(Self.node)
            let provisioned = try await $0.maker.provision(board, ["--name", Self.name])
            #expect(provisioned.status == 0, "\(provisioned.standardError)")
            let schedule = "rainctl node schedule"
            try await $0.runs("rainctl node list")
            try await $0.runs("rainctl node params set '\(Self.name)' Time.TZ=Europe/Berlin --wait")
            try await $0.runs(
                "\(schedule) add '\(Self.name)' --name Evening --at 19:30 --days mon-fri Light.Power=on --wait")
            try await $0.runs("\(schedule) add '\(Self.name)' --name Night --at 23:00 Light.Power=off --wait")
            try await $0.runs("\(schedule) list '\(Self.name)'")
            try await $0.runs("\(schedule) disable '\(Self.name)' Evening --wait")
            try await $0.runs("\(schedule) list '\(Self.name)'")
            try await board.process.terminate()
        }
    }

    @Test("gateway: the recipe's script sets up each board that is plugged in")
    func gateway() async throws {
        let nodes = ["7CDFA1000001", "7CDFA1000002"]
        try await Stage.play(
            "gateway", title: "A gateway sets up each board that is plugged in", nodes: nodes,
            environment: { ["CREDENTIALS_DIRECTORY": $0.path] },
            prepare: {
                try await $1.signIn(to: $0)
                let script = try RecipeTests.block("sh", below: "A gateway as a systemd service")
                try $1.folder.write(script, to: "rainkit-gateway")
                chmod($1.folder.file("rainkit-gateway"), 0o700)
            }
        ) {
            try await $0.types("./rainkit-gateway")
            try await $0.pause(for: .seconds(2))
            let first = try await $0.plugIn(nodes[0], usb: "native")
            try await $0.hears("Remove the board from ")
            // The next board is there before this one goes: then it has a port of its own, however late the script looks.
            let second = try await $0.plugIn(nodes[1], usb: "native")
            try await $0.pause(for: .seconds(2))
            try await first.process.terminate()
            try await $0.hears("Remove the board from ")
            try await $0.pressesControlC()
            try await $0.hearsPrompt()
            try await second.process.terminate()
        }
    }

    @Test("every file in docs/casts belongs to a test, and a page or the README mentions it")
    func files() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Repository.path("docs/casts")).sorted()
        #expect(files == ["cable", "doctor", "gateway", "schedules", "wrong-password"].map { "\($0).cast" })
        let docs = try FileManager.default.contentsOfDirectory(atPath: Repository.path("docs"))
        let pages = try docs.filter { $0.hasSuffix(".md") }.map { try readFile(Repository.path("docs/\($0)")) }
        for file in files { #expect(pages.contains { $0.contains("casts/\(file)") }, "no page mentions \(file)") }
    }
}
