// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainCore
import RainIO
import RainJSON
import RainKit

/// Writes the manual pages of rainctl or of a simulator. `scripts/manual-pages` starts it.
struct ManualPages: ParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "manual-pages", abstract: "Write a program's manual pages into a folder.",
        discussion: "Example: rainctl --experimental-dump-help | rainctl manual-pages man1 --date 2026-11-25",
        shouldDisplay: false)

    @Argument(help: "An existing folder.")
    var folder: String

    @Option(help: ArgumentHelp("The release's date.", valueName: "yyyy-mm-dd"))
    var date: ManualDate

    /// Descriptions have a few megabytes.
    private static let maximumBytes = 16 << 20

    func run() throws {
        let description = try SecretSource.standardInput(
            name: "description of the program", maximumBytes: Self.maximumBytes, isExact: true, within: .seconds(60))
        for page in try Self.pages(description.revealBytes(), date: date) {
            try Self.write(page.text, to: "\(folder)/\(page.file)")
        }
    }

    /// - Parameter description: the JSON that the program prints with `--experimental-dump-help`.
    static func pages(
        _ description: [UInt8], date: ManualDate
    ) throws(CommandFailure) -> [(file: String, text: String)] {
        let command: CommandDescription
        do throws(JSONError) {
            let limits = JSONLimits(maximumBytes: maximumBytes, maximumValues: 1_000_000)
            command = try JSONCoder.decode(ProgramDescription.self, from: description, limits: limits).command
        } catch {
            throw CommandFailure(.badData, message: "The description of the program cannot be read: \(error).")
        }
        guard let program = ManualProgram(rawValue: command.commandName) else {
            throw CommandFailure(.badData, message: "No manual is known for \(command.commandName.onOneLine).")
        }
        return ManualPage.all(of: command, program: program, date: date.text, version: RainKitVersion.current)
    }

    private static func write(_ text: String, to path: String) throws(CommandFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        var failure = descriptor < 0 ? errno : nil
        if descriptor >= 0 {
            failure = StandardStreams.write(Array(text.utf8), to: descriptor)
            if close(descriptor) != 0 { failure = failure ?? errno }
        }
        guard let failure else { return }
        throw CommandFailure(.cannotWrite, message: "\(path.onOneLine) cannot be written: \(systemErrorText(failure)).")
    }
}

/// A date, in the form of manual pages: `November 25, 2026`.
struct ManualDate: ExpressibleByArgument {
    let text: String

    init?(argument: String) {
        let parts = argument.split(separator: "-").compactMap { Int($0) }
        guard parts.count == 3, (1...12).contains(parts[1]), (1...31).contains(parts[2]) else { return nil }
        text = "\(Self.months[parts[1] - 1]) \(parts[2]), \(parts[0])"
    }

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
}
