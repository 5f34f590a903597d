// SPDX-License-Identifier: Apache-2.0
import RainJSON

extension OIDCService {
    /// RP-Initiated Logout 1.0: the browser's session ends, and with an id token that was issued here the sign-in that it is of.
    mutating func logout(_ call: inout IdentityCall) throws(OAuthFailure) -> Response {
        let parameters =
            try call.method == "POST" ? OAuthParameters(form: call.request) : OAuthParameters(call.request.query)
        if let session = call.cookie("op_session") { sessions.remove(session) }
        if let hint = parameters["id_token_hint"] {
            guard try end(hint, parameters["client_id"], &call) else {
                return IdentityPage.message(status: 400, title: "Sign out", "The id token is not one of ours")
            }
        }
        call.note(.logout, "done") { $0.kind = parameters["id_token_hint"] == nil ? "page" : "id_token" }
        let forgotten = [Request.Field("Set-Cookie", "op_session=; Path=/; HttpOnly; Max-Age=0")]
        let target = parameters["post_logout_redirect_uri"]
            .flatMap { target in oauth.clients.contains { $0.registration.accepts(redirect: target) } ? target : nil }
        guard let target else {
            var page = IdentityPage.message(status: 200, title: "Signed out", "You are signed out", id: "signed-out")
            page.headers += forgotten
            return page
        }
        let state = parameters["state"].map { [Request.Field("state", $0)] } ?? []
        return redirect(to: target, state, headers: forgotten)
    }

    /// The token may have expired (section 2 there). False for one that was not issued here, or to another client.
    private mutating func end(
        _ hint: String, _ clientID: String?, _ call: inout IdentityCall
    ) throws(OAuthFailure) -> Bool {
        guard let claims = signer.verify(hint), let client = claims["aud"]?.string, clientID ?? client == client,
            let person = claims["sub"]?.string.flatMap(Int64.init)
        else { return false }
        call.client = client
        call.person = people[person]?.email
        sessions.removeAll { $0 == person }
        guard offers.endSessionEndsTokens else { return true }
        oauth.accessTokens.removeAll { $0.person == person && $0.client == client }
        oauth.refreshTokens.removeAll { $0.grant.person == person && $0.grant.client == client }
        return true
    }
}
