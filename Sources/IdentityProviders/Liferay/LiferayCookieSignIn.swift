// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP

/// A sign-in at a portal's own form, step by step. Each answer leads to the next request, until a page arrives.
///
/// The form's own page is requested first. Newer portals accept a form only with the token in this page (`p_auth`), which is bound to the
/// session that the page begins. If a portal shows no such page, or no token in it, the form is sent without a token.
///
/// The page does not show whether a user is signed in, because a network's own sign-in page has status 200 too.
///
/// This type does no I/O. Redirects are followed only on the portal's own address, as GET, so that the password is sent once and to nobody
/// else.
struct LiferayCookieSignIn: Sendable {
    enum Step: Sendable {
        case send(HTTPRequest)
        /// The server asks for authentication before the form's answer counts.
        case challenge(AuthenticationChallenge)
        case done(LiferayCookies)
    }

    /// The maximum number of redirects. A portal needs two or three; browsers give up after twenty.
    static let maximumRedirects = 10

    static let unverified =
        "the account's e-mail address is not confirmed yet; follow the link that was sent to it"

    private let server: ServiceURL
    private let form: Secret
    private var isAtForm = true
    private var jar = CookieJar()
    /// Whether any answer has set cookies, as a portal's answers do.
    private var setsCookies = false
    private var redirects = 0
    private var failures = 0
    private var asked: HTTPRequest
    private var preAuthorization: HTTPHeader?

    /// - Parameter preAuthorization: the header that a server in front of the portal accepted in an earlier sign-in.
    init(
        server: ServiceURL, user: String, password: Secret, preAuthorization: LiferayCookies.PreAuthorization? = nil
    ) {
        self.server = server
        self.preAuthorization = preAuthorization.map { HTTPHeader($0.name, $0.value.revealString()) }
        var fields: [UInt8] = []
        let parts: [(String, Secret)] = [
            ("login", Secret(user)), ("password", password), ("rememberMe", Secret("true")),
        ]
        for (name, value) in parts {
            if !fields.isEmpty { fields.append(UInt8(ascii: "&")) }
            fields += name.utf8
            fields.append(UInt8(ascii: "="))
            fields += FormEncoding.encoded(value.revealString()).utf8
        }
        form = Secret(fields)
        asked = HTTPRequest(method: .post, url: server.text)
        // Portals refuse a form from a browser that has not shown that it accepts cookies.
        jar.set("COOKIE_SUPPORT", Secret("true"))
    }

    private var page: String { server.text + "/c/portal/login" }

    mutating func start() -> HTTPRequest { send(.get, page) }

    /// Sends the form, once.
    private mutating func submit(token: Secret?) -> Step {
        isAtForm = false
        redirects = 0
        var body = form.revealBytes()
        if let token { body += "&\(LiferayAuthToken.parameter)=\(FormEncoding.encoded(token.revealString()))".utf8 }
        return .send(send(.post, page, [HTTPHeader("Content-Type", TokenRequest.contentType)], body))
    }

    /// Returns the next step after the answer to the last request.
    mutating func next(_ response: HTTPResponse) throws(AccountError) -> Step {
        jar.take(from: response, host: server.authority)
        setsCookies = setsCookies || response.header("Set-Cookie") != nil
        switch response.status {
        case 401, 407:
            guard
                let challenge = AuthenticationChallenge(
                    response, host: server.authority, previousFailureCount: failures)
            else { throw refused(response.status) }
            return .challenge(challenge)
        case 301, 302, 303: return try follow(response)
        case 300..<400:
            throw AccountError(
                .moved,
                message:
                    "the portal's address has moved\(response.newAddress.map { " to \($0)" } ?? "") (HTTP \(response.status)); configure the "
                    + "new address",
                status: response.status)
        // The form's page does not matter. Only the portal's answer to the form counts.
        case _ where isAtForm: return submit(token: LiferayAuthToken.find(in: response.body))
        // Portals answer a form that they cannot read with a fault.
        case 500:
            throw AccountError(
                .forbidden, message: "\(server.authority) did not sign the user in (HTTP 500)", status: 500)
        case 501...:
            throw AccountError(
                .serverFault,
                message: "\(server.authority) \(serverTrouble(response.status)); try again later",
                status: response.status)
        case 403:
            throw AccountError(
                .forbidden,
                message:
                    "\(server.authority) did not accept the sign-in form (HTTP 403). The form's token may be wrong, or the portal may "
                    + "not allow this kind of sign-in",
                status: 403)
        case 200..<300: return .done(try session(in: response))
        default:
            guard response.status != 401, let refusal = LiferayReply.refusal(response, from: server.authority) else {
                throw refused(response.status)
            }
            throw refusal
        }
    }

    /// Returns the last request with the answer to a challenge.
    mutating func answer(with header: HTTPHeader) -> HTTPRequest {
        failures += 1
        preAuthorization = header
        asked.headers.removeAll { $0.name.lowercased() == header.name.lowercased() }
        asked.headers.append(header)
        return asked
    }

    // MARK: Steps

    private mutating func send(
        _ method: HTTPRequest.Method, _ url: String, _ headers: [HTTPHeader] = [], _ body: [UInt8] = []
    ) -> HTTPRequest {
        var all = [HTTPHeader("Accept", "text/html"), HTTPHeader("User-Agent", "RainKit")] + headers
        if let cookies = jar.header { all.append(HTTPHeader("Cookie", cookies.revealString())) }
        if let preAuthorization { all.append(preAuthorization) }
        let request = HTTPRequest(
            method: method, url: url, headers: all, body: body, deadline: .seconds(10),
            maximumResponseBytes: LiferayAuthToken.maximumPageBytes)
        asked = request
        return request
    }

