// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// Signing up, and signing in without a password.
extension SPiDService {
    private func ownToken(_ caller: Caller) throws(SPiDFailure) {
        guard caller.grant.person == nil else { throw .api(403, "A client's own token is needed") }
    }

    /// `POST /api/2/signup`: 201, or 302 if the account exists.
    mutating func signUp(_ call: inout IdentityCall) throws(SPiDFailure) -> Response {
        let form = try form(call)
        let caller = try caller(&call, form)
        try ownToken(caller)
        guard let email = form["email"], email.contains("@"), email.utf8.count <= 254 else {
            throw .api(400, "email is missing")
        }
        return try add(email, isVerified: false, caller, call)
    }

    private mutating func add(
        _ email: String, isVerified: Bool, _ caller: Caller, _ call: IdentityCall
    ) throws(SPiDFailure) -> Response {
        guard people.with(email: email) == nil else { throw .api(302, "The user exists already") }
        guard let person = people.add(email: email, isVerified: isVerified) else { throw .api(503, "Too many users") }
        let data: JSONValue = [
            "userId": .string("\(person.id)"), "email": .string(person.email),
            "merchants": [.integer(caller.client.merchant)],
        ]
        return answer(data, object: "User", status: 201, caller, call)
    }

    /// `POST /api/2/signup_jwt`: makes an account for a person who signed in to a third party.
    mutating func signUpByAssertion(_ call: inout IdentityCall) throws(SPiDFailure) -> Response {
        let form = try form(call)
        let caller = try caller(&call, form)
        try ownToken(caller)
        let claims = try assertion(form["jwt"], caller.client, "registration", path: "/api/2/signup_jwt", call)
        guard try person(of: claims) == nil else { throw .api(302, "The user exists already") }
        let email = "\(claims.token)@\(claims.provider).example"
        let response = try add(email, isVerified: true, caller, call)
        thirdParties["\(claims.provider):\(claims.token)"]?.person = people.with(email: email)?.id
        return response
    }

    /// `POST /api/2/user/attach_jwt`: connects the caller with an account of a third party.
    mutating func attach(_ call: inout IdentityCall) throws(SPiDFailure) -> Response {
        let form = try form(call)
        let caller = try caller(&call, form)
        guard let own = caller.grant.person else { throw .api(403, "A user's token is needed") }
        let claims = try assertion(form["jwt"], caller.client, "attach", path: call.path, call)
        guard try person(of: claims) == nil else { throw .api(302, "The account is connected already") }
        thirdParties["\(claims.provider):\(claims.token)"]?.person = own
        return answer(["result": true], object: "User", caller, call)
    }

    /// `GET /api/2/email/{base64url}/status`.
    mutating func emailStatus(_ encoded: String, _ call: inout IdentityCall) throws(SPiDFailure) -> Response {
        let caller = try caller(&call)
        guard let bytes = decodedBase64URL(encoded.prefix { $0 != "=" }) else { throw .api(400, "Not base64url") }
        let person = people.with(email: String(decoding: bytes, as: UTF8.self))
        let data: JSONValue = [
            "exists": .bool(person != nil), "available": .bool(person == nil),
            "verified": .bool(person?.isVerified == true),
        ]
        return answer(data, object: "Email", caller, call)
    }

    // MARK: Without a password

    /// `POST /api/2/passwordless/start`. The code is always 123456, as no mail is sent.
    mutating func startPasswordless(_ call: inout IdentityCall) throws(SPiDFailure) -> Response {
        let form = try form(call)
        let caller = try caller(&call, form)
        try ownToken(caller)
        guard form["connection"] == "email", let person = people.with(email: form["email"] ?? "") else {
            throw .api(400, "connection must be email, and email somebody's")
        }
        let token = opaqueToken()
        passwordless.insert(
            SPiDPasswordless(client: caller.client.id, person: person.id, code: Self.passwordlessCode), key: token,
            until: call.now + 300_000, at: call.now)
        return answer(["passwordless_token": .string(token)], object: "Passwordless", caller, call)
    }

    static let passwordlessCode = "123456"

    /// `POST /oauth/ro`.
    mutating func passwordlessToken(_ call: inout IdentityCall) throws(SPiDFailure) -> Response {
        let form = try form(call)
        let client = try authenticatedClient(&call, form)
        guard form["grant_type"] == "passwordless" else {
            throw .oauth(.unsupportedGrantType, "The grant type is not supported")
        }
        guard let token = form["passwordless_token"], let waiting = passwordless.value(token, at: call.now),
            waiting.client == client.id
        else { throw .oauth(.invalidGrant, "The passwordless token is unknown or expired") }
        guard form["code"] == waiting.code else {
            passwordless.update(token) { $0.attempts += 1 }
            if waiting.attempts + 1 >= SPiDPasswordless.maximumAttempts { passwordless.remove(token) }
            throw .oauth(.invalidUserCredentials, "The code is wrong")
        }
        passwordless.remove(token)
        return try begin(waiting.person, client, form["scope"], &call)
    }
}
