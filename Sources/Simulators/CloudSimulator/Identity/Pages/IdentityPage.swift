// SPDX-License-Identifier: Apache-2.0

/// Sign-in and consent as plain HTML: no script, no picture, nothing from elsewhere, every text escaped.
///
/// All systems use the same names, so that one test driver fits all: `#username`, `#password`, `#remember`, `#allow`, `#deny`,
/// and `#failure` for what went wrong.
enum IdentityPage {
    /// The sign-in form. It is sent to the address that the page came from; `extra` is HTML inside of it, `note` before it.
    static func signIn(
        title: String, userLabel: String = "E-mail", userField: String = "username", query: [Request.Field],
        hidden: [Request.Field] = [], extra: String = "", canRemember: Bool = false, failure: String? = nil,
        note: String = "", button: String = "Sign in"
    ) -> Response {
        let remember =
            canRemember
            ? "<label><input id=\"remember\" name=\"remember\" type=\"checkbox\" value=\"1\"> Remember me</label>\n"
            : ""
        return page(
            status: failure == nil ? 200 : 400, title: title,
            """
            \(notice(failure))\(note)<form method="post" action="?\(escaped(formEncoded(query)))">
            \(inputs(hidden))\(extra)<label>\(escaped(userLabel)) <input id="username" name="\(userField)" \
            autocomplete="username" required autofocus></label>
            <label>Password <input id="password" name="password" type="password" autocomplete="current-password"></label>
            \(remember)<button id="allow" name="action" value="allow">\(escaped(button))</button>
            <button id="deny" name="action" value="deny" formnovalidate>Cancel</button>
            </form>
            """)
    }

    /// The consent form of an application. `handle` names the request, and can be used once.
    static func consent(
        title: String, person: String, application: String, wants: [String], query: [Request.Field], handle: String,
        headers: [Request.Field] = []
    ) -> Response {
        let list = wants.map { "<li class=\"scope\">\(escaped($0))</li>" }.joined(separator: "\n")
        var response = page(
            status: 200, title: title,
            """
            <p>You are <b id="person">\(escaped(person))</b>. <b id="application">\(escaped(application))</b> asks for:</p>
            <ul>
            \(list)
            </ul>
            <form method="post" action="?\(escaped(formEncoded(query)))">
            \(inputs([.init("handle", handle)]))<button id="allow" name="action" value="allow" autofocus>Allow</button>
            <button id="deny" name="action" value="deny">Deny</button>
            </form>
            """)
        response.headers += headers
        return response
    }

    static func message(status: Int, title: String, _ text: String, id: String = "failure") -> Response {
        page(status: status, title: title, "<p id=\"\(id)\">\(escaped(text)).</p>")
    }

    static func page(status: Int, title: String, head: String = "", _ body: String) -> Response {
        var response = SignInPage.page(status: status, title: title, head: head, body)
        // No form-action: it would also forbid where the answer redirects to, an application's own scheme for one.
        response.headers.append(.init("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"))
        return response
    }

    static func inputs(_ fields: [Request.Field]) -> String {
        fields.map { "<input type=\"hidden\" name=\"\(escaped($0.name))\" value=\"\(escaped($0.value))\">\n" }.joined()
    }

    static func notice(_ failure: String?) -> String {
        failure.map { "<p id=\"failure\" role=\"alert\">\(escaped($0)).</p>\n" } ?? ""
    }

    static func escaped(_ text: String) -> String { SignInPage.escaped(text) }
}

/// A redirect to `target` with these parameters in its query, or behind a `#`.
func redirect(
    to target: String, _ parameters: [Request.Field], inFragment: Bool = false, headers: [Request.Field] = []
) -> Response {
    var location = target
    if !parameters.isEmpty {
        location += (inFragment ? "#" : target.contains("?") ? "&" : "?") + formEncoded(parameters)
    }
    return Response(
        status: 302, content: .none, headers: [.init("Location", location)] + OAuthFailure.uncached + headers)
}
