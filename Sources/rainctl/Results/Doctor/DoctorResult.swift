// SPDX-License-Identifier: Apache-2.0

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
