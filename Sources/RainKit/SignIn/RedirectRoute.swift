// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainMaker

/// Where a sign-in page may send the browser afterwards.
public struct RedirectRoute: Sendable {
    /// How the browser comes back.
    public enum Way: String, Sendable, CaseIterable { case loopback, relay, scheme }

    /// Whose page it is.
    public var name: String
    /// The way where none is chosen.
    public var usual: Way
    /// The path registered for 127.0.0.1 and ::1.
    public var loopbackPath = "/callback"
    /// The port registered for 127.0.0.1 and ::1; nil where any may be chosen, or none was named.
    public var loopbackPort: UInt16?
    /// Whether the page compares the port as well, against RFC 8252, section 7.3.
    public var comparesPort = false
    /// The registered page that sends browsers on to this machine.
    public var relay: String?
    /// Whether the relay page hands on a `state` that has a random part behind the port (`port:N:RANDOM`).
    public var relayTakesExtendedState = false
    /// The registered address with a scheme of its own.
    public var schemeRedirect: String?

    /// As the deployment has registered its sign-in page: through its relay page if it has one, else to this machine.
    public init(_ deployment: Deployment) {
        let web = deployment.webSignIn
        name = "the profile \(deployment.name)"
        usual = web.relay == nil ? .loopback : .relay
        loopbackPath = web.loopbackPath
        relay = web.relay
        relayTakesExtendedState = web.relayTakesExtendedState
        schemeRedirect = web.schemeRedirect
    }

    /// As the provider's definition has it, or as the person says.
    public init(_ provider: ConfiguredProvider, redirectURI: String? = nil) {
        name = provider.title
        let redirects = provider.definition.redirects ?? []
        for redirect in redirects {
            switch redirect.way {
            case "loopback":
                loopbackPath = redirect.path ?? loopbackPath
                comparesPort = redirect.exactPort ?? false
            case "relay": relay = relay ?? redirect.uri.flatMap { provider.url($0) }
            default: schemeRedirect = schemeRedirect ?? redirect.uri.flatMap { provider.url($0) }
            }
        }
        usual = redirects.first.flatMap { Way(rawValue: $0.way) } ?? .loopback
        if let redirectURI { take(redirectURI) }
    }

    private mutating func take(_ redirectURI: String) {
        if redirectURI.hasPrefix("http://127.0.0.1") || redirectURI.hasPrefix("http://[::1]") {
            usual = .loopback
            let rest = redirectURI.dropFirst(7)
            let path = rest.firstIndex(of: "/") ?? rest.endIndex
            loopbackPath = path == rest.endIndex ? "/" : String(rest[path...])
            loopbackPort = rest[..<path].split(separator: ":").last.flatMap { UInt16($0) }
        } else if redirectURI.hasPrefix("https://") || redirectURI.hasPrefix("http://") {
            // Nothing here can hear what goes to another machine: it is pasted.
            usual = .relay
            relay = redirectURI
        } else {
            usual = .scheme
            schemeRedirect = redirectURI
        }
    }
}
