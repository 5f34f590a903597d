// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct Doctor: AsyncParsableCommand, ListCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "doctor",
        abstract: "Check everything that boards and your account need, and show how to fix problems.",
        discussion: """
            Example: rainctl doctor

            rainctl asks the cloud for its API versions and for the signed-in user. rainctl renews a session that expires soon, and \
            removes a session that the cloud has ended. rainctl changes nothing else, unless you add --fix. The exit code is 1 if a check \
            has failed.
            """)

    @Flag(help: "Run the fixes, except fixes that need root or delete something.")
    var fix = false

    @Option(
        help: ArgumentHelp(
            "Stop all checks after this time, such as 500ms, 6s or 2m.", valueName: "time"))
    var timeout = DurationArgument(.seconds(6))

    @Option(help: .listForm) var format = ListForm.text

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let checks = try checks()
        let context = checks.context
        var findings = await checks.run()
        try Task.checkCancellation()
        if fix {
            let repairs = findings.reduce(into: [[String]]()) { all, finding in
                if case .program(let words) = finding.fix, !all.contains(words) { all.append(words) }
            }
            for words in repairs { try await repair(words, context) }
            if !repairs.isEmpty { findings = await checks.run() }
            try Task.checkCancellation()
        }
        try finish(findings, context)
    }

    /// Without threads or descriptors from the system, nothing else can be checked.
    func runAtOnce() -> ExitStatus {
        do {
            let checks = try checks()
            try finish(checks.environment(), checks.context)
            return .ok
        } catch {
            let failure = CommandFailure(error)
            Output(options).failure(failure)
            return failure.status
        }
    }

    private func checks() throws(CommandFailure) -> DoctorChecks {
        var obstacles: [DoctorChecks.Obstacle] = []
        let context = try Context(options, list: format) {
            obstacles.append(DoctorChecks.Obstacle(path: $0, message: $1.message))
        }
        return DoctorChecks(context: context, limit: timeout.duration, obstacles: obstacles)
    }

    /// Runs a repair. If it fails, that is a warning, and the check finds the problem again.
    private func repair(_ words: [String], _ context: Context) async throws {
        context.output.say("running: \(words.joined(separator: " "))")
        let program = ChildProgram(environment: context.environmentOfPrograms)
        do {
            let outcome = try await program.run(words, within: .seconds(10))
            if !outcome.isSuccess { context.output.warn(outcome.output.onOneLine, reason: "repair_failed") }
        } catch let error as RainKitError where error.code != .cancelled {
            context.output.warn(error.message, reason: "repair_failed")
        }
    }

    private func finish(_ findings: [Finding], _ context: Context) throws(CommandFailure) {
        let output = context.output
        let result = DoctorResult(findings: findings, command: context.command)
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
