// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// How to sign in through a browser.
struct BrowserOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Sign in with github, google, apple or another identity provider of the deployment.", valueName: "name"))
    var idp: String?

    @Flag(help: "Open the sign-in page in a browser, even if none seems to be here.")
    var browser = false

    @Flag(help: "Print the sign-in page's address instead of opening it.")
    var noBrowser = false

    @Flag(help: "Listen for nothing: paste the address that the browser ends on, or pipe it in.")
    var paste = false

    @Option(help: ArgumentHelp("Listen for the browser on this port.", valueName: "port"))
    var callbackPort: UInt16?

    @Option(
        help: ArgumentHelp(
            "How the browser comes back: loopback, relay or scheme; by default as the deployment has it.",
            valueName: "way"))
    var redirect: RedirectWay?

    /// Whether a browser is to be used at all.
    var isWanted: Bool {
        idp != nil || browser || noBrowser || paste || callbackPort != nil || redirect != nil
    }

    func validate() throws {
        if browser && noBrowser { throw ValidationError("--browser and --no-browser exclude each other.") }
        if paste && callbackPort != nil {
            throw ValidationError("--paste listens on no port: leave --callback-port away.")
        }
        if redirect == .scheme && callbackPort != nil {
            throw ValidationError("--redirect scheme listens on no port: leave --callback-port away.")
        }
    }
}

enum RedirectWay: String, ExpressibleByArgument, CaseIterable { case loopback, relay, scheme }
