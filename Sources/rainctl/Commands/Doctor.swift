// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Look at everything that boards and your account need, and say what mends it.",
        discussion: """
            Example: rainctl doctor

            Nothing is changed, but for a session that is due to be renewed. The cloud is asked for its versions and for who is signed in. \
            It ends with 1 where something has failed.
            """)

    @Flag(help: "Run the commands that mend something and need no other rights than yours.")
    var fix = false

    @Option(
        help: ArgumentHelp(
            "The time for all checks, which run at once: 6, 6s, 500ms, 2m.", valueName: "time"))
    var timeout = DurationArgument(.seconds(6))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let checkup = try checkup()
        let context = checkup.context
        var findings = await checkup.run()
        try Task.checkCancellation()
        if fix {
            let repairs = findings.compactMap(\.repair).reduce(into: [[String]]()) { all, words in
                if !all.contains(words) { all.append(words) }
            }
            for words in repairs { try await repair(words, context) }
            if !repairs.isEmpty { findings = await checkup.run() }
            try Task.checkCancellation()
        }
        try finish(findings, context.output)
    }

    /// Where the system gives no threads or descriptors, that is all that can be looked at.
    func runAtOnce() -> ExitStatus {
        do {
            let checkup = try checkup()
            try finish(checkup.environment(), checkup.context.output)
            return .ok
        } catch {
            let failure = CommandFailure(error)
            Output(options).failure(failure)
            return failure.status
        }
    }

    private func checkup() throws(CommandFailure) -> Checkup {
        var obstacles: [Checkup.Obstacle] = []
        let context = try Context(options) { obstacles.append(Checkup.Obstacle(path: $0, message: $1.message)) }
        return Checkup(context: context, limit: timeout.duration, obstacles: obstacles)
    }

    /// One that fails is told of: what it was to mend is found again.
    private func repair(_ words: [String], _ context: Context) async throws {
        context.output.say("running: \(words.joined(separator: " "))")
        let program = ChildProgram(environment: context.environmentOfPrograms)
        do {
            let outcome = try await program.run(words, within: .seconds(10))
            if !outcome.isSuccess { context.output.warn(outcome.output.onOneLine, reason: "repair_failed") }
        } catch let failure as CommandFailure {
            context.output.warn(failure.message, reason: "repair_failed")
        }
    }

    private func finish(_ findings: [Finding], _ output: Output) throws(CommandFailure) {
        let result = DoctorResult(findings: findings)
        guard result.failed == 0 else {
            let what = result.failed == 1 ? "1 check has failed" : "\(result.failed) checks have failed"
            var failure = CommandFailure(.other, reason: "checks_failed", message: "\(what).")
            failure.result = result
            if !output.isJSON { output.result(result) }
            throw failure
        }
        output.result(result)
    }
}

/// What `doctor` has found: a line for each check, and below it the command that mends it.
struct DoctorResult: CommandResult {
    let findings: [Finding]
    let failed: Int
    let warned: Int

    init(findings: [Finding]) {
        self.findings = findings
        failed = findings.count { $0.state == .fail }
        warned = findings.count { $0.state == .warn }
    }

    var text: String {
        let width = findings.map(\.check.count).max() ?? 0
        return findings.map { finding in
            let state = finding.state.rawValue + String(repeating: " ", count: 4 - finding.state.rawValue.count)
            let check = finding.check + String(repeating: " ", count: width - finding.check.count)
            let line = "\(state)  \(check)  \(finding.message.withoutControls)"
            return finding.fix.map { "\(line)\n      \(String(repeating: " ", count: width))  → \($0.withoutControls)" }
                ?? line
        }
        .joined(separator: "\n")
    }
}
