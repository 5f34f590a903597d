// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCrypto
import RainHTTP
import RainIO
import RainJSON
import Synchronization

/// The main API of a RainMaker Neo deployment: each request is signed with AWS credentials of the user.
struct NeoMainAPI: Sendable {
    let base: ServiceURL
    private let region: String
    private let http: any HTTPClient
    private let hashes: any Hashes.Type
    private let clock: NeoClock
    private let credentials: NeoCredentials

    /// - Parameter clock: the time of signatures, which the answers of this API correct.
    init(
        _ base: ServiceURL, region: String, session: AccountSession, http: any HTTPClient, hashes: any Hashes.Type,
        clock: NeoClock
    ) {
        (self.base, self.region, self.http) = (base, region, http)
        (self.hashes, self.clock) = (hashes, clock)
        credentials = NeoCredentials(
            clock: clock, user: { () async throws(AccountError) in try await session.userID() }
        ) {
            () async throws(AccountError) in
            try await Self.fetch(base, session, http)
        }
    }

    /// Sends a signed request. If the credentials are refused, the request is sent once more with new ones. If the time of the signature is
    /// refused, the request is signed once more with the server's time, as AWS's own clients do.
    ///
    /// - Parameter path: the path below `v1/`. Segments are percent-encoded.
    @discardableResult
    func call(
        _ method: HTTPRequest.Method, _ path: String, query: [(name: String, value: String)] = [],
        body: JSONValue? = nil
    ) async throws(AccountError) -> JSONValue {
        let request = RainMakerCall(method, "v1/" + path, query: query, body: body).request(below: base.text + "/")
        var role = try await credentials.role()
        var earlier: NeoClock.Correction?
        var isRenewed = false
        while true {
            let refusal: NeoRefusal
            do throws(NeoRefusal) { return try await send(request, role) } catch { refusal = error }
            if refusal.isAboutTime {
                if earlier == nil, let time = refusal.serverTime {
                    earlier = clock.follow(time)
                    continue
                }
                let difference = clock.difference(to: refusal.serverTime)
                // The server's time did not help.
                if let earlier { clock.restore(earlier) }
                throw refusal.ofWrongClock(from: base.authority, ahead: difference)
            }
            guard refusal.error.status == 403, !isRenewed else { throw refusal.error }
            isRenewed = true
            role = try await credentials.role(replacing: role)
        }
    }

    private func send(_ request: HTTPRequest, _ role: AssumedRole) async throws(NeoRefusal) -> JSONValue {
        var request = request
        let time = clock.now
        AWSSigner(role, region: region, service: AWSSigner.gateway, hashes: hashes).sign(&request, at: time)
        let host = base.authority
        var answer: HTTPResponse?
        do throws(AccountError) {
            return try await http.send(request) { response throws(AccountError) in
                answer = response
                return try NeoReply.value(response, from: host)
            }
        } catch {
            throw NeoRefusal(error, answer, signedAt: time)
        }
    }

    /// Exchanges the tokens of one sign-in for AWS credentials.
    private static func fetch(
        _ base: ServiceURL, _ session: AccountSession, _ http: any HTTPClient
    ) async throws(AccountError) -> NeoCredentials.Issued {
        let tokens = try await session.tokenPair()
        do throws(AccountError) {
            return try await exchange(tokens, base, http)
        } catch {
            // The tokens may have ended early.
            guard error.status == 401 else { throw error }
            return try await exchange(try await session.tokenPair(replacing: tokens.access), base, http)
        }
    }

    private static func exchange(
        _ tokens: (access: Secret, identity: Secret?), _ base: ServiceURL, _ http: any HTTPClient
    ) async throws(AccountError) -> NeoCredentials.Issued {
        guard let identity = tokens.identity else {
            throw AccountError(
                .expired,
                message: "the session has no ID token, which RainMaker Neo needs for credentials; sign in again")
        }
        let body: JSONValue = ["id_token": .string(identity.revealString())]
        var request = RainMakerCall(.post, "v1/user/credentials", body: body).request(below: base.text + "/")
        request.headers.append(HTTPHeader("Authorization", "Bearer " + tokens.access.revealString()))
        let host = base.authority
        let reply = try await http.send(request) { response throws(AccountError) in
            try NeoReply.value(response, from: host)
        }
        return try NeoCredentials.Issued(
            reply, key: "access_key_id", secret: "secret_access_key", token: "session_token", from: host)
    }

    /// Returns credentials for the broker. Their members have other names than those of ``exchange(_:_:_:)``.
    func brokerCredentials() async throws(AccountError) -> NeoCredentials.Issued {
        let reply = try await call(.post, "assumed-roles", body: .object([]))
        return try NeoCredentials.Issued(
            reply, key: "access_key", secret: "secret_key", token: "session_token", from: base.authority)
    }

    func incomplete(_ member: String) -> AccountError { .incompleteNeo(member, from: base.authority) }
}

