// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// One simulated identity system as a value: it answers requests and keeps its own state. It has no socket and no clock.
protocol IdentityService: Sendable {
    mutating func answer(_ call: inout IdentityCall) -> Response

    /// Returns the person of that name: an e-mail address, a screen name or a number.
    func person(named name: String) -> Person?

    /// Returns the user of an access token; nil for a token that has expired or belongs to a client.
    func user(ofAccessToken token: String, at now: Int64) -> TokenUser?

    /// Returns the user of an access token, and the sign-in that it belongs to; nil for a system whose tokens do not show it.
    func login(ofAccessToken token: String, at now: Int64) -> (user: TokenUser, login: String)?

    /// Returns the sign-in that an ID token belongs to; nil for a token that has expired or was not issued here.
    func login(ofIDToken token: String, at now: Int64) -> String?

    /// Expires all access tokens and cookies of that person. Refresh tokens stay valid.
    mutating func expire(_ person: Person, at now: Int64)

    /// Ends all sessions and revokes all tokens of that person.
    mutating func revoke(_ person: Person)

    /// Changes settings of the system for a test: the members of `POST /_sim/settings`.
    mutating func change(_ settings: Fields) throws(APIError)

    /// Returns the system's response to an internal failure.
    func failure(status: Int) -> Response
}

extension IdentityService {
    func login(ofAccessToken token: String, at now: Int64) -> (user: TokenUser, login: String)? { nil }
    func login(ofIDToken token: String, at now: Int64) -> String? { nil }

    mutating func change(_ settings: Fields) throws(APIError) {
        if settings.value.members?.isEmpty == false { throw .invalidBody }
    }
}

/// One request to a simulated identity system.
struct IdentityCall {
    let request: Request
    /// Milliseconds since 1970, by the system's own clock.
    let now: Int64
    /// The system's URL: `http://127.0.0.1:49152`.
    let base: String
    /// The text that the journal records instead of a path that contains a secret.
    var route: String?
    /// The authenticated caller. Only known people and clients are recorded here and in the journal.
    var person: String?
    var client: String?
    var notes: [IdentityNote] = []

    var method: String { request.method }
    var path: String { request.path }
    /// The parts of the path after the first slash.
    var parts: [String] { path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init) }

    func cookie(_ name: String) -> String? {
        for header in request.headers where header.name.lowercased() == "cookie" {
            for part in header.value.split(separator: ";") {
                let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                if pair.count == 2, pair[0].trimmingSpaces() == name { return pair[1].trimmingSpaces() }
            }
        }
        return nil
    }

    /// The token of `Authorization: Bearer` (RFC 6750, 2.1). The text after a comma does not belong to it.
    var bearer: String? {
        guard let header = request.header("Authorization"), header.lowercased().hasPrefix("bearer ") else { return nil }
        let token = header.dropFirst(7).prefix { $0 != "," }.trimmingSpaces()
        return token.isEmpty ? nil : token
    }

    mutating func note(_ event: IdentityNote.Event, _ outcome: String, _ more: (inout IdentityNote) -> Void = { _ in })
    {
        var note = IdentityNote(event: event, outcome: outcome, client: client, person: person)
        more(&note)
        notes.append(note)
    }
}

/// An event that the journal records in addition to the request. Its texts are constants of the simulator and the names of known clients
/// and people, so it cannot contain a secret.
struct IdentityNote: Sendable {
    enum Event: String { case authorize, login, token, exchange, logout, account, signature }

    var event: Event
    /// `shown`, `granted`, `denied`, `refused`, `rotated`, `reused`, ….
    var outcome: String
    var client: String?
    var person: String?
    /// The grant type, or the kind of object.
    var kind: String?
    var reason: String?
    /// Whether an authorization request has a code challenge (RFC 7636) and a state.
    var isProtected: (pkce: Bool, state: Bool)?
}

/// The user of an access token.
struct TokenUser: Sendable, Equatable {
    /// The system's id for the user.
    var id: String
    var email: String
}

extension Journal {
    /// Records one request to a simulated system, and its outcome.
    func identity(_ call: IdentityCall, system: IdentitySystem, status: Int, fault: String?) {
        let head: [JSONValue.Member] = [.init("provider", .string(system.rawValue))]
        for note in call.notes {
            write(note.event.rawValue, head + note.members)
        }
        var members =
            head + [
                .init("method", .string(String(call.method.prefix(16)))),
                .init("path", .string(call.route ?? String(call.path.prefix(256)))),
                .init("status", .integer(Int64(status))),
            ]
        if let client = call.client { members.append(.init("client", .string(client))) }
        if let person = call.person { members.append(.init("user", .string(person))) }
        if let fault { members.append(.init("fault", .string(fault))) }
        write("request", members)
    }
}

extension IdentityNote {
    fileprivate var members: [JSONValue.Member] {
        var members: [JSONValue.Member] = [.init("outcome", .string(outcome))]
        if let client { members.append(.init("client", .string(client))) }
        if let person { members.append(.init("user", .string(person))) }
        if let kind { members.append(.init("kind", .string(kind))) }
        if let reason { members.append(.init("reason", .string(reason))) }
        if let isProtected {
            members += [.init("pkce", .bool(isProtected.pkce)), .init("state", .bool(isProtected.state))]
        }
        return members
    }
}

/// Sign-in and consent pages in plain HTML: no script, no picture, no external resource, every text escaped.
///
/// All systems use the same names, so that one test driver works with all: `#username`, `#password`, `#remember`, `#allow`, `#deny`, and
/// `#failure` for the error.
enum IdentityPage {
    /// Makes the sign-in form. It is sent to the page's own address. `extra` is HTML inside the form, `note` is before it.
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

    /// Makes the consent form of an application. `handle` identifies the request, and can be used once.
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
        // No form-action: it would also forbid the redirect of the answer, for example to an application's own scheme.
        response.headers.append(.init("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"))
        return response
    }

    private static func inputs(_ fields: [Request.Field]) -> String {
        fields.map { "<input type=\"hidden\" name=\"\(escaped($0.name))\" value=\"\(escaped($0.value))\">\n" }.joined()
    }

    private static func notice(_ failure: String?) -> String {
        failure.map { "<p id=\"failure\" role=\"alert\">\(escaped($0)).</p>\n" } ?? ""
    }

    static func escaped(_ text: String) -> String { SignInPage.escaped(text) }
}

/// Redirects to `target` with these parameters in its query, or after a `#`.
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
