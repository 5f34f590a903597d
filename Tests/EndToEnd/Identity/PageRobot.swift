// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainHTTP
import RainJSON
import RainMaker
import TestSupport

/// Somebody at a sign-in page, without a browser: fills the simulators' plain forms in and follows where they lead.
struct PageRobot: AuthorizationUserAgent {
    enum Intent { case signIn, deny, leave }

    let http: any HTTPClient
    var user = "ada@example.com"
    var password = "correct-horse"
    var redirect = "http://127.0.0.1:4711/callback"
    var intent = Intent.signIn
    /// Whether the person has no account yet: registers, and follows the link that confirms the address.
    var registers = false

    func authorize(
        _ attempt: @Sendable (RedirectTarget) throws(AccountError) -> AuthorizationAttempt
    ) async throws(AccountError) -> AuthorizationResponse {
        do {
            let target = RedirectTarget(redirectURI: try RedirectURI(redirect))
            let attempt = try attempt(target)
            let end = try await walk(from: try attempt.request.url())
            return try AuthorizationResponse(url: end, to: target.redirectURI)
        } catch let error as AccountError {
            throw error
        } catch {
            throw AccountError(.noAnswer, message: "the page led nowhere: \(error)")
        }
    }

    /// The address at which the application is back.
    func walk(from url: String) async throws -> String {
        var url = url
        var cookies: [String: String] = [:]
        var form: [(String, String)]?
        for _ in 0..<12 {
            var request = HTTPRequest(method: form == nil ? .get : .post, url: url)
            if !cookies.isEmpty {
                let text = cookies.map { "\($0)=\($1)" }.joined(separator: "; ")
                request.headers.append(HTTPHeader("Cookie", text))
            }
            if let fields = form {
                request.headers.append(HTTPHeader("Content-Type", "application/x-www-form-urlencoded"))
                request.body = Array(
                    fields.map { "\(FormEncoding.encoded($0))=\(FormEncoding.encoded($1))" }.joined(separator: "&").utf8
                )
            }
            let response = try await http.send(request)
            for header in response.headers where header.name.lowercased() == "set-cookie" {
                let pair = header.value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map(String.init)
                cookies[pair[0]] = pair.count > 1 ? pair[1] : ""
            }
            form = nil
            if let location = response.header("Location") {
                if location.lowercased().hasPrefix(redirect.lowercased()) { return location }
                url = absolute(location, from: url)
                continue
            }
            let page = String(decoding: response.body, as: UTF8.self)
            // OCLC asks where somebody is from if the application has not said it.
            if let link = Self.link("institution-128807", in: page) {
                url = absolute(link, from: url)
                continue
            }
            if page.contains("id=\"signed-in\"") { return url }
            if let link = Self.link("confirm", in: page) ?? (registers ? Self.link("register", in: page) : nil) {
                url = absolute(link, from: url)
                continue
            }
            guard let asked = Form(page), !page.contains("id=\"failure\"") else {
                throw AccountError(.noAnswer, message: "no form: HTTP \(response.status) \(page.prefix(600))")
            }
            url = absolute(asked.action ?? url, from: url)
            form =
                asked.hidden + [("action", intent == .leave || intent == .deny && asked.user == nil ? "deny" : "allow")]
            if let name = asked.user { form? += [(name, user), ("password", password)] }
        }
        throw AccountError(.noAnswer, message: "round in a circle at \(url)")
    }

    private static func link(_ id: String, in page: String) -> String? {
        guard let start = page.ranges(of: "id=\"\(id)\" href=\"").first?.upperBound else { return nil }
        return String(page[start...].prefix { $0 != "\"" }).replacing("&amp;", with: "&")
    }

    private func absolute(_ location: String, from url: String) -> String {
        if location.contains("://") { return location }
        if location.hasPrefix("?") { return url.prefix { $0 != "?" } + location }
        return url.split(separator: "/", maxSplits: 3).prefix(2).joined(separator: "//") + location
    }

    private struct Form {
        var action: String?
        var hidden: [(String, String)] = []
        var user: String?

        init?(_ page: String) {
            guard page.contains("<form") else { return nil }
            for tag in page.split(separator: "<") {
                if tag.hasPrefix("form") { action = Self.attribute("action", tag) }
                guard tag.hasPrefix("input") else { continue }
                let name = Self.attribute("name", tag) ?? ""
                if tag.contains("id=\"username\"") { user = name }
                if tag.contains("type=\"hidden\"") { hidden.append((name, Self.attribute("value", tag) ?? "")) }
            }
        }

        private static func attribute(_ name: String, _ tag: Substring) -> String? {
            guard let start = tag.ranges(of: "\(name)=\"").first?.upperBound else { return nil }
            let text = String(tag[start...].prefix { $0 != "\"" })
            return text.replacing("&amp;", with: "&").replacing("&quot;", with: "\"")
        }
    }
}
