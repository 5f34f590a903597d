// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON

/// `/api/2`: the resources for which tokens are used.
extension SPiDService {
    struct Caller {
        var token: String
        var grant: SPiDGrant
        var client: SPiDClient
        var budget: SPiDContainer.Budget
    }

    mutating func api(_ parts: [String], _ call: inout IdentityCall) throws(SPiDFailure) -> Response {
        switch (call.method, parts.first, parts.count) {
        case ("POST", "oauth", 2) where parts[1] == "exchange": return try exchange(&call)
        case ("GET", "me", 1):
            let caller = try caller(&call)
            // `me` requires a session in a browser. With only a token a client names the user by number.
            guard let id = caller.grant.person, let session = caller.grant.webSession,
                webSessions.value(session, at: call.now) == id, let person = people[id]
            else { throw .api(401, "No active session; ask for /user/{userId}") }
            return answer(profile(person), object: "User", caller, call)
        case ("GET", "user", 2):
            call.route = "/api/2/user/*"
            let caller = try caller(&call)
            let person = try subject(percentDecoded(Substring(parts[1])), caller)
            return answer(profile(person), object: "User", caller, call)
        case ("GET", "user", 3) where parts[2] == "agreements", ("POST", "user", 4) where parts[3] == "accept":
            let caller = try caller(&call)
            let person = try subject(parts[1], caller)
            let agreement = SPiDAgreement(person: person.id, client: caller.client.id)
            if call.method == "POST", agreements.count < SPiDAgreement.maximum { agreements.insert(agreement) }
            let isAgreed = agreements.contains(agreement)
            return answer(["agreements": ["platform": true, "client": .bool(isAgreed)]], object: "User", caller, call)
        case ("POST", "user", 2) where parts[1] == "attach_jwt", ("POST", "attach_jwt", 1): return try attach(&call)
        case ("POST", "signup", 1): return try signUp(&call)
        case ("POST", "signup_jwt", 1): return try signUpByAssertion(&call)
        case ("POST", "passwordless", 2) where parts[1] == "start": return try startPasswordless(&call)
        case ("GET", "email", 3) where parts[2] == "status":
            call.route = "/api/2/email/*/status"
            return try emailStatus(parts[1], &call)
        case ("GET", "terms", 1):
            let caller = try caller(&call)
            let terms: JSONValue = [
                "platform_privacy_url": .string("\(call.base)/terms/privacy"),
                "platform_terms_url": .string("\(call.base)/terms/platform"),
                "client_privacy_url": .string("\(call.base)/terms/\(caller.client.id)/privacy"),
                "client_terms_url": .string("\(call.base)/terms/\(caller.client.id)"),
            ]
            return answer(terms, object: "Utility", caller, call)
        case ("GET", "logout", 1):
            let caller = try caller(&call)
            endLogin(caller.grant.login)
            call.note(.logout, "done") { $0.kind = "api" }
            return answer("OK", object: "User", caller, call)
        default: throw .api(404, "No such endpoint")
        }
    }

    /// Finds the caller by the token in the header, the query or the form. Expired and unknown tokens are different errors.
    mutating func caller(_ call: inout IdentityCall, _ form: OAuthParameters? = nil) throws(SPiDFailure) -> Caller {
        guard let token = call.bearer ?? call.request.query("oauth_token", "access_token") ?? form?["oauth_token"]
        else {
            throw .oauth(.invalidRequest, "oauth_token is missing", status: 401)
        }
        let grant: SPiDGrant
        switch accessTokens.find(token, at: call.now) {
        case .good(let found): grant = found
        case .expired: throw .oauth(.expiredToken, "The access token has expired", status: 401)
        case .unknown: throw .oauth(.invalidToken, "The access token is not valid", status: 401)
        }
        guard let client = client(grant.client) else { throw .oauth(.invalidToken, "The client is gone", status: 401) }
        call.client = client.id
        call.person = grant.person.flatMap { people[$0]?.email }
        let hour = call.now / 3_600_000
        var used = usage[client.id] ?? (hour, 0)
        if used.hour != hour { used = (hour, 0) }
        guard used.count < SPiDContainer.limit else { throw .api(420, "Too many requests") }
        used.count += 1
        usage[client.id] = used
        let budget = SPiDContainer.Budget(
            reset: 3600 - call.now / 1000 % 3600, remaining: SPiDContainer.limit - used.count)
        return Caller(token: token, grant: grant, client: client, budget: budget)
    }

    func answer(
        _ data: JSONValue, object: String, status: Int = 200, _ caller: Caller, _ call: IdentityCall
    ) -> Response {
        let isSigned = signsEverything || caller.client.wantsSignedResponses
        return SPiDContainer.success(
            data, object: object, status: status, path: call.route ?? call.path, budget: caller.budget,
            signedWith: isSigned ? caller.client.signSecret : nil)
    }

