import HTTPCore
import JSON
import Vocabulary

/// Sign-in at the RainMaker cloud by user name and password (`login2`, the current pool of users).
public struct RainMakerIdentity: IdentityProvider {
    public let name = "rainmaker"
    private let deployment: Deployment
    private let http: any HTTPClient
    private let clock: any WallClock

    public init(_ deployment: Deployment, http: any HTTPClient, clock: any WallClock = SystemWallClock()) {
        self.deployment = deployment
        self.http = http
        self.clock = clock
    }

    public var resources: [ServiceURL] { [deployment.base] }

    public func signIn(_ credentials: SignInCredentials) async throws(AccountError) -> Tokens {
        let (user, password) =
            switch credentials {
            case .password(let user, let password): (user, password)
            default:
                throw AccountError(
                    .invalidConfiguration, message: "the RainMaker cloud signs in by user name and password here")
            }
        let body: JSONValue = ["user_name": .string(user), "password": .string(password.revealString())]
        let reply = try await call(RainMakerCall(.post, "login2", body: body))
        if reply["accesstoken"] == nil, let session = secret(reply, "session") {
            var error = AccountError(
                .secondStepRequired, message: "the password is right, and the one-time code that was sent is wanted too"
            )
            error.challenge = SignInChallenge(userName: user, session: session)
            throw error
        }
        guard let refresh = secret(reply, "refreshtoken"), let identity = secret(reply, "idtoken") else {
            throw incomplete("refreshtoken or idtoken")
        }
        return try tokens(reply, refresh: refresh, identity: identity)
    }

    public func renew(_ tokens: Tokens) async throws(RenewalError) -> Tokens {
        guard let refresh = tokens.refresh else {
            throw .refused(AccountError(.expired, message: "the session has ended; sign in again"))
        }
        do throws(AccountError) {
            let body: JSONValue = ["refreshtoken": .string(refresh.revealString())]
            let reply = try await call(RainMakerCall(.post, "login2", body: body))
            // The cloud sends no new refresh token, and a deployment that rotates them does: the old one is kept else.
            return try self.tokens(
                reply, refresh: secret(reply, "refreshtoken") ?? refresh,
                identity: secret(reply, "idtoken") ?? tokens.identity)
        } catch {
            throw Self.endsSession(error) ? .refused(error) : .unavailable(error)
        }
    }

    /// Refresh token refused, log-in failed, logged out elsewhere, user gone: what the official apps sign out for too. Only the
    /// service itself can say so: a gateway or a proxy on the way (no `error_code`, or 5xx) cannot.
    private static func endsSession(_ error: AccountError) -> Bool {
        guard let code = error.serverCode, let status = error.status, 400..<500 ~= status else { return false }
        return [101_016, 101_017, 100_047, 101_025, 119_006].contains(code)
    }

    public func profile(_ tokens: Tokens) async throws(AccountError) -> Profile {
        let reply = try await call(RainMakerCall(.get, "user2"), with: tokens)
        guard let userID = reply["user_id"]?.string, !userID.isEmpty else { throw incomplete("user_id") }
        var profile = Profile(
            userID: UserID(userID), userName: reply["user_name"]?.string ?? reply["email"]?.string ?? userID)
        profile.name = reply["name"]?.string
        profile.email = reply["email"]?.string
        profile.phoneNumber = reply["phone_number"]?.string
        profile.locale = reply["locale"]?.string
        profile.usesSecondFactor = reply["mfa"]?.bool
        return profile
    }

    public func profile(claimedBy tokens: Tokens) -> Profile? {
        guard let claims = tokens.identity.flatMap(JSONWebToken.claims),
            let userID = claims["custom:user_id"]?.string, !userID.isEmpty
        else { return nil }
        let email = claims["email"]?.string
        let phoneNumber = claims["phone_number"]?.string
        var profile = Profile(userID: UserID(userID), userName: email ?? phoneNumber ?? userID)
        profile.email = email
        profile.phoneNumber = phoneNumber
        return profile
    }

    public func signOut(_ tokens: Tokens, everywhere: Bool) async throws(AccountError) {
        let query = [(name: "logout_all", value: everywhere ? "true" : "false")]
        // The refresh token in the body is what gets revoked; without it only the access token would be.
        let body = tokens.refresh.map { JSONValue.object([.init("refreshtoken", .string($0.revealString()))]) }
        _ = try await call(RainMakerCall(.post, "logout2", query: query, body: body), with: tokens)
    }

    /// The bare access token, without `Bearer`.
    public func authorize(_ request: inout HTTPRequest, with tokens: Tokens) {
        request.headers.append(HTTPHeader("Authorization", tokens.access.revealString()))
    }

    // MARK: Calls

    private func call(_ call: RainMakerCall, with tokens: Tokens? = nil) async throws(AccountError) -> JSONValue {
        var request = call.request(to: deployment)
        if let tokens { authorize(&request, with: tokens) }
        let response: HTTPResponse
        do throws(HTTPError) { response = try await http.send(request) } catch { throw AccountError(error) }
        return try RainMakerReply.value(response, from: deployment.base.authority)
    }

    private func tokens(_ reply: JSONValue, refresh: Secret, identity: Secret?) throws(AccountError) -> Tokens {
        guard let access = secret(reply, "accesstoken") else { throw incomplete("accesstoken") }
        return Tokens(jsonWebToken: access, refresh: refresh, identity: identity, received: clock.now)
    }

    /// A token must fit a header line: no control characters, no spaces, not empty.
    private func secret(_ reply: JSONValue, _ name: String) -> Secret? {
        guard let text = reply[name]?.string, !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            return nil
        }
        return Secret(text)
    }

    private func incomplete(_ member: String) -> AccountError {
        AccountError(
            .malformedAnswer,
            message: "\(deployment.base.authority) answered without \(member), which the RainMaker cloud always sends")
    }
}
