// SPDX-License-Identifier: Apache-2.0

/// The hosted pages: plain HTML without scripts, so that a browser, a test and `curl` can use them.
enum SignInPage {
    /// The user pool itself, as `identity_provider` names it.
    static let ownProvider = "COGNITO"

    /// User and password, and a button for each identity provider.
    static func password(providers: [String], query: String, failure: String?) -> Response {
        let buttons = providers.map { provider in
            """
            <li><a id="provider-\(escaped(provider))" href="?\(escaped(query))&amp;identity_provider=\(percentEncoded(provider))">\
            Continue with \(escaped(provider))</a></li>
            """
        }
        return page(
            status: failure == nil ? 200 : 400, title: "Sign in",
            """
            \(notice(failure))<form method="post" action="?\(escaped(query))">
            <label>User <input id="username" name="username" autocomplete="username" required autofocus></label>
            <label>Password <input id="password" name="password" type="password" autocomplete="current-password"></label>
            <button id="allow" name="action" value="allow">Sign in</button>
            <button id="deny" name="action" value="deny" formnovalidate>Cancel</button>
            </form>
            <ul>
            \(buttons.joined(separator: "\n"))
            </ul>
            """)
    }

    /// The page of an identity provider: user name and consent.
    static func consent(provider: String, user: String, query: String, failure: String?) -> Response {
        page(
            status: failure == nil ? 200 : 400, title: "\(provider) (simulated)",
            """
            \(notice(failure))<p>RainMaker wants to know your \(escaped(provider)) account.</p>
            <form method="post" action="?\(escaped(query))">
            <label>Account <input id="username" name="username" value="\(escaped(user))" required></label>
            <button id="allow" name="action" value="allow">Allow</button>
            <button id="deny" name="action" value="deny" formnovalidate>Deny</button>
            </form>
            """)
    }

    /// The code that was sent to the user, after the password.
    static func secondStep(session: String, query: String, failure: String?) -> Response {
        page(
            status: failure == nil ? 200 : 400, title: "Enter the code",
            """
            \(notice(failure))<p>A code was sent to you.</p>
            <form method="post" action="?\(escaped(query))">
            <input type="hidden" name="session" value="\(escaped(session))">
            <label>Code <input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" required></label>
            <button id="allow" name="action" value="allow">Go on</button>
            <button id="deny" name="action" value="deny" formnovalidate>Cancel</button>
            </form>
            """)
    }

    static func failure(_ reason: String) -> Response {
        page(status: 400, title: "This sign-in cannot begin", "<p id=\"failure\">\(escaped(reason)).</p>")
    }

    static func page(status: Int, title: String, head: String = "", _ body: String) -> Response {
        let text = """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><title>\(escaped(title))</title>\(head)</head>
            <body><h1>\(escaped(title))</h1>
            \(body)
            </body></html>

            """
        return Response(
            status: status, content: .html(text),
            headers: OAuthFailure.uncached + [.init("Referrer-Policy", "no-referrer")])
    }

    private static func notice(_ failure: String?) -> String {
        failure.map { "<p id=\"failure\" role=\"alert\">\(escaped($0)).</p>\n" } ?? ""
    }

    /// For text and quoted attributes.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
