// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON

/// The REST interface of one deployment: sends a call and reads the answer. Every call throws ``AccountError`` and takes at most
/// some ten seconds.
struct RainMakerService: Sendable {
    let deployment: Deployment
    let http: any HTTPClient

    init(_ deployment: Deployment, http: any HTTPClient) {
        self.deployment = deployment
        self.http = http
    }

    /// In nobody's name.
    @discardableResult
    func call(_ call: RainMakerCall) async throws(AccountError) -> JSONValue {
        do throws(AccountError) {
            return try await send(call)
        } catch {
            throw error.withoutSession(at: deployment.base.authority)
        }
    }

    /// In the name of the session's user. A call whose token was rejected renews the session and is made once more.
    @discardableResult
    func call(_ call: RainMakerCall, in session: AccountSession) async throws(AccountError) -> JSONValue {
        try await measuredCall(call, in: session).reply
    }

    /// The same, with the size of the answer in bytes.
    func measuredCall(
        _ call: RainMakerCall, in session: AccountSession
    ) async throws(AccountError) -> (reply: JSONValue, bytes: Int) {
        let host = deployment.base.authority
        return try await byEitherName(call) { call throws(AccountError) in
            try await session.send(call.request(to: deployment)) { response throws(AccountError) in
                (try RainMakerReply.value(response, from: host), response.body.count)
            }
        }
    }

    /// The same, for an answer that is a list.
    func listCall(
        _ call: RainMakerCall, in session: AccountSession
    ) async throws(AccountError) -> [JSONValue] {
        let host = deployment.base.authority
        return try await session.send(call.request(to: deployment)) { response throws(AccountError) in
            try RainMakerReply.list(response, from: host)
        }
    }

    /// The same, with the time at which the server says it answered.
    func datedCall(
        _ call: RainMakerCall, in session: AccountSession
    ) async throws(AccountError) -> (reply: JSONValue, date: UnixTime?) {
        let host = deployment.base.authority
        return try await session.send(call.request(to: deployment)) { response throws(AccountError) in
            (try RainMakerReply.value(response, from: host), response.date)
        }
    }

    /// Without a session.
    /// - Parameter authorize: puts a proof on the request that is sent.
    func send(
        _ call: RainMakerCall, _ authorize: (inout HTTPRequest) -> Void = { _ in }
    ) async throws(AccountError) -> JSONValue {
        try await byEitherName(call) { call throws(AccountError) in
            var request = call.request(to: deployment)
            authorize(&request)
            return try await http.send(request) { response throws(AccountError) in
                try RainMakerReply.value(response, from: deployment.base.authority)
            }
        }
    }

    /// Makes a call, and makes it by its first name where the deployment does not have it by today's.
    private func byEitherName<Answer>(
        _ call: RainMakerCall, _ make: (RainMakerCall) async throws(AccountError) -> Answer
    ) async throws(AccountError) -> Answer {
        let refusal: AccountError
        do throws(AccountError) { return try await make(call) } catch { refusal = error }
        guard let first = call.firstVersion, refusal.saysNoSuchCall else { throw refusal }
        do throws(AccountError) { return try await make(first) } catch {
            // A deployment without either is described by its answer to today's name.
            throw error.saysNoSuchCall ? refusal : error
        }
    }

    /// For an answer that lacks a member, or has one of the wrong type.
    /// - Parameter reply: the object that the member belongs to, if `member` is its name.
    func incomplete(_ member: String, in reply: JSONValue? = nil) -> AccountError {
        let what =
            switch reply?[member]?.unlessNull {
            case nil: "lacks \(member)"
            case .string("")?: "has an empty text as \(member)"
            case let found?: "has \(found.kind) as \(member)"
            }
        return AccountError(
            .malformedAnswer,
            message:
                "\(deployment.base.authority) answered with JSON that is not the RainMaker cloud's, as it \(what): the base URL is "
                + "another service's, or something on the way answered in its place")
    }
}

extension AccountError {
    /// Whether the deployment does not have the call: by the cloud's own number, as web servers say it, or as Amazon's API Gateway does.
    var saysNoSuchCall: Bool {
        guard serverCode == nil else { return serverCode == 100_003 }
        if status == 403 { return serverMessage?.lowercased() == "missing authentication token" }
        return [404, 405, 501].contains(status)
    }

    /// A 401 to a call that had no session: it says nothing of one.
    fileprivate func withoutSession(at host: String) -> AccountError {
        var error = self
        // Every RainMaker cloud has the calls that need no session.
        if isFromGateway, serverCode == nil, let status = self.status, [404, 405, 501].contains(status) {
            error.code = .invalidConfiguration
            error.message =
                "\(host) has no RainMaker API at this base URL, or something on the way answers in its place (HTTP \(status)); check the "
                + "base URL"
            return error
        }
        guard code == .expired, serverCode == nil else { return self }
        let status = status.map { " (HTTP \($0))" } ?? ""
        if isFromGateway {
            error.code = .serverFault
            error.message =
                "something on the way to \(host) wants a sign-in of its own\(status); try again later, and check the base URL"
        } else {
            error.code = .signInFailed
            error.message = "\(host) does not accept this user name, password or code\(status)"
        }
        return error
    }
}
