// SPDX-License-Identifier: Apache-2.0
import Foundation
import RainAccount
import RainCryptoOpenSSL
import RainJSON
import RainKit
import Synchronization
import TestSupport

/// A hosted sign-in page with its token endpoint, and as much of the cloud as a session needs, for tests that must know every
/// secret: codes, verifiers, tokens. Each code works once, with its own redirect URI and its own verifier.
final class HostedPage: Sendable {
    static let clientID = "test-client"
    static let userName = "maker@example.com"

    struct Request: Sendable {
        var parameters: [String: String]
        var code: String?
        var isRedeemed = false
    }

    private struct State: Sendable {
        var requests: [Request] = []
        var accessTokens: Set<String> = []
        /// Codes, verifiers and tokens that were seen: none of them may be seen elsewhere.
        var secrets: [String: String] = [:]
        var refusals: [String] = []
    }

    private let state = Mutex(State())
    private let server: Mutex<LoopbackServer?> = Mutex(nil)
    let url: String

    init() throws {
        let handler = Handler()
        let server = try LoopbackServer(remembersRequests: false) { peer in
            while let request = peer.readRequest() {
                guard let page = handler.page.withLock({ $0 }) else { return }
                page.serve(request, peer)
            }
        }
        url = String(server.url.dropLast())
        self.server.withLock { $0 = server }
        handler.page.withLock { $0 = self }
    }

    private final class Handler: Sendable {
        let page = Mutex<HostedPage?>(nil)
    }

    /// The options that make a profile of it.
    var profile: [String] { ["--base-url", url, "--auth-url", url, "--client-id", Self.clientID] }
    var requests: [Request] { state.withLock { $0.requests } }
    var secrets: [String: String] { state.withLock { $0.secrets } }
    /// Why token requests were refused.
    var refusals: [String] { state.withLock { $0.refusals } }

    // MARK: Serving

    private func serve(_ request: LoopbackRequest, _ peer: LoopbackPeer) {
        let words = request.requestLine.split(separator: " ").map(String.init)
        guard words.count == 3, let target = URLComponents(string: words[1]) else {
            return peer.respond("400 Bad Request")
        }
        let query = Dictionary(
            (target.queryItems ?? []).map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { $1 })
        switch (words[0], target.path) {
        case ("GET", "/oauth2/authorize"): authorize(query, peer)
        case ("GET", "/decide"): decide(query, peer)
        case ("POST", "/oauth2/token"): token(String(decoding: request.body, as: UTF8.self), peer)
        case ("GET", "/v1/user2"): profile(request, peer)
        case ("POST", "/v1/login2"): renew(peer)
        default: peer.respond("404 Not Found", "{}")
        }
    }

    private func authorize(_ query: [String: String], _ peer: LoopbackPeer) {
        guard query["client_id"] == Self.clientID, query["response_type"] == "code", query["redirect_uri"] != nil,
            query["code_challenge_method"] == "S256", query["code_challenge"]?.count == 43, query["nonce"] != nil
        else { return peer.respond("400 Bad Request", "<h1>bad request</h1>") }
        let number = state.withLock { state in
            state.requests.append(Request(parameters: query))
            return state.requests.count - 1
        }
        peer.respond(
            headers: ["Content-Type: text/html"],
            """
            <!DOCTYPE html><title>Sign in</title><h1>Sign in with \(query["identity_provider"] ?? "anything")</h1>
            <a id="allow" href="/decide?request=\(number)&allow=1">Allow</a>
            <a id="deny" href="/decide?request=\(number)">Deny</a>
            """)
    }

