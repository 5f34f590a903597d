// SPDX-License-Identifier: Apache-2.0
import Glibc
import Logging
import RainKit

/// What a command needs besides its own options.
struct Context: Sendable {
    let options: SharedOptions
    let environment: [String: String]
    let output: Output
    let screen = Screen()
    let folders: Folders
    let settings: SettingsFiles
    let logger: Logger
    /// The `run` of every event.
    let runID: String
    /// Where the lines of the board's own log go, if anybody asked for them.
    var deviceLog: DeviceLogFile?
    /// What the board has last printed on its cable.
    let boardWords = BoardWords()

    /// The options that are used after parsing.
    struct SharedOptions: Sendable {
        var profile: String?
        var account: String?
        var caFile: String?
        var noInput: Bool
    }

    init(_ options: GlobalOptions) throws(CommandFailure) {
        try self.init(options) { (_, failure) throws(CommandFailure) in throw failure }
        // Not in documents: a program that reads them has asked for something else.
        for warning in folders.warnings + settings.warnings { output.say("warning: \(warning)") }
    }

    /// - Parameter obstacle: what becomes of settings that cannot be used: a file of them, or nil where HOME is missing. Where it throws
    ///   nothing, the rest is gone by.
    init(_ options: GlobalOptions, obstacle: SettingsFiles.Obstacle) throws(CommandFailure) {
        environment = Self.processEnvironment()
        self.options = SharedOptions(
            profile: options.profile, account: options.account, caFile: options.caFile, noInput: options.noInput)
        output = Output(options)
        do throws(CommandFailure) {
            folders = try Folders(environment)
        } catch {
            try obstacle(nil, error)
            folders = try Folders(environment.merging(["HOME": "/nonexistent"]) { $1 })
        }
        settings = try SettingsFiles(environment, user: folders.configuration, obstacle: obstacle)
        let sink = try LogSink(path: options.logFile, format: options.logFormat)
        let level: Logger.Level =
            switch options.verbosity {
            case 0: options.logFile == nil ? .warning : .debug
            case 1: .debug
            default: .trace
            }
        logger = Logger(label: "rainctl") { SinkLogHandler(label: $0, sink: sink, logLevel: level) }
        // Only told apart from other runs: no reason to start up libcrypto, which a command without a network does not need.
        let number = String(UInt64.random(in: 0..<1 << 48), radix: 16)
        runID = String(repeating: "0", count: 12 - number.count) + number
    }

    /// Whether a person can be asked.
    var mayAsk: Bool { !options.noInput && StandardStreams.inIsTerminal && StandardStreams.errIsTerminal }

    /// Where serial ports are looked for: a container sees its host's system in a folder.
    var systemFiles: SystemFiles { SystemFiles(root: variable("RAINKIT_SYSTEM_ROOT") ?? "") }

    /// A variable of the environment that is not empty.
    func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }

    private static func processEnvironment() -> [String: String] {
        var result: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            if let separator = text.firstIndex(of: "=") {
                result[String(text[..<separator])] = String(text[text.index(after: separator)...])
            }
            next += 1
        }
        return result
    }
}

/// The folders of the XDG base directory specification that rainctl uses.
struct Folders: Sendable {
    /// For deployments, and which one is in use.
    let configuration: String
    /// For sessions and unfinished mappings.
    let state: String
    /// For desktop entries: the folder that all applications share.
    let data: String
    /// For sockets; nil where the login session has no such folder.
    let runtime: String?
    /// The variables that are ignored, because they hold relative paths (XDG Base Directory Specification, "Basics").
    let ignored: [String]

    /// A sentence about each of the ignored variables.
    var warnings: [String] { ignored.map { "\($0) is not used: it is not an absolute path." } }

    /// Why HOME names no folder, without the full stop.
    static func homeProblem(_ environment: [String: String]) -> String {
        guard let home = environment["HOME"], !home.isEmpty else { return "HOME is not set" }
        return "HOME is \"\(home.onOneLine)\", which is not an absolute path"
    }

    init(_ environment: [String: String]) throws(CommandFailure) {
        let names = ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"]
        ignored = names.filter { environment[$0].map { !$0.isEmpty && !$0.hasPrefix("/") } ?? false }
        func folder(_ variable: String, _ fallback: String) throws(CommandFailure) -> String {
            // The specification says that relative paths are ignored.
            if let path = environment[variable], path.hasPrefix("/") { return path + "/rainkit" }
            guard let home = environment["HOME"], home.hasPrefix("/") else {
                throw CommandFailure(
                    .config, message: "\(Self.homeProblem(environment)), so there is nowhere to keep a session.")
            }
            return "\(home)/\(fallback)/rainkit"
        }
        configuration = try folder("XDG_CONFIG_HOME", ".config")
        state = try folder("XDG_STATE_HOME", ".local/state")
        if let path = environment["XDG_DATA_HOME"], path.hasPrefix("/") {
            data = path
        } else {
            data = "\(environment["HOME"] ?? "")/.local/share"
        }
        runtime = environment["XDG_RUNTIME_DIR"].flatMap { $0.hasPrefix("/") ? $0 + "/rainkit" : nil }
    }
}
