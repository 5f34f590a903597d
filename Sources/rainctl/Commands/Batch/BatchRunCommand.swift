// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainCore
import RainKit
import RainMaker

struct BatchRunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "run", abstract: "Begin a batch: provision all boards that a file lists.",
        discussion: """
            Example: rainctl batch run boards.csv --ssid Home --passphrase-file wifi.txt

            The file is a CSV file from a spreadsheet, or a file with a JSON object on each line. docs/batch.md describes the columns. \
            With --discover, rainctl needs no file, and provisions each board that appears. After Ctrl-C, each board finishes its current \
            step, and then the command ends.
            """)

    @Argument(
        help: ArgumentHelp("The file that lists the boards (- for standard input).", valueName: "file"),
        completion: .file(extensions: ["csv", "jsonl", "tsv"]))
    var file: String?

    @Flag(help: "Provision each board that appears, until Ctrl-C.")
    var discover = false

    @Flag(help: "Begin a new batch, even if an earlier batch of this file (or of --discover) is unfinished.")
    var again = false

    @OptionGroup var work: BatchWorkOptions
    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if (file == nil) != discover { throw ValidationError("Give a file with boards, or --discover.") }
        try work.check(readsStandardInput: file == "-")
    }

    func run() async throws {
        let (source, discover, again) = (file.map { BatchFileSource(path: $0) }, discover, again)
        try await work.run(options, creates: true) { station in
            let file = try await source?.read(station.defaults, within: .seconds(120))
            if let file { try station.checkNetworks(of: file) }
            if discover, !again,
                let open = try await station.client.unfinishedDiscovery(in: station.ledger, options: station.options)
            {
                station.say("Batch \(open.id) continues: boards are provisioned as they appear")
                return (open, nil, true)
            }
            let batch = try await station.client.createBatch(
                file, path: source?.absolutePath ?? "", in: station.ledger, again: again, options: station.options)
            station.say(
                "Batch \(batch.id): \(file.map { $0.entries.count.counting("board") } ?? "boards are provisioned as they appear")"
            )
            return (batch, file, discover)
        }
    }
}

struct BatchResume: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "resume", abstract: "Continue a batch that was interrupted.",
        discussion: """
            Example: rainctl batch resume --ssid Home --passphrase-file wifi.txt

            rainctl skips boards that are done and boards that failed. Give the options of rainctl batch run again, because the record \
            contains no passwords.
            """)

    @OptionGroup var target: BatchTargetOptions

    @Flag(help: "Also provision each board that appears, until Ctrl-C. The batch must have begun with --discover.")
    var discover = false

    @OptionGroup var work: BatchWorkOptions
    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws { try work.check(readsStandardInput: target.secrets == "-") }

    func run() async throws {
        let (target, discover) = (target, discover)
        try await work.run(options) { station in
            let (batch, file) = try await target.open(station)
            if discover, file != nil {
                throw CommandFailure(
                    .usage,
                    message:
                        "Batch \(batch.id) began with a file: omit --discover, or begin another batch with --discover.")
            }
            if file == nil, !discover {
                station.say("Batch \(batch.id): boards that appear now are not added. To add them, use --discover.")
            }
            return (batch, file, discover)
        }
    }
}

struct BatchRetry: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "retry", abstract: "Continue a batch, and try its failed boards again.",
        discussion: "Example: rainctl batch retry --lines 3,17 --ssid Home --passphrase-file wifi.txt")

    @OptionGroup var target: BatchTargetOptions

    @Option(
        help: ArgumentHelp(
            "Try again only the failed boards on these lines of the file (default: all failed boards).",
            valueName: "line,…"))
    var lines: String?

    @OptionGroup var work: BatchWorkOptions
    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        try work.check(readsStandardInput: target.secrets == "-")
        _ = try chosenLines()
    }

    private func chosenLines() throws -> [Int]? {
        guard let lines else { return nil }
        return try lines.split(separator: ",").map { text in
            guard let line = Int(text), line > 0 else {
                throw ValidationError("--lines takes numbers of lines, such as 3,17.")
            }
            return line
        }
    }

    func run() async throws {
        let (target, lines) = (target, try chosenLines())
        try await work.run(options) { station in
            let (batch, file) = try await target.open(station)
            let count = try await station.client.retry(batch, lines: lines, in: station.ledger)
            station.say("\(count) \(count == 1 ? "board" : "boards") will be tried again")
            return (batch, file, false)
        }
    }
}

/// Which batch goes on, and where its file is now.
struct BatchTargetOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The batch's number (default: the newest batch).", valueName: "batch"))
    var batch: Int64?

    @Option(
        help: ArgumentHelp(
            "Read the list of boards from this file, or - for standard input (default: the file of rainctl batch run). The list "
                + "must be the same as for rainctl batch run.",
            valueName: "file"), completion: .file())
    var secrets: String?

    func open(_ station: BatchStation) async throws -> (Batch, BatchFile?) {
        try await Self.open(batch, secrets: secrets, station)
    }

    /// Returns the batch and its file; no file for boards that were discovered.
    static func open(
        _ batch: BatchID?, secrets: String?, _ station: BatchStation
    ) async throws -> (Batch, BatchFile?) {
        let batch = try await station.client.batch(batch, in: station.ledger)
        guard !batch.sha256.isEmpty else { return (batch, nil) }
        let source = BatchFileSource(path: secrets ?? batch.file)
        let file = try await source.read(station.defaults, within: .seconds(120))
        try file.check(isFileOf: batch, readFrom: source.path)
        try station.checkNetworks(of: file)
        return (batch, file)
    }
}

/// The file of a batch, or standard input.
struct BatchFileSource: Sendable {
    var path: String

    func read(_ defaults: BatchDefaults, within limit: Duration) async throws -> BatchFile {
        guard !path.isEmpty else {
            throw CommandFailure(
                .usage, reason: "missing_file",
                message:
                    "The list of boards of this batch came from standard input. Give the same list again with --secrets."
            )
        }
        if path != "-", path.isFolder { return try BatchFile(premade: path, defaults: defaults) }
        let bytes =
            path == "-"
            ? try SecretSource.standardInput(
                name: "list of boards", maximumBytes: BatchFile.maximumBytes + 1, isExact: true, within: limit)
            : try SecretSource.contents(
                of: path, name: "list of boards", maximumBytes: BatchFile.maximumBytes + 1, isExact: true, within: limit
            )
        return try BatchFile(bytes.revealBytes(), defaults: defaults)
    }

    /// The path from the root; empty for standard input.
    var absolutePath: String {
        if path == "-" { return "" }
        return path.absolutePath
    }
}

extension String {
    /// Whether there is a folder at this path.
    fileprivate var isFolder: Bool {
        var status = stat()
        return stat(self, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
