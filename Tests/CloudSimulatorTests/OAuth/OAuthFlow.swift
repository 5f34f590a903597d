// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON
import TestSupport

@testable import CloudSimulator

/// A browser and an application in one, driving the hosted pages of a ``TestCloud``.
struct OAuthFlow {
    static let redirect = "http://127.0.0.1:49152/callback"
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    /// RFC 7636, appendix B.
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    let cloud: TestCloud
    var query: [String: String?] = [:]

    /// The query of a good request, with the changes of `query`: nil takes a parameter away.
    var target: String {
        var fields: [String: String] = [
            "response_type": "code", "client_id": TokenIssuer.clientID, "redirect_uri": Self.redirect,
            "state": "planted-state", "code_challenge": Self.challenge, "code_challenge_method": "S256",
            "nonce": "planted-nonce", "scope": "openid email",
        ]
        for (name, value) in query { fields[name] = value }
        return "/oauth2/authorize?" + formEncoded(fields.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) })
    }

    func open() -> Response { cloud.send("GET", target) }

    func submit(_ form: [String: String]) -> Response { cloud.form(target, form) }

    /// Signs the test's user in, and gives the code.
    func code() -> String? {
        let reply = submit(["username": TestCloud.user, "password": TestCloud.password, "action": "allow"])
        return reply.redirected["code"]
    }

    func redeem(_ code: String, _ changes: [String: String?] = [:]) -> Response {
        var form: [String: String] = [
            "grant_type": "authorization_code", "client_id": TokenIssuer.clientID, "code": code,
            "redirect_uri": Self.redirect, "code_verifier": Self.verifier,
        ]
        for (name, value) in changes { form[name] = value }
        return cloud.form("/oauth2/token", form)
    }
}

extension TestCloud {
    func form(_ target: String, _ form: [String: String], headers: [Request.Field] = []) -> Response {
        let text = formEncoded(form.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) })
        let type = Request.Field("Content-Type", "application/x-www-form-urlencoded")
        return api.respond(
            to: Request(method: "POST", target: target, headers: [type] + headers, body: Array(text.utf8)))
    }
}

extension Response {
    var location: String? { headers.first { $0.name == "Location" }?.value }

    /// The parameters of the redirect.
    var redirected: [String: String] {
        let query = location?.split(separator: "?", maxSplits: 1).last ?? ""
        return Dictionary(Request.fields(ofQuery: query).map { ($0.name, $0.value) }) { $1 }
    }

    var page: String {
        guard case .html(let text) = content else { return "" }
        return text
    }
}

func claims(_ token: String?) throws -> JSONValue {
    let parts = (token ?? "").split(separator: ".")
    guard parts.count == 3, let payload = Base64.urlDecoded(parts[1].utf8) else { return .null }
    return try JSONValue(parsing: payload)
}
