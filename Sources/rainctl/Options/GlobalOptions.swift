// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore

/// The options that every command takes.
struct GlobalOptions: ParsableArguments {
    @Flag(name: .long, help: "Print the result or the error as JSON.")
    var json = false

    @Flag(name: .long, help: "Print the result or the error as JSON on one line.")
    var compact = false

    @Flag(name: .shortAndLong, help: "Print only the result, without progress and notes.")
    var quiet = false

    @Flag(
        name: .customShort("v"),
        help: "Show more detail, and log requests and answers on standard error. -vv also logs headers.")
    var verbosity: Int

    @Option(name: .long, help: ArgumentHelp("Write the log to this file.", valueName: "file"), completion: .file())
    var logFile: String?

    // Text instead of an enum: looking up how the parser reads another type would cost every command a third of a millisecond.
    @Option(
        name: .customLong("log-format"),
        help: ArgumentHelp("Write the log in this format: text or json (default: text).", valueName: "form"),
        completion: .list(LogFormat.allCases.map(\.rawValue)))
    private var logFormatName: String?

    @Flag(name: .long, help: "Never ask questions. If a value is missing, stop with an error that names the option.")
    var noInput = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Use the cloud of this profile. To list profiles, run rainctl profile list.", valueName: "name"),
        completion: .profiles)
    var profile: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Use this account. To list accounts, run rainctl account list.", valueName: "name"),
        completion: .accounts)
    var account: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Trust the CA certificates in this file, and not those of the system.", valueName: "file"),
        completion: .file())
    var caFile: String?

    /// Whether the result and errors are JSON documents.
    var isJSON: Bool { json || compact }

    var logFormat: LogFormat { logFormatName.flatMap { LogFormat(rawValue: $0) } ?? .text }

    func validate() throws {
        guard let logFormatName, LogFormat(rawValue: logFormatName) == nil else { return }
        throw ValidationError(
            "The value '\(logFormatName.onOneLine)' is invalid for '--log-format <form>'. Please provide one of 'text' and 'json'."
        )
    }
}

enum LogFormat: String, CaseIterable { case text, json }
