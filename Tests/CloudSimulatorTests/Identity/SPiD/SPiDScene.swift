// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport

@testable import CloudSimulator

/// What the tests of SPiD do again and again.
extension TestIdentity {
    static let spidRedirect = "spidmobile-app-1://login"

    static func spidPage(_ changes: [String: String?] = [:], path: String = "/login") -> String {
        var fields: [String: String] = [
            "client_id": "app-1", "redirect_uri": spidRedirect, "response_type": "code", "state": "planted-state",
        ]
        for (name, value) in changes { fields[name] = value }
        return "\(path)?" + formEncoded(fields.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) })
    }

    /// Tokens of Ada by her password; `me` needs a browser instead.
    func passwordTokens(client: String = "app-1") -> JSONValue {
        post(
            "/oauth/token",
            [
                "grant_type": "password", "username": "ada@example.com", "password": "correct-horse",
                "client_id": client, "client_secret": "\(client)-secret",
            ]
        ).body
    }

    func clientToken(_ client: String = "app-1") -> String {
        let reply = post(
            "/oauth/token",
            ["grant_type": "client_credentials", "client_id": client, "client_secret": "\(client)-secret"])
        return reply.body["access_token"]?.string ?? ""
    }

    func redeem(_ code: String, client: String = "app-1", redirect: String = spidRedirect) -> Response {
        post(
            "/oauth/token",
            [
                "grant_type": "authorization_code", "code": code, "redirect_uri": redirect, "client_id": client,
                "client_secret": "\(client)-secret",
            ])
    }

    func renew(_ token: String?, client: String = "app-1") -> Response {
        post(
            "/oauth/token",
            [
                "grant_type": "refresh_token", "refresh_token": token, "client_id": client,
                "client_secret": "\(client)-secret",
            ])
    }

    func exchange(_ form: KeyValuePairs<String, String?>, token: String?) -> Response {
        post("/api/2/oauth/exchange", form, headers: [.init("Authorization", "Bearer \(token ?? "")")])
    }
}

extension JSONValue {
    var access: String { self["access_token"]?.string ?? "" }
    var refresh: String { self["refresh_token"]?.string ?? "" }
}

extension Response {
    /// OAuth's error, or the number and words of SPiD's container.
    var refusal: String? { body["error"]?.string ?? body["error"]?["code"]?.integer.map { "\($0)" } }
}
