// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainKit
import RainMaker

/// The steps of a claim over the cable as text, and the commands that finish it.
extension CableClaimEvent {
    var text: String {
        switch self {
        case .askingBootLoader(let port): "asking the board's boot loader at \(port)"
        case .claiming(let mac): "claiming \(mac) for the account"
        case .writing(let bytes, let address): "writing \(bytes) bytes to \(address.hexadecimal)"
        }
    }
}

extension CommandFailure {
    /// The failure of a claim that already counts, with the commands that finish it. The commands are complete, so that a shell can run
    /// them.
    init(_ claim: UnfinishedClaim) {
        self.init(claim.error)
        message = "\(message.asSentence) The board is claimed as the node \(claim.node.rawValue.onOneLine). "
        let way =
            claim.writingImage.map { "write the image with \(Self.command($0))" }
            ?? "flash the image to the partition fctry"
        switch claim.kept {
        case .image(let path):
            message += """
                The image, with the board's private key, is kept in \(path.asShellWord). To finish, \(way), then delete the file of the image.
                """
        case .rows:
            message += """
                The credentials, with the board's private key, are kept. To finish, make the image with \
                \(Self.command(claim.makingImage ?? [])), \(way), then delete the credentials and the image.
                """
        case .nothing: message += "The board's key is lost: run this command again."
        }
    }

    /// A command for a shell in any folder. Python must not load modules from the current folder.
    private static func command(_ words: [String]) -> String {
        "PYTHONSAFEPATH=1 " + words.map(\.asShellWord).joined(separator: " ")
    }
}

/// The commands that add an existing deployment again, with a claim service.
extension Deployment {
    /// Returns a name for it that no other profile has.
    func nameWithClaims(besides taken: Set<String>) -> String {
        // Names have at most 64 characters.
        let plain = "\(name.prefix(48))-claims"
        guard taken.contains(plain) else { return plain }
        return (2...).lazy.map { "\(plain)-\($0)" }.first { !taken.contains($0) } ?? plain
    }

    /// Returns the shell command that adds it under that name with all its settings. Further options can be appended.
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
    /// Returns the commands that add a deployment like this one with a claim service, and the name of its profile. A new profile is needed:
    /// one with a signed-in user cannot be removed, and a session is bound to both addresses. Other profiles lose nothing.
    func commandsForClaims(at deployment: Deployment) throws(AccountError) -> (profile: String, commands: String) {
        let name = deployment.nameWithClaims(besides: Set(try deploymentFile.load().all.map(\.name)))
        let users = try accounts.known.load().entries(at: deployment.name).map(\.userName)
        let user = users.count == 1 ? users[0].withoutControls.asShellWord : "USER"
        let commands = "\(deployment.addition(as: name)) --claim-url URL && rainctl login \(user) --profile \(name)"
        return (name, commands)
    }

    /// The error of a deployment that cannot certify keys, with those commands.
    func failureWithoutClaimService(
        at deployment: Deployment, _ error: RainKitError
    ) throws(AccountError) -> CommandFailure {
        let (name, commands) = try commandsForClaims(at: deployment)
        return CommandFailure(
            error.code, reason: error.reason,
            message: """
                The profile \(deployment.name.onOneLine) has no claim service, so boards cannot be claimed there. Add a profile with a \
                claim service, and sign in: \(commands). Then run this command again with --profile \(name).
                """)
    }
}
