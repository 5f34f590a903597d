// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainKit

/// The client that a command works with: which deployment, account and provider the options and the environment name.
extension Context {
    var deploymentFile: DeploymentFile { DeploymentFile(path: "\(folders.configuration)/deployments.json") }

    /// The deployment that the flag names, then the environment, then a project, then the user, then the machine, then Espressif's own.
    func deployment() throws(AccountError) -> Deployment {
        let content = try deploymentFile.load()
        var deployment = try ProfileSettings.deployment(ProfileSettings.chosen(self, content), in: content)
        if let file = certificateAuthorities { deployment.certificateAuthorities = file }
        return deployment
    }

    var certificateAuthorities: String? { ProfileSettings.authorities(self, at: nil)?.path }

    /// What the account is called, if anybody said.
    var accountName: String? { options.account ?? variable("RAINKIT_ACCOUNT") ?? settings[.account]?.text }

    /// The flag, then the environment; nil for RainMaker.
    func providerName(_ given: String?) -> String? {
        guard let name = given ?? variable("RAINKIT_PROVIDER"), name != "rainmaker" else { return nil }
        return name
    }

    /// For the account that is named, or the one in use.
    func client(
        provider: ProviderSelection? = nil, backend: NodeMappingDescription? = nil
    ) throws(AccountError) -> RainKitClient {
        try client(provider: provider, backend: backend, account: accountName)
    }

    /// - Parameters:
    ///   - provider: the identity system, where it is not the deployment's own.
    ///   - backend: the user's own cloud, for such a provider's users.
    ///   - account: what the account is called, or is to be called where somebody signs in; nil for the one in use, or the user's name.
    func client(
        provider: ProviderSelection? = nil, backend: NodeMappingDescription? = nil, account: String?
    ) throws(AccountError) -> RainKitClient {
        let deployment = try deployment()
        try checkAuthorities(at: deployment)
        var configuration = RainKitConfiguration(state: folders.state, deployment: deployment, logger: logger)
        configuration.provider = provider
        configuration.backend = backend
        configuration.account = account
        configuration.definitions = "\(folders.configuration)/providers"
        configuration.certificateAuthorities = certificateAuthorities
        configuration.environment = environment
        configuration.transports = Transports.registered
        configuration.tools = NotedHTTPClient.tools
        followLog(in: &configuration)
        configuration.networkChange = { NetworkWords.tell($0, output) }
        return RainKitClient(configuration)
    }

    /// Otherwise every server would be one that cannot be reached.
    private func checkAuthorities(at deployment: Deployment) throws(AccountError) {
        guard let given = ProfileSettings.authorities(self, at: deployment),
            let problem = CertificateFile.problem(given.path)
        else { return }
        let place =
            switch given.origin {
            case .option(let name), .variable(let name): name
            case .file(let path), .state(let path): "ca_file in \(path.onOneLine)"
            case .builtIn: "this program"
            }
        throw AccountError(
            .invalidConfiguration,
            message: "The file of certificates \(given.path.onOneLine), which \(place) names, \(problem)")
    }

    /// For boards alone: neither the file of deployments nor an account is read.
    func boardClient() -> RainKitClient {
        var configuration = RainKitConfiguration(state: folders.state, logger: logger)
        configuration.environment = environment
        configuration.transports = Transports.registered
        configuration.tools = NotedHTTPClient.tools
        followLog(in: &configuration)
        configuration.networkChange = { NetworkWords.tell($0, output) }
        return RainKitClient(configuration)
    }

    /// Hands the lines of the board's log on to those who look at them: a file, a person at a terminal.
    private func followLog(in configuration: inout RainKitConfiguration) {
        guard StandardStreams.errIsTerminal else {
            if let deviceLog { configuration.deviceLog = { deviceLog.write($0) } }
            return
        }
        configuration.deviceLog = { [deviceLog, boardWords] in
            deviceLog?.write($0)
            boardWords.take($0)
        }
    }

    /// For the account of the provider that is named, or of the RainMaker deployment in use.
    func client(_ which: ProviderOption) throws(AccountError) -> RainKitClient {
        try client(provider: providerName(which.provider).map { ProviderSelection($0) })
    }

    /// For what only RainMaker's cloud can do. Throws `missingParameter` where the environment names another identity provider: what was
    /// asked for must not happen in somebody else's name.
    func rainMakerClient() throws(AccountError) -> RainKitClient {
        if let name = providerName(nil) {
            throw AccountError(
                .missingParameter,
                message: "only users of RainMaker can do this, and RAINKIT_PROVIDER names \(name): unset it")
        }
        return try client()
    }

    /// The accounts that were signed in on this machine.
    var accounts: AccountDirectory {
        AccountDirectory(folder: folders.state, environment: environment, logger: logger)
    }

    var providerDefinitions: ProviderFolder { ProviderFolder(path: "\(folders.configuration)/providers") }

    /// Warns where the provider is used without a file that the user has written for it, such as one with the id of a built-in provider.
    func warnOfUnusedDefinition(of provider: String) throws(AccountError) {
        guard let problem = try providerDefinitions.problem(with: provider) else { return }
        output.warn(problem.message.onOneLine, reason: "\(problem.code)")
    }

    /// Tells where a session that is kept now is, if that is not the place that one would expect.
    func tellPlace(of session: NewAccountStore?) {
        guard let session, session.account != nil, let note = session.note else { return }
        output.say("note: \(note.asSentence)")
    }
}
