// SPDX-License-Identifier: Apache-2.0
import RainAccount

/// Chooses how a browser's answer is heard.
struct UserAgentChoice {
    var method: BrowserMethod
    var route: RedirectRoute
    var tools: RainKitTools

    private var way: RedirectRoute.Way { method.way ?? route.usual }

    func agent() throws(AccountError) -> any AuthorizationUserAgent {
        if method.onlyPasted { return try pasteAgent() }
        let (limit, show, pasted, report) = (method.limit, method.show, method.pasted, method.report)
        switch way {
        case .loopback:
            return LoopbackUserAgent(
                port: try loopbackPort() ?? 0, path: route.loopbackPath, pasted: pasted, within: limit, by: tools.timer,
                report: report, show: show)
        case .relay:
            return RelayUserAgent(
                relay: try relay(), port: method.port ?? 0, sendsExtendedState: route.relayTakesExtendedState,
                pasted: pasted, within: limit, by: tools.timer, report: report, show: show)
        case .scheme:
            let redirect = try schemeRedirect()
            guard let handling = method.schemeHandler else {
                throw AccountError(
                    .cannotListen, message: "this program has no handler for addresses of a scheme of its own",
                    remedies: [.pastedAddress])
            }
            return CustomSchemeUserAgent(
                redirectURI: redirect, folder: try handling.folder(), pasted: pasted, within: limit, by: tools.timer,
                register: handling.register, report: report, show: show)
        }
    }

    private func pasteAgent() throws(AccountError) -> any AuthorizationUserAgent {
        guard let pasted = method.pasted else {
            throw AccountError(.invalidConfiguration, message: "nobody can paste the page's answer here")
        }
        return PasteUserAgent(
            redirectURI: try pasteTarget(), pasted: pasted, within: method.limit, by: tools.timer, show: method.show)
    }

    /// A registered redirect URI at which nothing needs to answer.
    private func pasteTarget() throws(AccountError) -> String {
        switch way {
        case .relay: return try relay()
        case .scheme: return try schemeRedirect()
        case .loopback:
            if let port = try loopbackPort() { return "http://127.0.0.1:\(port)\(route.loopbackPath)" }
            // Any port will do, so one at which hardly anything answers.
            let bytes = tools.randomBytes(2)
            let port = 49152 + (Int(bytes[0]) << 8 | Int(bytes[1])) % 16384
            return "http://127.0.0.1:\(port)\(route.loopbackPath)"
        }
    }

    /// The port that is asked for or registered; nil where any will do.
    private func loopbackPort() throws(AccountError) -> UInt16? {
        if let port = method.port ?? route.loopbackPort { return port }
        guard route.comparesPort else { return nil }
        throw AccountError(
            .missingParameter,
            message:
                "\(route.name) compares redirect URIs exactly, the port too: register http://127.0.0.1:PORT\(route.loopbackPath) there, PORT being a free one of this machine",
            remedies: [.otherCallbackPort])
    }

    private func relay() throws(AccountError) -> String {
        guard let relay = route.relay else { throw missing("relay page") }
        return relay
    }

    private func schemeRedirect() throws(AccountError) -> String {
        guard let redirect = route.schemeRedirect else { throw missing("redirect URI with a scheme of its own") }
        return redirect
    }

    private func missing(_ what: String) -> AccountError {
        AccountError(
            .invalidConfiguration, message: "\(route.name) has no \(what)", remedies: [.otherRedirect])
    }
}
