import RainKit

/// Where a sign-in page may send the browser afterwards.
struct BrowserRoute: Sendable {
    /// Whose page it is.
    var name: String
    var usual: RedirectWay
    var loopbackPath = "/callback"
    var relay: String?
    var relayTakesExtendedState = false
    var schemeRedirect: String?
    /// The command that adds a way that is missing, if there is one.
    var howToAdd: String?

    init(_ deployment: Deployment) {
        let web = deployment.webSignIn
        name = "the profile \(deployment.name)"
        usual = web.relay == nil ? .loopback : .relay
        loopbackPath = web.loopbackPath
        relay = web.relay
        relayTakesExtendedState = web.relayTakesExtendedState
        schemeRedirect = web.schemeRedirect
        howToAdd = "profile add"
    }

    /// As the provider's definition has it, or as the person says.
    init(_ provider: ConfiguredProvider, redirectURI: String?) throws(AccountError) {
        name = "the provider \(provider.name)"
        let redirects = provider.definition.redirects ?? []
        for redirect in redirects {
            switch redirect.way {
            case "loopback": loopbackPath = redirect.path ?? loopbackPath
            case "relay": relay = relay ?? redirect.uri.flatMap { provider.text($0) }
            default: schemeRedirect = schemeRedirect ?? redirect.uri.flatMap { provider.text($0) }
            }
        }
        usual = redirects.first.flatMap { RedirectWay(rawValue: $0.way) } ?? .loopback
        guard let redirectURI else { return }
        if redirectURI.hasPrefix("http://127.0.0.1") || redirectURI.hasPrefix("http://[::1]") {
            usual = .loopback
            let rest = redirectURI.dropFirst(7)
            loopbackPath = rest.firstIndex(of: "/").map { String(rest[$0...]) } ?? "/"
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