    /// A person has access only to their own account, a client to all accounts.
    private func subject(_ name: String, _ caller: Caller) throws(SPiDFailure) -> Person {
        if let own = caller.grant.person, people.named(name)?.id != own {
            throw .api(403, "The token is of another user")
        }
        guard let person = people.named(name) else { throw .api(404, "No such user") }
        return person
    }

    private func profile(_ person: Person) -> JSONValue {
        [
            "userId": .string("\(person.id)"), "id": .string("\(person.id)"), "status": person.isVerified ? 1 : 0,
            "email": .string(person.email), "emailVerified": person.isVerified ? "2014-04-15 19:43:29" : false,
            "verified": person.isVerified ? "2014-04-15 19:43:29" : false,
            "emails": [["value": .string(person.email), "type": "other", "primary": "true"]],
            "displayName": .string(person.fullName), "preferredUsername": .string(person.screenName),
            "name": [
                "givenName": .string(person.givenName), "familyName": .string(person.familyName),
                "formatted": .string(person.fullName),
            ],
            "locale": "nb_NO", "utcOffset": "+02:00", "gender": "undisclosed", "birthday": "0000-00-00",
            "phoneNumber": "", "phoneNumberVerified": false, "published": "2014-04-15 19:43:29",
            "updated": "2014-04-15 19:43:29",
            // PHP writes empty maps as lists.
            "addresses": [], "currentLocation": [], "phoneNumbers": [], "merchants": [47000],
        ]
    }

    /// `/logout`: ends the browser's session, and the sign-in of the token if one is given.
    mutating func webLogout(_ call: inout IdentityCall) -> Response {
        if let session = call.cookie("identity") { webSessions.remove(session) }
        if let token = call.cookie("remember") { rememberedPeople.remove(token) }
        if let token = call.request.query("oauth_token"), case .good(let grant) = accessTokens.find(token, at: call.now)
        {
            call.client = grant.client
            call.person = grant.person.flatMap { people[$0]?.email }
            if let session = grant.webSession { webSessions.remove(session) }
            endLogin(grant.login)
        }
        call.note(.logout, "done") { $0.kind = "page" }
        let forgotten = ["identity", "remember"].map { cookie($0, "", maximumAge: 0) }
        let target = call.request.query("redirect_uri")
            .flatMap { target in clients.contains { $0.registration.accepts(redirect: target) } ? target : nil }
        return redirect(to: target ?? "/login", [], headers: forgotten)
    }
}

/// The envelope of every answer of `/api/2` (`SPP Container`, version 0.2).
enum SPiDContainer {
    /// The number of requests of a client in an hour. Beyond it the answer is 420.
    fileprivate static let limit: Int64 = 3600

    struct Budget: Sendable, Equatable {
        var reset: Int64 = 3600
        var remaining: Int64 = limit
    }

    fileprivate static func success(
        _ data: JSONValue, object: String, status: Int = 200, path: String, budget: Budget, signedWith secret: String?
    ) -> Response {
        var members = head(object: object, code: status, path: path, budget: budget)
        members += [.init("meta", .null), .init("error", .null)]
        guard let secret else {
            return Response(status: status, .object(members + [.init("data", data)]))
        }
        // The data is sent as text, and the signature is over that text.
        let text = Base64.urlText(data.serialized())
        members += [
            .init("data", .string(text)), .init("algorithm", "HMAC-SHA256"), .init("sig", .string(sign(text, secret))),
        ]
        return Response(status: status, .object(members))
    }

    static func failure(_ status: Int, _ description: String, path: String = "", budget: Budget = .init()) -> Response {
        let error: JSONValue = [
            "code": .integer(Int64(status)), "type": "ApiException", "description": .string(description),
        ]
        let members = head(object: "Error", code: status, path: path, budget: budget)
        return Response(
            status: status, .object(members + [.init("meta", .null), .init("error", error), .init("data", .null)]))
    }

    /// base64url of HMAC-SHA-256 over the data as it is sent.
    static func sign(_ text: String, _ secret: String) -> String {
        Base64.urlText(OpenSSLHashes.hmacSHA256(Array(text.utf8), key: Array(secret.utf8)))
    }

    private static func head(object: String, code: Int, path: String, budget: Budget) -> [JSONValue.Member] {
        [
            .init("name", "SPP Container"), .init("version", "0.2"), .init("api", 2), .init("object", .string(object)),
            .init("type", "element"), .init("code", .integer(Int64(code))),
            .init(
                "request",
                [
                    "reset": .integer(budget.reset), "limit": .integer(limit), "remaining": .integer(budget.remaining),
                ]),
            // PHP writes empty maps as lists.
            .init("debug", ["route": ["url": .string(path)], "params": ["options": [], "where": []]]),
        ]
    }
}