    private func decide(_ query: [String: String], _ peer: LoopbackPeer) {
        let number = query["request"].flatMap(Int.init) ?? 0
        let request = requests[number]
        var answer: String
        if query["allow"] == nil {
            answer = "error=access_denied&error_description=The+user+said+no"
        } else {
            let code = "planted-code-\(number)-\(UInt64.random(in: .min ... .max))"
            state.withLock { state in
                state.requests[number].code = code
                state.secrets[code] = "a code"
            }
            answer = "code=\(code)"
        }
        if let sent = request.parameters["state"] {
            answer += "&state=" + (sent.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
        }
        let redirect = request.parameters["redirect_uri"] ?? ""
        peer.respond("302 Found", headers: ["Location: \(redirect)\(redirect.contains("?") ? "&" : "?")\(answer)"])
    }

    private func token(_ body: String, _ peer: LoopbackPeer) {
        let fields = Dictionary(
            body.split(separator: "&").map { pair -> (String, String) in
                let halves = pair.split(separator: "=", maxSplits: 1).map {
                    $0.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? ""
                }
                return (halves[0], halves.count > 1 ? halves[1] : "")
            }, uniquingKeysWith: { $1 })
        let verifier = fields["code_verifier"] ?? ""
        let digest = Data(OpenSSLHashes.sha256(Array(verifier.utf8))).base64URL
        let reply: [String: String]? = state.withLock { state in
            state.secrets[verifier] = "a verifier"
            let found = state.requests.firstIndex { $0.code != nil && $0.code == fields["code"] }
            guard let found, !state.requests[found].isRedeemed else {
                state.refusals.append("unknown or used code")
                return nil
            }
            let parameters = state.requests[found].parameters
            guard fields["redirect_uri"] == parameters["redirect_uri"], digest == parameters["code_challenge"],
                fields["client_id"] == Self.clientID, fields["grant_type"] == "authorization_code"
            else {
                state.refusals.append("not what the request said")
                return nil
            }
            state.requests[found].isRedeemed = true
            return Self.tokens(nonce: parameters["nonce"] ?? "", &state.accessTokens, &state.secrets)
        }
        guard let reply else { return peer.respond("400 Bad Request", #"{"error":"invalid_grant"}"#) }
        respond(
            [
                "access_token": .string(reply["access"]!), "id_token": .string(reply["id"]!),
                "refresh_token": .string(reply["refresh"]!), "expires_in": 3600, "token_type": "Bearer",
            ], peer)
    }

    private func renew(_ peer: LoopbackPeer) {
        let tokens = state.withLock { state in
            Self.tokens(nonce: "", &state.accessTokens, &state.secrets)
        }
        respond(
            ["status": "success", "accesstoken": .string(tokens["access"]!), "idtoken": .string(tokens["id"]!)], peer)
    }

    private static func tokens(
        nonce: String, _ access: inout Set<String>, _ secrets: inout [String: String]
    ) -> [String: String] {
        func token(_ claims: JSONValue) -> String {
            let random = Data((0..<24).map { _ in UInt8.random(in: 0...255) }).base64URL
            return "\(Data(#"{"alg":"RS256"}"#.utf8).base64URL).\(Data(claims.serialized()).base64URL).\(random)"
        }
        let now = Int64(Date().timeIntervalSince1970)
        let tokens = [
            "access": token(["iat": .integer(now), "exp": .integer(now + 3600)]),
            "id": token(["aud": .string(clientID), "nonce": .string(nonce), "custom:user_id": "user-1"]),
            "refresh": "planted-refresh-\(UInt64.random(in: .min ... .max))",
        ]
        access.insert(tokens["access"]!)
        for (name, token) in tokens { secrets[token] = "a token (\(name))" }
        return tokens
    }

    private func profile(_ request: LoopbackRequest, _ peer: LoopbackPeer) {
        let isKnown = state.withLock { $0.accessTokens.contains(request.header("Authorization") ?? "") }
        guard isKnown else { return peer.respond("401 Unauthorized", #"{"message":"Unauthorized"}"#) }
        respond(["user_id": "user-1", "user_name": .string(Self.userName), "mfa": false], peer)
    }

    private func respond(_ json: JSONValue, _ peer: LoopbackPeer) {
        peer.respond(
            headers: ["Content-Type: application/json"], String(decoding: json.serialized(), as: UTF8.self))
    }
}

extension Data {
    fileprivate var base64URL: String {
        base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
