// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct BatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "batch", abstract: "Provision many boards, and keep a record of each.",
        discussion: """
            Example: rainctl batch run boards.csv --ssid Home --passphrase-file wifi.txt

            rainctl records each step of each board. After a power cut or a crash, rainctl batch resume continues with the missing steps.
            """,
        subcommands: [
            BatchRunCommand.self, BatchResume.self, BatchRetry.self, BatchStatus.self, BatchReportCommand.self,
        ])
}

/// Where the record of batches is.
struct LedgerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Keep the record of all batches in this SQLite file (default: ledger.sqlite in the state folder). Several machines can share a \
            PostgreSQL database: postgresql://HOST/NAME.
            """, valueName: "file|url"))
    var ledger: String?

    /// Opens the ledger and closes it after the work.
    /// - Parameter creates: whether to create a ledger that does not exist: only a command that begins a batch does.
    func open<Value: Sendable>(
        _ client: RainKitClient, _ context: Context, creates: Bool = false,
        _ work: (any Ledger) async throws -> Value
    ) async throws -> Value {
        let place = ledger ?? context.variable("RAINKIT_LEDGER")
        let opened = try await client.ledger(at: place, creates: creates)
        do {
            let value = try await work(opened)
            await opened.close()
            return value
        } catch {
            await opened.close()
            throw error
        }
    }
}

struct BatchStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "status", abstract: "Show the progress of a batch, and which boards failed.",
        discussion: "Example: rainctl batch status")

    @Argument(help: ArgumentHelp("The batch's number (default: the newest batch).", valueName: "batch"))
    var batch: Int64?

    @Flag(help: "List all batches.")
    var all = false

    @OptionGroup var ledger: LedgerOptions

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if all, batch != nil { throw ValidationError("Give a batch or --all, but not both.") }
    }

    func run() async throws {
        let context = try Context(options)
        let client = context.boardClient()
        let (batch, all) = (batch, all)
        try await ledger.open(client, context) { ledger in
            try await withTimeout(timeout.duration) {
                if all {
                    context.output.result(BatchListResult(try await client.batches(in: ledger)))
                } else {
                    context.output.result(try await client.status(of: client.batch(batch, in: ledger), in: ledger))
                }
            }
        }
    }
}

extension BatchListResult: CommandResult {
    var text: String {
        batches.map { batch in
            "\(batch.batch)  \(batch.done) of \(batch.total) done, \(batch.failed) failed  \(batch.created)  \(batch.file ?? "-")"
                .onOneLine
        }.joined(separator: "\n")
    }
}

extension BatchResult: CommandResult {
    var text: String {
        var lines = [
            "Batch \(batch): \(done) of \(total.counting("board")) done, \(running) running, \(waiting) waiting, \(failed) failed"
        ]
        if abandoned > 0 {
            lines.append(
                "No station is working on \(abandoned) of the running boards any more. To continue with \(abandoned == 1 ? "it" : "them"), run this command with the options of rainctl batch run: \(commandLine("batch resume \(batch)"))"
            )
        }
        for board in boards {
            let end =
                board.message.map { "failed: \($0) \(board.remedy ?? "")" }
                ?? "\(board.state): \(board.step ?? "begins")"
            lines.append("line \(board.line)  \(board.name)  \(end)".onOneLine)
        }
        return lines.joined(separator: "\n")
    }
}

struct BatchReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "report",
        abstract: "Write a report on all boards of a batch, as CSV, JSON, an HTML page or labels.",
        discussion: """
            Example: rainctl batch report --html report.html

            If you name no file, rainctl prints the report as CSV, or as JSON with --json. --labels writes a page of QR codes to print. \
            rainctl reads the codes from the list of boards.
            """)

    @Argument(help: ArgumentHelp("The batch's number (default: the newest batch).", valueName: "batch"))
    var batch: Int64?

    @Option(help: ArgumentHelp("Write the report to this file as CSV.", valueName: "file"), completion: .file())
    var csv: String?

    @Option(
        help: ArgumentHelp("Write the report to this file as an HTML page.", valueName: "file"), completion: .file())
    var html: String?

    @Option(
        help: ArgumentHelp("Write labels with QR codes to this file, as an HTML page to print.", valueName: "file"),
        completion: .file())
    var labels: String?

    @Option(
        help: ArgumentHelp(
            "Read the secrets of the boards from this list of boards (default: the file that you gave to rainctl batch run).",
            valueName: "file"),
        completion: .file())
    var secrets: String?

    @OptionGroup var ledger: LedgerOptions

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(120))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if secrets != nil, labels == nil { throw ValidationError("--secrets works only with --labels.") }
        let files = [csv, html, labels].compactMap(\.self)
        if Set(files).count < files.count {
            throw ValidationError("Two reports have the same file: give each report its own file.")
        }
    }

    func run() async throws {
        let context = try Context(options)
        let client = context.boardClient()
        try await ledger.open(client, context) { ledger in
            try await withTimeout(timeout.duration) { try await report(client, context, ledger) }
        }
    }

    private func report(_ client: RainKitClient, _ context: Context, _ ledger: any Ledger) async throws {
        let batch = try await client.batch(batch, in: ledger)
        let files = [csv, html, labels].compactMap(\.self)
        for file in files where [batch.file, secrets?.absolutePath, ledger.place].contains(file.absolutePath) {
            throw CommandFailure(
                .usage, message: "The report would replace \(file.onOneLine), which the batch needs: name another file."
            )
        }
        let report = try await client.report(on: batch, in: ledger)
        if let csv { try write(report.csv(), to: csv) }
        if let html { try write(report.html(), to: html) }
        if let labels {
            guard !batch.sha256.isEmpty else {
                throw CommandFailure(
                    .usage, reason: "no_proofs",
                    message:
                        "Batch \(batch.id) began with --discover, so no file contains the boards' proofs of possession. A label contains "
                        + "the board's proof, so labels cannot be made for this batch.")
            }
            let source = BatchFileSource(path: secrets ?? batch.file)
            let file = try await source.read(BatchDefaults(), within: timeout.duration)
            try file.check(isFileOf: batch, readFrom: source.path)
            let sheet = BatchLabels(file.entries, boards: report.boards, layout: try BatchLabels.Layout())
            if !sheet.linesWithoutLabel.isEmpty {
                context.output.warn(
                    "there are no labels for line\(sheet.linesWithoutLabel.count == 1 ? "" : "s") "
                        + "\(sheet.linesWithoutLabel.map(String.init).joined(separator: ", ")) of the file. A label needs a line with a "
                        + "QR code, or with the board's name and transport.")
            }
            try write(try sheet.html(), to: labels)
        }
        if csv != nil || html != nil || labels != nil {
            return context.output.result(BatchFilesResult(batch: batch.id, files: files))
        }
        if context.output.isJSON { return context.output.result(BatchReportResult(report)) }
        StandardStreams.out(report.csv())
    }

    /// Writes a file that only the user can read: labels have proofs of possession.
    private func write(_ text: String, to path: String) throws(CommandFailure) {
        try PrivateOutputFile.write(Array(text.utf8), to: path, name: "report")
    }
}

/// The files that a report was written to.
struct BatchFilesResult: ConfirmingResult {
    let batch: Int64
    let files: [String]

    var text: String { "Wrote \(files.joined(separator: ", "))".onOneLine }
}
