// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Look at everything that boards and your account need, and say what mends it.",
        discussion: """
            Example: rainctl doctor

            Nothing is changed, and nothing is sent but a question for the cloud's versions. It ends with 1 where something has failed.
            """)

    @Flag(help: "Run the commands that mend something and need no other rights than yours.")
    var fix = false

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        var findings = await Checkup(context: context).run()
        if fix {
            let program = ChildProgram(environment: context.environmentOfPrograms)
            let repairs = findings.compactMap(\.repair)
            for words in repairs {
                context.output.say("running: \(words.joined(separator: " "))")
                let outcome = try await program.run(words, within: .seconds(10))
                if !outcome.isSuccess { context.output.warn(outcome.output.onOneLine, reason: "repair_failed") }
            }
            if !repairs.isEmpty { findings = await Checkup(context: context).run() }
        }
        let result = DoctorResult(findings: findings)
        guard result.failed == 0 else {
            let what = result.failed == 1 ? "1 check has failed" : "\(result.failed) checks have failed"
            var failure = CommandFailure(.other, reason: "checks_failed", message: "\(what).")
            failure.result = result
            if !context.output.isJSON { context.output.result(result) }
            throw failure
        }
        context.output.result(result)
    }
}
