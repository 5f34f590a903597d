// SPDX-License-Identifier: Apache-2.0

/// The page that RainMaker has registered as the redirect of command-line tools (`welcome.html`): it sends the browser on
/// to the tool on this machine, whose port stands in the state (`port:N`).
enum RelayPage {
    static let path = "/welcome.html"

    /// The parameters that are passed on. A state that is longer than `port:N` is among them, as the tool has put something into it.
    private static let handedOn = ["code", "error", "error_description"]

    static func respond(to request: Request) -> Response {
        guard let state = request.query("state"), let port = port(in: state) else {
            return SignInPage.page(
                status: 400, title: "Nobody waits for this sign-in",
                "<p id=\"failure\">The state does not say which port to go to.</p>")
        }
        var fields = request.query.filter { handedOn.contains($0.name) }
        if state.split(separator: ":").count > 2 { fields.append(.init("state", state)) }
        let target = SignInPage.escaped("http://localhost:\(port)/?\(formEncoded(fields))")
        return SignInPage.page(
            status: 200, title: "Welcome to RainMaker",
            head: "<meta http-equiv=\"refresh\" content=\"0;url=\(target)\">",
            "<p><a id=\"onward\" href=\"\(target)\">Go on to the program that asked</a></p>")
    }

    /// The N of `port:N`, and of `port:N:anything`.
    static func port(in state: String) -> UInt16? {
        let parts = state.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0] == "port", parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = UInt16(parts[1]), port > 0
        else { return nil }
        return port
    }
}
