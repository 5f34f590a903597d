// SPDX-License-Identifier: Apache-2.0
import RainKit

/// Which cloud is in use.
extension Checkup {
    func profile() -> [Finding] {
        let deployment: Deployment
        do throws(AccountError) {
            deployment = try context.deployment()
        } catch {
            // The check of the files says so.
            guard !home.keepsAway(context.folders.configuration) else { return [] }
            return [unusable(error)]
        }
        guard deployment.claim != nil else {
            return [
                .warn(
                    "profile", "no_claim_service",
                    "The profile \(deployment.name.onOneLine) has no claim service: boards without a certificate cannot be set up there.",
                    fix: commandsForClaims(at: deployment)
                )
            ]
        }
        return [.ok("profile", "The profile in use is \(deployment.name.onOneLine), at \(deployment.base.text).")]
    }

    /// The new profile is also the one that is used from then on.
    private func commandsForClaims(at deployment: Deployment) -> String? {
        guard let (name, commands) = try? context.commandsForClaims(at: deployment) else { return nil }
        return "\(commands) && rainctl profile use \(name)"
    }

    private func unusable(_ error: AccountError) -> Finding {
        guard error.remedies.contains(.knownDeployment) else {
            let path = context.deploymentFile.path
            return Finding.fail("profile", "unreadable_profiles", error.message.asSentence)
                .mended(privateFile: path, else: Finding.movingAway(path))
        }
        var fix = "rainctl profile list"
        if let content = try? context.deploymentFile.load() {
            let origin = ProfileSettings.chosen(context, content).origin
            switch origin {
            case .variable(let name): fix = "unset \(name)"
            case .file(context.deploymentFile.path): fix = "rainctl profile use global"
            default: break
            }
        }
        return .fail("profile", "unknown_profile", error.message.asSentence, fix: fix)
    }
}
