// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

/// How to sign in to an identity provider other than RainMaker.
struct ProviderSignInOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Sign in to spid, liferay, oclc, oidc, neo or a definition of your own (see: rainctl account providers).",
            valueName: "name"))
    var provider: String?

    @Option(
        help: ArgumentHelp(
            "The way in: browser, implicit, device, password, client-credentials, assertion, or one of the provider's own.",
            valueName: "mode"))
    var mode: String?

    @Option(help: ArgumentHelp("Which of the provider's systems, such as stage.", valueName: "name"))
    var environment: String?

    @Option(name: .customLong("base-url"), help: ArgumentHelp("The provider's base URL.", valueName: "url"))
    var base: String?

    @Option(name: .customLong("client-id"), help: ArgumentHelp("This client's id at the provider.", valueName: "id"))
    var clientID: String?

    @Option(
        help: ArgumentHelp("Read the client's secret from this file, now and later.", valueName: "file"),
        completion: .file())
    var clientSecretFile: String?

    @Option(help: ArgumentHelp("What to ask for, separated by spaces.", valueName: "scope"))
    var scope: String?

    @Option(
        help: ArgumentHelp("One of the provider's parameters, as name=value; again for more.", valueName: "setting"))
    var set: [String] = []

    @Option(
        help: ArgumentHelp(
            "Where one of the provider's secrets is, as name=file; again for more.", valueName: "setting"))
    var secretFile: [String] = []

    @Option(
        name: .customLong("redirect-uri"),
        help: ArgumentHelp("Where the client is registered to be sent.", valueName: "uri"))
    var redirectURI: String?

    @Flag(help: "Sign in on another device: a code is shown to be entered there.")
    var deviceCode = false

    @Option(help: ArgumentHelp("Sign in with another provider's token, such as facebook's.", valueName: "provider"))
    var thirdParty: String?

    @Option(
        help: ArgumentHelp("Read that token from a file; - is standard input.", valueName: "file"), completion: .file())
    var thirdPartyTokenFile: String?

    @Option(
        help: ArgumentHelp(
            "When that token ends: a date such as 2030-01-01T12:00:00Z, or the time from now: 3600, 60m.",
            valueName: "time"))
    var thirdPartyExpires: EndArgument?

    @Option(
        name: .customLong("app-id"), help: ArgumentHelp("The application that the token was given to.", valueName: "id")
    )
    var applicationID: String?

    @Option(
        help: ArgumentHelp("Read a signed assertion from a file; - is standard input.", valueName: "file"),
        completion: .file())
    var assertionFile: String?

    @Flag(help: "Keep a password, or cookies that are renewed with one; without this they serve this sign-in only.")
    var saveCredentials = false

    @OptionGroup var challenge: ChallengeOptions

    var waitsForPerson: Bool { deviceCode || ["browser", "implicit", "device"].contains(mode) }

    /// The flag, then the environment; nil for RainMaker.
    func name(_ context: Context) -> String? {
        context.providerName(provider)
    }

    func validate(_ web: BrowserOptions) throws {
        for setting in set + secretFile where setting.firstIndex(of: "=").map({ $0 > setting.startIndex }) != true {
            throw ValidationError("--set and --secret-file take name=value, and \"\(setting)\" is none.")
        }
        if deviceCode, web.isWanted || mode != nil {
            throw ValidationError("--device-code needs no browser here and no --mode: it goes without.")
        }
        if thirdParty != nil, thirdPartyTokenFile == nil {
            throw ValidationError("--third-party wants its token: --third-party-token-file FILE, - for standard input.")
        }
        if thirdPartyExpires != nil, thirdParty == nil {
            throw ValidationError(
                "--third-party-expires is the end of a third party's token: it goes with --third-party.")
        }
        if thirdParty != nil, assertionFile != nil {
            throw ValidationError("--third-party and --assertion-file exclude each other.")
        }
    }

    /// The settings that a later command needs too.
    func settings(_ context: Context, for provider: String) throws(CommandFailure) -> RememberedProviders.Settings {
        var settings = RememberedProviders.Settings(provider: provider)
        settings.environment = environment
        settings.base = base
        settings.clientID = clientID
        settings.clientSecretFile = try clientSecretFile.map { file throws(CommandFailure) in try absolute(file) }
        settings.scope = scope.map { $0.split(separator: " ").map(String.init) }
        var parameters: [String: String] = [:]
        for setting in set {
            let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            parameters[String(parts[0])] = String(parts[1])
        }
        settings.parameters = parameters.isEmpty ? nil : parameters
        for setting in secretFile {
            let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            settings.secretFiles = (settings.secretFiles ?? [:]).merging([
                String(parts[0]): try absolute(String(parts[1]))
            ]) { $1 }
        }
        return settings
    }

    /// Later commands may run in another folder.
    private func absolute(_ path: String) throws(CommandFailure) -> String {
        guard let found = absolutePath(path) else {
            throw CommandFailure(
                .badData, message: "The client secret's file \(path.onOneLine) cannot be found again later.")
        }
        return found
    }
}
