// SPDX-License-Identifier: Apache-2.0
import RainKit

/// How a person adds a deployment that is there already once more, with a claim service.
extension Deployment {
    /// A name for it that no other profile has.
    func nameWithClaims(besides taken: Set<String>) -> String {
        // Names have at most 64 characters.
        let plain = "\(name.prefix(48))-claims"
        guard taken.contains(plain) else { return plain }
        return (2...).lazy.map { "\(plain)-\($0)" }.first { !taken.contains($0) } ?? plain
    }

    /// The command that adds it under that name with all that it has, for a shell; further options go behind it.
    func addition(as name: String) -> String {
        var words = ["rainctl", "profile", "add", name, "--base-url", base.text]
        func add(_ option: String, _ value: String?, unless usual: String? = nil) {
            if let value, value != usual { words += [option, value] }
        }
        let usual = WebSignIn.standard
        add("--auth-url", authorization?.text)
        add("--client-id", clientID)
        add("--ca-file", certificateAuthorities)
        add("--authorize-path", webSignIn.authorizePath, unless: usual.authorizePath)
        add("--token-path", webSignIn.tokenPath, unless: usual.tokenPath)
        add("--scope", webSignIn.scope.joined(separator: " "), unless: usual.scope.joined(separator: " "))
        add("--relay-url", webSignIn.relay, unless: usual.relay)
        if webSignIn.relayTakesExtendedState { words.append("--relay-extended-state") }
        add("--loopback-path", webSignIn.loopbackPath, unless: usual.loopbackPath)
        add("--scheme-redirect", webSignIn.schemeRedirect, unless: usual.schemeRedirect)
        return words.map(\.withoutControls.asShellWord).joined(separator: " ")
    }
}

extension Context {
    /// The commands that give somebody a deployment like this one with a claim service, and the name of its profile. A profile with somebody
    /// signed in cannot be removed, and a session is bound to both addresses: another profile is the way that loses nothing.
    func commandsForClaims(at deployment: Deployment) throws(AccountError) -> (profile: String, commands: String) {
        let name = deployment.nameWithClaims(besides: Set(try deploymentFile.load().all.map(\.name)))
        let users = try accounts.known.load().entries(at: deployment.name).map(\.userName)
        let user = users.count == 1 ? users[0].withoutControls.asShellWord : "USER"
        let commands = "\(deployment.addition(as: name)) --claim-url URL && rainctl login \(user) --profile \(name)"
        return (name, commands)
    }
}
