// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// A person at a shell, whose terminal is recorded for a cast in docs/casts.
///
/// With `RAINKIT_RECORD=1` the person reads and types at a person's speed. The cast is written, with the times of that run, if its text has
/// changed; remove a cast to record it again. Otherwise nobody waits, and only the text is compared.
struct Stage {
    static let isRecording = currentEnvironment()["RAINKIT_RECORD"] != nil
    private static let prompt = "$ "

    let folder: TemporaryFolder
    let maker: Maker
    let cloud: SimulatedCloud
    /// The folder whose `/dev` and `/sys` the programs see.
    let root: String
    private let person: Person
    private let cast: Cast

    /// Plays a cast, and compares it with the recorded one.
    static func play(
        _ name: String, title: String, columns: Int = 80, rows: Int = 24, nodes: [String] = [],
        environment: (TemporaryFolder) async throws -> [String: String] = { _ in [:] },
        prepare: (SimulatedCloud, Maker) async throws -> Void, _ body: (Stage) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: nodes, in: folder)
            let maker = try Maker(folder)
            try folder.makeFolder("system/dev")
            try await prepare(cloud, maker)
            let more = try await environment(folder)
            let stage = try await Stage(
                folder, maker, cloud, Cast(columns: columns, rows: rows, title: title), environment: more)
            try await body(stage)
            try await stage.compare(with: Repository.path("docs/casts/\(name).cast"))
        }
    }

    private init(
        _ folder: TemporaryFolder, _ maker: Maker, _ cloud: SimulatedCloud, _ cast: Cast,
        environment more: [String: String]
    ) async throws {
        (self.folder, self.maker, self.cloud, self.cast) = (folder, maker, cloud, cast)
        root = folder.file("system")
        let programs = try Executables.path("rainctl").split(separator: "/").dropLast().joined(separator: "/")
        let variables = [
            "PATH": "/\(programs):/usr/bin:/bin", "PS1": Self.prompt, "ENV": "", "TERM": "xterm-256color",
            "NO_COLOR": "", "LC_ALL": "C.UTF-8", "RAINKIT_SYSTEM_ROOT": root,
        ]
        // The shell's output goes to the terminal. Variables that are only there to be empty would be reported by doctor.
        let shell = #"cd "$HOME" && unset DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR && exec /bin/sh -i >&2"#
        person = try await Person.start(
            "/bin/sh", ["-c", shell], environment: maker.environment.merging(variables) { $1 }.merging(more) { $1 },
            size: (cast.columns, cast.rows))
        try await person.hears(Self.prompt)
    }

    /// Types a command, and does not wait for its end.
    func types(_ command: String) async throws {
        try await pause(for: .milliseconds(900))
        try await type(command)
    }

    /// Types a command, and waits until the shell asks for the next one.
    func runs(_ command: String) async throws {
        try await types(command)
        try await hearsPrompt()
    }

    func hears(_ text: String) async throws { try await person.hears(text) }

    func hearsPrompt() async throws { try await person.hears("\r\n" + Self.prompt) }

    func answers(_ question: String, _ line: String) async throws {
        try await person.hears(question)
        try await pause(for: .milliseconds(1200))
        try await type(line)
    }

    func pressesControlC() async throws {
        try await pause(for: .milliseconds(1200))
        await person.types("\u{3}")
    }

    /// Waits as long as a person needs, if a cast is recorded.
    func pause(for time: Duration) async throws { if Self.isRecording { try await Task.sleep(for: time) } }

    private func type(_ line: String) async throws {
        if Self.isRecording {
            for character in line {
                await person.types(String(character))
                try await Task.sleep(for: .milliseconds(45))
            }
        } else {
            await person.types(line)
        }
        await person.types("\n")
    }

    /// Plugs in a board with an own USB port, which knows two networks.
    /// - Parameters:
    ///   - usb: `bridge` or `native`.
    ///   - joinsAtOnce: false for a board that takes its usual time to join, as every board does in a recording.
    func plugIn(
        _ node: String, usb: String = "bridge", joinsAtOnce: Bool = true
    ) async throws -> SimulatedBoard {
        let delay = Self.isRecording || !joinsAtOnce ? [] : ["--join-delay", "0"]
        return try await SimulatedBoard.start(
            [
                "--usb", usb, "--system-root", root, "--console-dialect", "protocomm", "--security", "1", "--mapping",
                "user",
            ] + Conversation.networks + delay + cloud.boardOptions(node: node), in: folder)
    }

    /// Schedules have another id each time.
    private static func masked(_ lines: [String]) -> [String] {
        lines.map { $0.replacing(#/\b[0-9A-F]{4}\b/#, with: "0000") }
    }

    private func compare(with path: String) async throws {
        var cast = cast
        let pieces = person.recording
        for piece in pieces {
            cast.output.append((Int(pieces[0].time.duration(to: piece.time) / .milliseconds(1)), piece.text))
        }
        // Paths of the test, as they are on a person's machine. No path is divided between two pieces: programs write whole lines.
        for (place, shown) in [
            (root, ""), (folder.file("state"), "/home/me/.local/state"), (folder.file("config"), "/home/me/.config"),
            (folder.path, "/home/me"),
        ] {
            for index in cast.output.indices {
                cast.output[index].text = cast.output[index].text.replacing(place, with: shown)
            }
        }
        let all = cast.output.map(\.text).joined()
        #expect(!all.contains("planted"), "a secret is on the screen: \(all)")
        #expect(!all.contains(folder.path), "a path of the test is on the screen: \(all)")
        let recorded = (try? Cast.lines(Cast.output(of: readFile(path)))).map(Self.masked)
        let played = Self.masked(Cast.lines(all))
        if Self.isRecording, recorded != played {
            try Data(cast.text.utf8).write(to: URL(fileURLWithPath: path))
        } else {
            #expect(recorded == played)
        }
    }
}
