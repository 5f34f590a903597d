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

/// One call of RainMaker's REST interface, before it has a host and a user.
struct RainMakerCall: Sendable {
    var method: HTTPRequest.Method
    /// Below `v1/`, its segments escaped where they need it.
    var path: String
    var query: [(name: String, value: String)]
    var body: JSONValue?
    /// The two calls that exist beside the versions, `apiversions` and `mqtt_host`, have no `v1/`.
    var isVersioned = true

    /// The time that one call to the cloud may take.
    static let deadline = Duration.seconds(10)
    var deadline = Self.deadline
    /// Is told how many bytes of the body have been sent.
    var uploadProgress: (@Sendable (Int) -> Void)?

    init(
        _ method: HTTPRequest.Method, _ path: String, query: [(name: String, value: String)] = [],
        body: JSONValue? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.body = body
    }

    /// The same call by the name that it had at first. Deployments may have only that (ESP32-C3 book, "Account Login": `POST /v1/login`,
    /// `GET /v1/user`). Nil for a call that has had one name only.
    var firstVersion: RainMakerCall? {
        guard Self.renamed.contains(path) else { return nil }
        var call = self
        call.path.removeLast()
        return call
    }

    private static let renamed: Set<String> = ["login2", "logout2", "user2", "password2", "forgotpassword2"]

    func request(to deployment: Deployment) -> HTTPRequest {
        request(below: deployment.base.text + (isVersioned ? "/v1/" : "/"))
    }

    /// - Parameter root: ends with a slash.
    func request(below root: String) -> HTTPRequest {
        var url = root + path
        if !query.isEmpty {
            url += "?" + query.map { "\($0.name)=\(percentEncoded($0.value))" }.joined(separator: "&")
        }
        var headers = [HTTPHeader("Accept", "application/json"), HTTPHeader("User-Agent", "RainKit")]
        if body != nil { headers.append(HTTPHeader("Content-Type", "application/json")) }
        var request = HTTPRequest(
            method: method, url: url, headers: headers, body: body?.serialized() ?? [], deadline: deadline,
            maximumResponseBytes: Self.maximumResponseBytes)
        request.uploadProgress = uploadProgress
        return request
    }

    /// A page of nodes with all details is some hundred kilobytes.
    private static let maximumResponseBytes = 4 << 20
}

/// Reads what the cloud, or a proxy or gateway in front of it, answered.
///
/// A failure comes in one of several shapes: `{status:"failure",error_code,description}` from the service, without the code or as
/// `{message}` from the gateway before it, `{error}` from OAuth endpoints, HTML from a proxy. `error_code` is a number or digits in
/// a string, and a failure can come with status 200.
enum RainMakerReply {
    /// The answer of a call that succeeded: an object.
    static func value(_ response: HTTPResponse, from host: String) throws(AccountError) -> JSONValue {
        let json = try anyValue(response, from: host)
        guard json.array == nil else { throw notAsExpected(response, from: host) }
        return json
    }

    /// The same, of the few calls that answer with a list.
    static func list(_ response: HTTPResponse, from host: String) throws(AccountError) -> [JSONValue] {
        guard let list = try anyValue(response, from: host).array else { throw notAsExpected(response, from: host) }
        return list
    }

    private static func notAsExpected(_ response: HTTPResponse, from host: String) -> AccountError {
        AccountError(
            .malformedAnswer,
            message:
                "\(host) answered with JSON that is not the RainMaker cloud's: the base URL is another service's, or something on the way "
                + "answered in its place",
            status: response.status)
    }

    private static func anyValue(_ response: HTTPResponse, from host: String) throws(AccountError) -> JSONValue {
        do throws(AccountError) {
            return try read(response, from: host)
        } catch {
            var error = error
            error.retryAfter = response.retryAfter
            throw error
        }
    }

    private static func read(_ response: HTTPResponse, from host: String) throws(AccountError) -> JSONValue {
        if let error = AccountError(interference: response, from: host) { throw error }
        if 300..<400 ~= response.status { throw redirect(response.status, from: host) }
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue(parsing: response.body, limits: JSONLimits(maximumBytes: 4 << 20))
        } catch {
            throw .unreadable(response, from: host, because: error.description)
        }
        guard json.members != nil || json.array != nil && 200..<300 ~= response.status else {
            throw notAsExpected(response, from: host)
        }
        guard 200..<300 ~= response.status, json["status"]?.string != "failure" else {
            throw failure(json, status: response.status, from: host)
        }
        return json
    }

    /// The service sends none; whatever stands before it decides nothing.
    private static func redirect(_ status: Int, from host: String) -> AccountError {
        let code = AccountError.Code(status: status, isForTokens: false)
        var error = AccountError(
            code, message: code.sentence(host: host, status: status, name: nil), status: status)
        error.isFromGateway = true
        return error
    }

    private static func failure(_ json: JSONValue, status: Int, from host: String) -> AccountError {
        let serverCode = json["error_code"].flatMap(LenientInteger.init).map { Int($0.value) }
        let words = serverWords(json)
        // The cloud's own number counts first: a wrong password is 400/101009 and an ended session 400/101017, neither is a 401.
        let meaning = serverCode.flatMap { RainMakerErrorCode.meaning(of: $0, status: status) }
        let code = meaning?.code ?? code(status)
        // The claim service's refusals have no number either, and the envelope. Another framework's envelope is the service's own word too:
        // what stands before a service does not read its requests.
        let isFromGateway =
            serverCode == nil && json["status"]?.string != "failure" && !isFromService(json, status: status)
        let sentence = sentence(
            code, host: host, status: status, number: serverCode, isFromGateway: isFromGateway)
        var error = AccountError(
            code, message: meaning?.sentence ?? sentence, serverCode: serverCode, serverMessage: words.map(presentable),
            status: status)
        error.serverCause = json["error"]?.string.map(presentable)
        error.isFromGateway = isFromGateway
        return error
    }

    /// Whether a web framework's envelope says that the service read the request: 422 (RFC 9110, section 15.5.21), `detail` as of FastAPI,
    /// Django and RFC 9457, or `errors`.
    private static func isFromService(_ json: JSONValue, status: Int) -> Bool {
        400..<500 ~= status && (status == 422 || json["detail"] != nil || json["errors"] != nil)
    }

    /// What is left to go by where the cloud gave no number, or one that nobody has documented.
    private static func code(_ status: Int) -> AccountError.Code {
        switch status {
        case 401: .expired
        case 403: .forbidden
        case 429: .rateLimited
        case 500...: .serverFault
        default: .rejected
        }
    }

    /// - Parameter number: the cloud's, where it gave one: nobody has documented it, so it is named.
    private static func sentence(
        _ code: AccountError.Code, host: String, status: Int, number: Int?, isFromGateway: Bool
    ) -> String {
        let answer = "HTTP \(status)" + (number.map { ", error code \($0)" } ?? "")
        let named = number.map { " (error code \($0))" } ?? ""
        return switch code {
        case .expired: "the session has ended\(named); sign in again"
        case .rateLimited: "\(host) asks to slow down\(named); try again in some minutes"
        case .forbidden where !isFromGateway: "the signed-in user may not do this\(named)"
        case .forbidden, .rejected:
            if isFromGateway {
                "something on the way to \(host) refused the request (\(answer)); try again later, and check the base URL"
            } else {
                "\(host) refused the request (\(answer))"
            }
        case .serverFault: "\(host) has a fault of its own (\(answer)); try again later"
        default: "\(host) refused the request (\(answer))"
        }
    }
}
