// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import RainJSON
import TestSupport
import Testing

@Suite("Conversations at a terminal")
struct ConversationTests {
    @Test("the screens are those of the recorded page (RAINKIT_RECORD=1 writes it)", arguments: Conversation.all)
    func screens(conversation: Conversation) async throws {
        try await withTemporaryFolder { folder in
            let page = try await Play(conversation, in: folder).page()
            #expect(!page.contains("planted"), "a secret is on the screen: \(page)")
            let path = Repository.path("Tests/EndToEnd/Terminal/Conversations/Recorded/\(conversation.name).txt")
            if currentEnvironment()["RAINKIT_RECORD"] != nil {
                try Data(page.utf8).write(to: URL(fileURLWithPath: path))
            }
            #expect(try readFile(path) == page)
        }
    }

    @Test("every recorded page belongs to a conversation, and no two have one name")
    func names() throws {
        let names = Conversation.all.map(\.name)
        #expect(Set(names).count == names.count)
        let folder = Repository.path("Tests/EndToEnd/Terminal/Conversations/Recorded")
        let pages = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(Set(pages) == Set(names.map { "\($0).txt" }))
    }
}

/// Plays one conversation in tmux, and writes its page.
private struct Play {
    let conversation: Conversation
    let folder: TemporaryFolder
    let maker: Maker

    init(_ conversation: Conversation, in folder: TemporaryFolder) throws {
        self.conversation = conversation
        self.folder = folder
        maker = try Maker(folder)
    }

    func page() async throws -> String {
        let tree = try SystemTree(in: folder)
        var cloud: SimulatedCloud?
        if let nodes = conversation.nodes {
            let running = try await SimulatedCloud.start(nodes: nodes, in: folder)
            cloud = running
            if conversation.isSignedIn { try await maker.signIn(to: running) } else { try await maker.use(running) }
        }
        let node = try conversation.nodes?.first.flatMap { try cloud?.boardOptions(node: $0) } ?? []
        var boards: [SimulatedBoard] = []
        defer { for board in boards { board.process.kill() } }
        var way: [String] = []
        switch conversation.board {
        case .none: break
        case .address(let options):
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0"] + Self.withDelay(options) + node, in: folder)
            boards.append(board)
            way = Maker.way(to: board)
        case .cables(let count, let options):
            for index in 0..<count {
                try tree.addDevice(
                    "ttyUSB\(index)", socket: "1-\(index + 1)", vendor: "10c4", product: "ea60", title: "CP2102N Bridge"
                )
                let console = ["--console", tree.port("ttyUSB\(index)"), "--security", "1", "--mapping", "user"]
                boards.append(
                    try await SimulatedBoard.start(
                        console + Self.withDelay(options) + (index == 0 ? node : []), in: folder)
                )
            }
        }
        if conversation.isProvisioned, let board = boards.first, let cloud, let node = conversation.nodes?.first {
            let outcome = try await maker.provision(board, ["--json"])
            #expect(outcome.status == 0, "\(outcome.standardError)")
            for what in ["config", "params"] {
                _ = try await cloud.journal.entry(where: [
                    "event": "node", "what": .string(what), "node": .string(node),
                ])
            }
            way = []
        }
        // A short name, as on a real machine: a long one would be cut and wrapped.
        let shortRoot = "/tmp/\(UInt32.random(in: 1_000_000_000 ... .max))"
        try FileManager.default.createSymbolicLink(atPath: shortRoot, withDestinationPath: tree.root)
        defer { try? FileManager.default.removeItem(atPath: shortRoot) }
        let variables = ["RAINKIT_SYSTEM_ROOT": shortRoot].map { "\($0.key)=\($0.value)" } + conversation.variables
        let terminal = try await TmuxTerminal.start(
            "/usr/bin/env",
            ["-C", folder.path] + variables + [try Executables.path("rainctl")] + conversation.command + way,
            environment: maker.environment, columns: conversation.columns, rows: conversation.rows, in: folder)
        do {
            let page = try await play(terminal, boards, cloud).replacing(shortRoot, with: "")
            try await terminal.end()
            return page
        } catch {
            try? await terminal.end()
            throw error
        }
    }

    /// A board joins at once unless the conversation says otherwise.
    private static func withDelay(_ options: [String]) -> [String] {
        options.contains("--join-delay") ? options : options + ["--join-delay", "0"]
    }

    private func play(
        _ terminal: TmuxTerminal, _ boards: [SimulatedBoard], _ cloud: SimulatedCloud?
    ) async throws -> String {
        var page = """
            \(conversation.title)
            \(conversation.columns) columns, \(conversation.rows) rows

            $ rainctl \(conversation.command.joined(separator: " "))

            """
        func show(_ event: String) async throws {
            let screen = Self.shown(try await terminal.screen(), in: folder)
            page +=
                "\n--- \(event)\n"
                + screen.split(separator: "\n", omittingEmptySubsequences: false)
                .map { $0.isEmpty ? "" : "| \($0)" }.joined(separator: "\n") + "\n"
        }
        for step in conversation.steps + (conversation.asksForName ? [.answer(Conversation.boardName, "")] : []) {
            switch step {
            case .answer(let question, let line):
                try await terminal.asks(question)
                try await show(
                    line.isEmpty ? "Enter" : line.contains("anted") ? "a secret is typed" : "\(line) is typed")
                try await terminal.answers(question, line)
            case .answerCode(let question, let kind, let receiver):
                try await terminal.asks(question)
                try await show("the code is typed")
                try await terminal.answers(question, try cloud?.code(kind, to: receiver) ?? "")
            case .press(let key, let text):
                try await terminal.shows(text)
                try await terminal.presses(key)
                page += "\n--- \(key == "C-c" ? "Ctrl-C" : key) after \"\(text)\"\n"
            case .type(let line, let text):
                try await terminal.shows(text)
                try await terminal.types(line)
                page += "\n--- a line is typed after \"\(text)\"\n"
            case .resize(let columns, let text):
                try await terminal.shows(text)
                try await terminal.resize(columns: columns, rows: conversation.rows)
                page += "\n--- \(columns) columns after \"\(text)\"\n"
            case .unplug(let question):
                try await terminal.asks(question)
                for board in boards { try await board.process.terminate() }
                page += "\n--- the board loses its power\n"
            case .pauseCloud(let question):
                try await terminal.asks(question)
                cloud?.process.signal(SIGSTOP)
            case .resumeCloud: cloud?.process.signal(SIGCONT)
            }
        }
        let status = try await terminal.status()
        try await show("the end, with exit status \(status)")
        #expect(status == conversation.status)
        return page
    }

    /// The screen without what is different each time. Replacements keep the length where lines could wrap.
    private static func shown(_ screen: String, in folder: TemporaryFolder) -> String {
        let lines = screen.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.contains("ended: ") }.joined(separator: "\n")
        return String(lines.reversed().drop { $0.isNewline }.reversed())
            .replacing("\(folder.path)/system", with: "")
            .replacing(folder.path, with: "~")
            .replacing(#/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/#, with: "00000000-0000-4000-8000-000000000000")
            .replacing(#/\d+\.\d\d? s\b/#, with: "0.4 s")
            .replacing(#/127\.0\.0\.1:\d{4,5}/#, with: "192.168.4.1:80")
    }
}
