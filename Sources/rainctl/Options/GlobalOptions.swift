// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The options that every command takes.
struct GlobalOptions: ParsableArguments {
    @Flag(name: .long, help: "Print one JSON document (node watch: one for each change). Errors are JSON too.")
    var json = false

    @Flag(name: .long, help: "Print that document on one line.")
    var compact = false

    @Flag(name: .shortAndLong, help: "Print only the result.")
    var quiet = false

    @Flag(
        name: .customShort("v"),
        help: "Show each step in detail, and log requests and answers on standard error; -vv also logs headers.")
    var verbosity: Int

    @Option(name: .long, help: ArgumentHelp("Write the log to this file.", valueName: "file"), completion: .file())
    var logFile: String?

    @Option(name: .long, help: ArgumentHelp("Write the log in this form: text or json.", valueName: "form"))
    var logFormat: LogFormat = .text

    @Flag(name: .long, help: "Never ask; fail and name the missing option instead.")
    var noInput = false

    @Option(
        name: .long, help: ArgumentHelp("Use this deployment (see: rainctl profile list).", valueName: "name"),
        completion: .profiles)
    var profile: String?

    @Option(
        name: .long, help: ArgumentHelp("Use this account (see: rainctl account list).", valueName: "name"),
        completion: .accounts)
    var account: String?

    @Option(
        name: .long, help: ArgumentHelp("Trust this file of CA certificates.", valueName: "file"), completion: .file())
    var caFile: String?

    /// Whether the result and errors are JSON documents.
    var isJSON: Bool { json || compact }
}

enum LogFormat: String, ExpressibleByArgument, CaseIterable { case text, json }
