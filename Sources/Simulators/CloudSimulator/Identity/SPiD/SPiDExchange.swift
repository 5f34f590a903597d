// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// Codes by which another client, or a browser, gets a session of a person who has signed in to this client.
extension SPiDService {
    /// `POST /api/2/oauth/exchange`, which the mobile documents call `/oauth/exchange`.
    mutating func exchange(_ call: inout IdentityCall) throws(SPiDFailure) -> Response {
        let form = try form(call)
        let caller = try caller(&call, form)
        guard let id = form["clientId"] ?? form["client_id"] else { throw .api(400, "clientId is missing") }
        guard let type = form["type"] else { throw .api(400, "type is missing") }
        do throws(SPiDFailure) {
            guard let person = caller.grant.person else { throw .api(403, "A user's token is needed") }
            guard let target = client(id), target.merchant == caller.client.merchant else {
                throw .api(403, "The client does not belong to this merchant")
            }
            let code = opaqueToken()
            let kind: SPiDCode.Kind
            let lifetime: Int64
            switch type {
            case "code":
                guard let redirect = target.defaultRedirect else {
                    throw .api(400, "The client has no default redirect uri")
                }
                (kind, lifetime) = (.exchange(redirect: redirect), Self.exchangeLifetime)
            case "session":
                guard let redirect = form["redirectUri"] ?? form["redirect_uri"] else {
                    throw .api(400, "redirectUri is missing")
                }
                guard target.registration.accepts(redirect: redirect) else {
                    throw .api(400, "redirectUri is not registered")
                }
                (kind, lifetime) = (.session(redirect: redirect), Self.sessionCodeLifetime)
            default: throw .api(400, "type must be code or session")
            }
            codes.insert(
                SPiDCode(
                    kind: kind, client: target.id, person: person, scope: caller.grant.scope,
                    webSession: caller.grant.webSession),
                key: code, until: call.now + lifetime * 1000, at: call.now)
            call.note(.exchange, "granted") { $0.kind = type }
            return answer(["code": .string(code)], object: "OAuth", caller, call)
        } catch {
            call.note(.exchange, "refused") { $0.reason = error.reason }
            throw error
        }
    }

    /// `GET /session/{code}`, also `/auth/session/{code}`: the browser is signed in from here on.
    mutating func openSession(_ code: String, _ call: inout IdentityCall) -> Response {
        call.route = "/\(call.parts.dropLast().joined(separator: "/"))/*"
        guard case .good(let found) = codes.find(code, at: call.now), case .session(let target) = found.kind,
            found.login == nil, let person = people[found.person]
        else {
            call.note(.exchange, "refused") { $0.kind = "session" }
            return IdentityPage.message(status: 400, title: "SPiD", "This link was used before, or is too old")
        }
        codes.remove(code)
        (call.client, call.person) = (found.client, person.email)
        call.note(.exchange, "redeemed") { $0.kind = "session" }
        return redirect(to: target, [], headers: [cookie("identity", beginWebSession(person.id, at: call.now))])
    }
}