/// AWS credentials of the user, which are fetched when they are needed and kept until shortly before their end.
final class NeoCredentials: Sendable {
    /// New credentials, and the time of their end by the cloud's clock; nil if the cloud does not say.
    struct Issued: Sendable {
        var role: AssumedRole
        var ends: UnixTime?

        init(_ reply: JSONValue, key: String, secret: String, token: String, from host: String) throws(AccountError) {
            func text(_ member: String) throws(AccountError) -> String {
                if let text = reply[member]?.string, !text.isEmpty { return text }
                throw .incompleteNeo(member, from: host)
            }
            role = AssumedRole(
                accessKey: try text(key), secretKey: Secret(try text(secret)), sessionToken: Secret(try text(token)))
            let given = reply["expiration"]?.unlessNull
            let number = given.flatMap(LenientInteger.init)
            if given != nil, number == nil { throw .incompleteNeo("expiration", from: host) }
            ends = number.map { UnixTime(seconds: Double($0.value)) }
        }
    }

    /// How many seconds before their end credentials are renewed.
    private static let margin = 300.0

    private let clock: any WallClock
    private let user: @Sendable () async throws(AccountError) -> UserID
    private let fetch: @Sendable () async throws(AccountError) -> Issued
    private let kept = Mutex<(issued: Issued, user: UserID)?>(nil)
    /// Several tasks that need credentials wait for one request.
    private let fetching = FairLock<Void, Never>()

    /// - Parameter user: the user of the stored session. Credentials of another user are not used.
    init(
        clock: any WallClock, user: @escaping @Sendable () async throws(AccountError) -> UserID,
        fetch: @escaping @Sendable () async throws(AccountError) -> Issued
    ) {
        (self.clock, self.user, self.fetch) = (clock, user, fetch)
    }

    /// Returns credentials that are valid for a while.
    ///
    /// - Parameter rejected: credentials that were refused. Others are returned.
    func role(replacing rejected: AssumedRole? = nil) async throws(AccountError) -> AssumedRole {
        let user = try await user()
        await fetching.enter()
        defer { fetching.leave() }
        if let kept = kept.withLock({ $0 }), kept.user == user, kept.issued.role != rejected,
            kept.issued.ends.map({ clock.now + Self.margin < $0 }) ?? true
        {
            return kept.issued.role
        }
        return try await fetched(for: user)
    }

    /// Returns new credentials.
    func renewed() async throws(AccountError) -> AssumedRole {
        let user = try await user()
        await fetching.enter()
        defer { fetching.leave() }
        return try await fetched(for: user)
    }

    private func fetched(for user: UserID) async throws(AccountError) -> AssumedRole {
        let issued = try await fetch()
        kept.withLock { $0 = (issued, user) }
        return issued.role
    }
}

/// Reads an answer of Neo's APIs. Refusals are `{"message": …}` without numbers, so that their status decides. The message is only in
/// `serverMessage`, so that it is shown once.
enum NeoReply {
    private static let maximumBytes = 4 << 20

    static func value(_ response: HTTPResponse, from host: String) throws(AccountError) -> JSONValue {
        if let error = AccountError(interference: response, from: host) { throw error }
        // A successful answer without content.
        if 200..<300 ~= response.status, response.body.isEmpty { return .object([]) }
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue(parsing: response.body, limits: JSONLimits(maximumBytes: maximumBytes))
        } catch {
            throw .unreadable(response, from: host, because: error.description)
        }
        guard !(200..<300 ~= response.status) else {
            guard json.members != nil else {
                throw AccountError(
                    .malformedAnswer, message: "\(host) answered with JSON that is not from RainMaker Neo",
                    status: response.status)
            }
            return json
        }
        let words = json["message"]?.string ?? json["Message"]?.string
        let (code, sentence): (AccountError.Code, String) =
            switch response.status {
            case 401: (.expired, "\(host) does not accept the session")
            // API Gateway's answer for an unknown path.
            case 403 where words?.lowercased() == "missing authentication token":
                (
                    .invalidConfiguration,
                    "\(host) has no API of RainMaker Neo at this address; check the deployment's addresses (ApiGatewayUrl, EspUserApiUrl)"
                )
            case 403 where words?.lowercased().contains("security token") == true:
                (.forbidden, "\(host) does not accept the request's signature; check the deployment's region")
            case 403: (.forbidden, "\(host) does not allow this request")
            case 404: (.rejected, "\(host) does not have the requested item")
            case 429: (.rateLimited, "\(host) received too many requests; try again in a few minutes")
            case 500...: (.serverFault, "\(host) \(serverTrouble(response.status))")
            default: (.rejected, "\(host) refused the request (HTTP \(response.status))")
            }
        throw AccountError(code, message: sentence, serverMessage: words.map(presentable), status: response.status)
    }
}

extension AccountError {
    static func incompleteNeo(_ member: String, from host: String) -> AccountError {
        AccountError(
            .malformedAnswer,
            message:
                "\(host) answered with JSON that is not from RainMaker Neo: \(member) is missing or has the wrong type"
        )
    }
}
