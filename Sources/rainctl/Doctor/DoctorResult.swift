// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainKit

/// The findings of `doctor`: one line for each check, followed by the command that fixes the problem.
struct DoctorResult: CommandResult {
    /// A finding as a member of the document.
    struct Line: Encodable {
        let check: String
        let state: String
        let reason: String
        let message: String
        /// The one command that fixes the problem.
        let fix: String?
    }

    let findings: [Line]
    let failed: Int
    let warned: Int

    /// - Parameter command: rainctl's command for a remedy.
    init(findings: [Finding], command: (Remedy, Finding) -> String? = { _, _ in nil }) {
        self.findings = findings.map { finding in
            let fix: String? =
                switch finding.fix {
                case .command(let command): command
                case .program(let words): words.map(\.asShellWord).joined(separator: " ")
                case .remedy(let remedy): command(remedy, finding)
                case nil: nil
                }
            return Line(
                check: finding.check, state: finding.state.rawValue, reason: finding.reason,
                message: finding.message.withAdvice(finding.remedies), fix: fix)
        }
        failed = findings.count { $0.state == .fail }
        warned = findings.count { $0.state == .warn }
    }

    var text: String {
        let width = findings.map(\.check.count).max() ?? 0
        return findings.map { finding in
            let state = finding.state + String(repeating: " ", count: 4 - finding.state.count)
            let check = finding.check + String(repeating: " ", count: width - finding.check.count)
            let line = "\(state)  \(check)  \(finding.message.withoutControls)"
            return finding.fix.map { "\(line)\n      \(String(repeating: " ", count: width))  → \($0.withoutControls)" }
                ?? line
        }
        .joined(separator: "\n")
    }
}

extension DoctorResult: ListResult {
    var table: ListTable { ListTable(member: "findings", columns: ["check", "state", "reason", "message", "fix"]) }
}

extension Context {
    /// Returns the command that fixes a finding; nil for a remedy that no finding has.
    func command(for remedy: Remedy, _ finding: Finding) -> String? {
        switch remedy {
        case .signIn: signIn(finding.user)
        case .fileStore: "\(signIn(finding.user)) --store file"
        case .storedSession: commandLine("account status")
        case .cloudAnswer: commandLine("account curl -- -i /v1/user2")
        case .deploymentSettings: commandLine("profile show")
        case .certificateAuthorities: "rainctl doctor --ca-file FILE"
        case .claimService: commandsForClaims
        default: nil
        }
    }

    /// The sign-in command for the deployment and account of this command's options.
    private func signIn(_ user: String?) -> String {
        GivenOptions(options).line("login \(user?.withoutControls.asShellWord ?? "USER")")
    }

    /// The command that gives the user's own profile a claim service. If somebody is signed in there, or the deployment is built in, the
    /// commands add a profile instead, and select it.
    private var commandsForClaims: String? {
        guard let deployment = try? deployment() else { return nil }
        if (try? deploymentFile.load().ownDeployment(named: deployment.name)) != nil,
            (try? accounts.known.load().entries(at: deployment.name))?.isEmpty == true
        {
            return "rainctl profile set \(deployment.name.withoutControls.asShellWord) --claim-url URL"
        }
        guard let (name, commands) = try? commandsForClaims(at: deployment) else { return nil }
        return "\(commands) && rainctl profile use \(name)"
    }
}
