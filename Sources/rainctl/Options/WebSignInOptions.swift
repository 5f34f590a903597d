// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

/// Where a deployment's sign-in page is and how it redirects browsers. The defaults are those of Espressif's clouds.
struct WebSignInOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The page's path below --auth-url.", valueName: "path"))
    var authorizePath: String?

    @Option(help: ArgumentHelp("The token endpoint's path below --auth-url.", valueName: "path"))
    var tokenPath: String?

    @Option(help: ArgumentHelp("What is asked for, separated by spaces.", valueName: "scope"))
    var scope: String?

    @Option(help: ArgumentHelp("The page that sends browsers on to localhost.", valueName: "url"))
    var relayURL: String?

    @Flag(help: "That page hands on a state with a random part behind the port.")
    var relayExtendedState = false

    @Option(help: ArgumentHelp("The path registered for 127.0.0.1 and ::1.", valueName: "path"))
    var loopbackPath: String?

    @Option(help: ArgumentHelp("The registered address with a scheme of its own.", valueName: "uri"))
    var schemeRedirect: String?

    func webSignIn() throws(AccountError) -> WebSignIn {
        let usual = WebSignIn.standard
        return try WebSignIn(
            authorizePath: authorizePath ?? usual.authorizePath, tokenPath: tokenPath ?? usual.tokenPath,
            scope: scope.map { $0.split(separator: " ").map(String.init) } ?? usual.scope, relay: relayURL,
            relayTakesExtendedState: relayExtendedState, loopbackPath: loopbackPath ?? usual.loopbackPath,
            schemeRedirect: schemeRedirect)
    }
}
