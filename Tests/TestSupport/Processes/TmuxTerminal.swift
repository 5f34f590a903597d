// SPDX-License-Identifier: Apache-2.0

/// A program in a terminal of a given size, which tmux provides: the text on its screen, and keys that a person presses.
///
/// Other than ``Person``, which knows the bytes, this knows what they come to: lines that wrap, that are erased, that scroll away.
public final class TmuxTerminal: Sendable {
    private let server: ChildProcess
    private let socket: String
    /// Says how the program ended, and stays, so that its last screen can be read. (tmux's own word for it comes late or never.)
    private static let shell = #"trap : INT; "$@"; printf '\nended: %s\n' $?; read -r line"#
    private static let locale = ["LC_ALL": "C.UTF-8"]

    /// - Parameter environment: all that the program has beside the terminal's own, `PATH` and the locale.
    public static func start(
        _ executable: String, _ arguments: [String], environment: [String: String], columns: Int, rows: Int,
        in folder: TemporaryFolder
    ) async throws -> TmuxTerminal {
        // No line of the screen is tmux's own.
        try folder.write("set -g status off\nset -g exit-empty off\n", to: "tmux.conf")
        let socket = folder.file("tmux")
        let server = try await ChildProcess.start(
            "tmux", ["-u", "-D", "-S", socket, "-f", folder.file("tmux.conf")], environment: locale)
        let terminal = TmuxTerminal(server: server, socket: socket)
        let variables = environment.sorted { $0.key < $1.key }.flatMap { ["-e", "\($0.key)=\($0.value)"] }
        let start =
            ["new-session", "-d", "-x", "\(columns)", "-y", "\(rows)"] + variables
            + ["--", "/bin/sh", "-c", shell, "sh", executable] + arguments
        try await terminal.until("tmux does not start") {
            try await run("tmux", ["-u", "-N", "-S", socket] + start, environment: locale).status == .exited(0)
                ? true : nil
        }
        return terminal
    }

    private init(server: ChildProcess, socket: String) { (self.server, self.socket) = (server, socket) }

    deinit { server.kill() }

    /// Ends the program, if it has not ended, and the terminal.
    public func end() async throws {
        _ = try? await tmux(["kill-server"])
        _ = try await server.wait()
    }

    private func tmux(_ arguments: [String]) async throws -> String {
        let ended = try await run("tmux", ["-u", "-N", "-S", socket] + arguments, environment: Self.locale)
        guard ended.status == .exited(0) else { throw ProcessError("tmux \(arguments): \(ended.standardError)") }
        return ended.standardOutput
    }

    /// The text on the screen now, without the blanks at its ends.
    /// - Parameter withColours: with the escape sequences for them.
    public func screen(withColours: Bool = false) async throws -> String {
        let text = try await tmux(["capture-pane", "-p"] + (withColours ? ["-e"] : []))
        return String(text.reversed().drop { $0.isNewline }.reversed())
    }

    /// The same with lines that the terminal has wrapped in one piece.
    public func text() async throws -> String { try await tmux(["capture-pane", "-p", "-J"]) }

    /// Waits until this text is on the screen.
    public func shows(_ text: String) async throws {
        try await until("\"\(text)\" is not on the screen") {
            try await self.text().onOneLine.contains(text[...].onOneLine) ? true : nil
        }
    }

    /// Waits until the last text on the screen is this question, which may be wrapped.
    public func asks(_ question: String) async throws {
        try await until("\"\(question)\" is not asked") {
            let words = question[...].onOneLine
            let text = try await text().onOneLine
            return text == words || text.hasSuffix(" " + words) ? true : nil
        }
    }

    public func types(_ text: String) async throws { _ = try await tmux(["send-keys", "-l", "--", text]) }

    /// Such as `Enter` and `C-c`.
    public func presses(_ key: String) async throws { _ = try await tmux(["send-keys", key]) }

    /// Changes the terminal's size.
    public func resize(columns: Int, rows: Int) async throws {
        _ = try await tmux(["resize-window", "-x", "\(columns)", "-y", "\(rows)"])
    }

    /// Answers a question: waits for it, and types a line.
    public func answers(_ question: String, _ line: String) async throws {
        try await asks(question)
        if !line.isEmpty { try await types(line) }
        let before = try await cursor()
        try await presses("Enter")
        // The same question may follow. Until then, the answered one is still the last text.
        try await until("the answer to \"\(question)\" is not read") {
            try await cursor() == before ? nil : true
        }
    }

    /// The cursor's row, counted from the first line that was ever shown.
    private func cursor() async throws -> String {
        try await tmux(["display-message", "-p", "#{cursor_y} #{history_size}"])
    }

    /// Waits for the program's end, and returns its exit code.
    public func status() async throws -> Int {
        try await until("the program does not end") {
            let words = try await text().split(separator: "\n").compactMap { $0.dropPrefix("ended: ") }
            return words.last.flatMap { Int($0.trimmingSpaces) }
        }
    }

    @discardableResult
    private func until<Value>(_ what: String, _ look: () async throws -> Value?) async throws -> Value {
        let end = ContinuousClock.now + .waitLimit
        while true {
            if let value = try await look() { return value }
            guard ContinuousClock.now < end else {
                throw ProcessError("\(what): \((try? await screen()) ?? "no screen")")
            }
            try await Task.sleep(for: .milliseconds(30))
        }
    }
}

extension StringProtocol {
    /// The words with one space between them.
    fileprivate var onOneLine: String { split { $0 == " " || $0.isNewline }.joined(separator: " ") }
}

extension Substring {
    fileprivate var trimmingSpaces: String { String(reversed().drop { $0 == " " }.reversed()) }

    /// The text after this prefix; nil if the text begins with something else.
    fileprivate func dropPrefix(_ prefix: String) -> Substring? { hasPrefix(prefix) ? dropFirst(prefix.count) : nil }
}
