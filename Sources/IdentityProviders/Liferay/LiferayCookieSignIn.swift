// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP

/// A sign-in at a portal's own form, step by step: each answer leads to the next request, until there is a page.
///
/// The form's own page comes first: newer portals take a form only with the token that stands in it (`p_auth`, bound to the session that
/// the page begins). A portal that shows no such page, or none with a token, is sent the form without.
///
/// Whether that is a signed-in user's is not for the page to say: a network's own sign-in page has status 200, too.
///
/// It reads and writes nothing itself. Redirects are followed on the portal's own address only, as GET, so that the password is sent
/// once and to nobody else.
struct LiferayCookieSignIn: Sendable {
    enum Step: Sendable {
        case send(HTTPRequest)
        /// The server wants to know who is there before the form's answer counts.
        case challenge(AuthenticationChallenge)
        case done(LiferayCookies)
    }

    /// A portal redirects two or three times; browsers give up after twenty.
    static let maximumRedirects = 10

    static let unverified =
        "the account's e-mail address is not confirmed yet; follow the link that was sent to it"

    let server: ServiceURL
    private let form: Secret
    private var isAtForm = true
    private var jar = CookieJar()
    /// Whether any answer has set cookies, as a portal's own do.
    private var setsCookies = false
    private var redirects = 0
    private var failures = 0
    private var asked: HTTPRequest
    private var preAuthorization: HTTPHeader?

    /// - Parameter preAuthorization: what let an earlier sign-in pass the server before the portal.
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
        // Portals refuse a form from a browser that has not shown that it takes cookies.
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

    /// What comes after the answer to the last request.
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
                message: "the portal's address has moved (HTTP \(response.status)); configure the new one",
                status: response.status)
        // Whatever the form's page is: what the portal says to the form itself counts.
        case _ where isAtForm: return submit(token: LiferayAuthToken.find(in: response.body))
        // Portals answer a form that they cannot make sense of with a fault of their own.
        case 500:
            throw AccountError(
                .forbidden, message: "\(server.authority) did not let the user in (HTTP 500)", status: 500)
        case 501...:
            throw AccountError(
                .serverFault,
                message: "\(server.authority) has a fault of its own (HTTP \(response.status)); try again later",
                status: response.status)
        case 403:
            throw AccountError(
                .forbidden,
                message:
                    "\(server.authority) did not take the sign-in form (HTTP 403): its page has another token, or none is let in this way",
                status: 403)
        case 200..<300: return .done(try session(in: response))
        default:
            guard response.status != 401, let refusal = LiferayReply.refusal(response, from: server.authority) else {
                throw refused(response.status)
            }
            throw refusal
        }
    }

    /// Sends the last request once more, with the answer to a challenge.
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
                .malformedAnswer, message: "\(server.authority) sends sign-ins round in a circle",
                status: response.status)
        }
        guard let location = response.header("Location"), let url = target(of: location) else {
            throw AccountError(
                .moved,
                message: "the portal sends sign-ins to another address, which was not followed; configure that one",
                status: response.status)
        }
        if url.contains("verify_email_address") {
            throw AccountError(.unverifiedUser, message: Self.unverified, status: response.status)
        }
        redirects += 1
        return .send(send(.get, url))
    }

    /// Where on this portal a redirect leads; nil for anywhere else.
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
                    "\(server.authority) showed a web page that is not the portal's, as sign-in portals and closed servers do; try again later",
                status: response.status)
        }
        return LiferayCookies(
            jar: jar, token: token,
            preAuthorization: preAuthorization.map { .init(name: $0.name, value: Secret($0.value)) })
    }

    /// For a refusal without a challenge: who refuses, the portal or something before it, cannot be told.
    private func refused(_ status: Int) -> AccountError {
        AccountError(
            .invalidCredentials,
            message: "\(server.authority) does not accept the user name or the password (HTTP \(status))",
            status: status)
    }
}

/// A browser's session at a portal, without the browser.
struct LiferayCookies: Sendable, Equatable {
    var jar: CookieJar
    /// What shows that a request comes from the portal's own page; nil where the page has none.
    var token: Secret?
    /// What a server before the portal wants with each request.
    var preAuthorization: PreAuthorization?

    struct PreAuthorization: Sendable, Equatable {
        var name: String
        var value: Secret
    }
}

/// Takes a ``LiferayCookieSignIn`` from its first request to its end.
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

/// The token by which a portal knows requests of its own pages from those that other sites make a browser send (`p_auth`): it stands in
/// a script of every page, `Liferay.authToken = '…';`, and goes back in `X-CSRF-Token`.
enum LiferayAuthToken {
    static let header = "X-CSRF-Token"
    /// What the token is called in a form.
    static let parameter = "p_auth"
    /// Pages of portals are some hundred kilobytes.
    static let maximumPageBytes = 2 << 20

    /// The token in a page; nil if it has none.
    static func find(in page: [UInt8]) -> Secret? {
        let name = Array("Liferay.authToken".utf8)
        var rest = page.prefix(maximumPageBytes)[...]
        while let start = firstIndex(of: name, in: rest) {
            rest = rest[(start + name.count)...]
            if let token = value(after: rest) { return token }
        }
        return nil
    }

    /// What is assigned right here, in quotation marks of either kind.
    private static func value(after rest: ArraySlice<UInt8>) -> Secret? {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        var text = rest.drop(while: isSpace)
        guard text.popFirst() == UInt8(ascii: "=") else { return nil }
        text = text.drop(while: isSpace)
        guard let mark = text.popFirst(), mark == UInt8(ascii: "'") || mark == UInt8(ascii: "\"") else { return nil }
        let token = text.prefix { $0 != mark }
        // Eight letters and digits everywhere; no more is asked of it than to fit a header.
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