    private mutating func follow(_ response: HTTPResponse) throws(AccountError) -> Step {
        guard redirects < Self.maximumRedirects else {
            throw AccountError(
                .malformedAnswer, message: "\(server.authority) redirects sign-ins in a circle",
                status: response.status)
        }
        guard let location = response.header("Location"), let url = target(of: location) else {
            throw AccountError(
                .moved,
                message:
                    "the portal redirects sign-ins to another address\(response.newAddress.map { " (\($0))" } ?? ""); configure "
                    + "that address",
                status: response.status)
        }
        if url.contains("verify_email_address") {
            throw AccountError(.unverifiedUser, message: Self.unverified, status: response.status)
        }
        redirects += 1
        return .send(send(.get, url))
    }

    /// Returns the address on this portal to which a redirect leads; nil for any other address.
    private func target(of location: String) -> String? {
        guard location.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x5C }), location.utf8.count <= 4096 else {
            return nil
        }
        let withoutFragment = String(location.prefix { $0 != "#" })
        let scheme = server.text.prefix { $0 != ":" }
        let origin = "\(scheme)://\(server.authority)"
        if withoutFragment.hasPrefix("/"), !withoutFragment.hasPrefix("//") { return origin + withoutFragment }
        guard withoutFragment.lowercased().hasPrefix(origin.lowercased()) else { return nil }
        let rest = withoutFragment.dropFirst(origin.count)
        return rest.isEmpty || rest.first == "/" || rest.first == "?" ? origin + rest : nil
    }

    private func session(in response: HTTPResponse) throws(AccountError) -> LiferayCookies {
        let token = LiferayAuthToken.find(in: response.body)
        guard token != nil || setsCookies else {
            throw AccountError(
                .malformedAnswer,
                message:
                    "\(server.authority) answered with a web page that is not from the portal. A network's sign-in page or a closed server "
                    + "may have sent it; try again later",
                status: response.status)
        }
        return LiferayCookies(
            jar: jar, token: token,
            preAuthorization: preAuthorization.map { .init(name: $0.name, value: Secret($0.value)) })
    }

    /// Returns the error for a refusal without a challenge. It may come from the portal or from a server in front of it.
    private func refused(_ status: Int) -> AccountError {
        AccountError(
            .invalidCredentials,
            message: "\(server.authority) does not accept the user name or the password (HTTP \(status))",
            status: status)
    }
}

/// A browser's session at a portal, without a browser.
struct LiferayCookies: Sendable, Equatable {
    var jar: CookieJar
    /// The token that marks requests of the portal's own pages; nil if the page has none.
    var token: Secret?
    /// The header that a server in front of the portal needs with each request.
    var preAuthorization: PreAuthorization?

    struct PreAuthorization: Sendable, Equatable {
        var name: String
        var value: Secret
    }
}

/// Runs a ``LiferayCookieSignIn`` from its first request to its end.
struct LiferayCookieRun: Sendable {
    let tools: ProviderTools

    func run(_ signIn: LiferayCookieSignIn) async throws(AccountError) -> LiferayCookies {
        var signIn = signIn
        var request = signIn.start()
        while true {
            let response: HTTPResponse
            do throws(HTTPError) { response = try await tools.http.send(request) } catch { throw AccountError(error) }
            switch try signIn.next(response) {
            case .done(let cookies): return cookies
            case .send(let next): request = next
            case .challenge(let challenge): request = signIn.answer(with: try await tools.answer(challenge))
            }
        }
    }
}

/// Finds the token with which a portal recognizes requests of its own pages, in contrast to requests that other sites cause (`p_auth`).
/// Every page has it in a script, `Liferay.authToken = '…';`. Requests return it in `X-CSRF-Token`.
enum LiferayAuthToken {
    static let header = "X-CSRF-Token"
    /// The token's name in a form.
    fileprivate static let parameter = "p_auth"
    /// The maximum size of a page in bytes. Pages of portals have a few hundred kilobytes.
    fileprivate static let maximumPageBytes = 2 << 20

    /// Returns the token in a page; nil if it has none.
    static func find(in page: [UInt8]) -> Secret? {
        let name = Array("Liferay.authToken".utf8)
        var rest = page.prefix(maximumPageBytes)[...]
        while let start = firstIndex(of: name, in: rest) {
            rest = rest[(start + name.count)...]
            if let token = value(after: rest) { return token }
        }
        return nil
    }

    /// Returns the text that is assigned here, in either kind of quotation marks.
    private static func value(after rest: ArraySlice<UInt8>) -> Secret? {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        var text = rest.drop(while: isSpace)
        guard text.popFirst() == UInt8(ascii: "=") else { return nil }
        text = text.drop(while: isSpace)
        guard let mark = text.popFirst(), mark == UInt8(ascii: "'") || mark == UInt8(ascii: "\"") else { return nil }
        let token = text.prefix { $0 != mark }
        // The token usually has eight letters and digits. It only has to fit into a header.
        guard (1...64).contains(token.count), text.dropFirst(token.count).first == mark,
            token.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return Secret(Array(token))
    }

    private static func firstIndex(of pattern: [UInt8], in text: ArraySlice<UInt8>) -> Int? {
        guard text.count >= pattern.count, let first = pattern.first else { return nil }
        var index = text.startIndex
        while index <= text.endIndex - pattern.count {
            if text[index] == first, text[index..<index + pattern.count].elementsEqual(pattern) { return index }
            index += 1
        }
        return nil
    }
}
