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
            return try await send(call.request(to: deployment))
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
        return try await session.send(call.request(to: deployment)) { response throws(AccountError) in
            (try RainMakerReply.value(response, from: host), response.body.count)
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

    func send(_ request: HTTPRequest) async throws(AccountError) -> JSONValue {
        try await http.send(request) { response throws(AccountError) in
            try RainMakerReply.value(response, from: deployment.base.authority)
        }
    }

    /// For an answer that lacks what it must have.
    func incomplete(_ member: String) -> AccountError {
        AccountError(
            .malformedAnswer,
            message:
                "\(deployment.base.authority) answered with JSON that is not the RainMaker cloud's, as it lacks \(member): the base URL is "
                + "another service's, or something on the way answered in its place")
    }
}

extension AccountError {
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
