// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

/// Shows what a board prints on its cable.
struct DeviceMonitor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor", abstract: "Show what a board prints on its cable, and say what is wrong with it.",
        discussion: """
            Example: rainctl device monitor --port /dev/ttyACM0 --restart

            Passwords and proofs of possession are left out of what is shown. Ctrl-C ends it.
            """)

    @Option(help: ArgumentHelp("The serial port, such as /dev/ttyUSB0.", valueName: "path"), completion: .serialPorts)
    var port: String?

    @Flag(help: "Restart the board first, so that all that it says is heard.")
    var restart = false

    @Flag(help: "Wait for a board that is not plugged in yet, and for one that was unplugged.")
    var wait = false

    @Option(help: ArgumentHelp("End with success as soon as a line holds this text.", valueName: "text"))
    var until: String?

    @Option(help: ArgumentHelp("End after this time: 6, 6s, 500ms, 2m.", valueName: "time"))
    var timeout: DurationArgument?

    @Option(
        help: ArgumentHelp("Keep what the board prints in this file, secrets left out.", valueName: "file"),
        completion: .file())
    var deviceLog: String?

    @Option(help: ArgumentHelp("Stream what happens as lines of JSON.", valueName: "form"))
    var events: Provision.Events?

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if until?.isEmpty == true { throw ValidationError("--until needs a text.") }
    }

    func run() async throws {
        let context = try Context(options)
        let file = try deviceLog.map { path throws(CommandFailure) in try DeviceLogFile(path) }
        let screen = MonitorScreen(context.output, isStreaming: events != nil, until: until, file: file)
        let hint = Task {
            try await Task.sleep(for: .seconds(3))
            screen.tellOfSilence(mayRestart: !restart)
        }
        defer { hint.cancel() }
        let limit = timeout?.duration
        var monitor = try await context.boardClient()
            .monitor(port, waitsForBoard: wait, within: limit ?? .seconds(86_400))
        monitor.restarts = restart
        let summary = try await monitor.run(
            within: limit, until: { screen.hasFound || screen.isCut }, event: { screen.take($0) })
        if let until, !screen.hasFound, !screen.isCut {
            throw CommandFailure(
                .deadline,
                message: screen.withoutLineEnd
                    ?? "No line with \"\(until.onOneLine)\" came within the time (--timeout).")
        }
        if events == nil || options.json { context.output.result(MonitorResult(summary, lines: screen.lines)) }
    }
}
