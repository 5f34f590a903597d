// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainAccount
import RainHTTP
import RainJSON

/// The REST interface of one deployment: sends a call and reads the answer. Every call throws `AccountError` and takes at most about ten
/// seconds.
struct RainMakerService: Sendable {
    let deployment: Deployment
    let http: any HTTPClient

    init(_ deployment: Deployment, http: any HTTPClient) {
        self.deployment = deployment
        self.http = http
    }

    /// Sends a call without authentication.
    @discardableResult
    func call(_ call: RainMakerCall) async throws(AccountError) -> JSONValue {
        do throws(AccountError) {
            return try await send(call)
        } catch {
            throw error.withoutSession(at: deployment.base.authority)
        }
    }

    /// Sends a call as the session's user. If the server rejects the token, the call renews the session and is sent once more.
    @discardableResult
    func call(_ call: RainMakerCall, in session: AccountSession) async throws(AccountError) -> JSONValue {
        try await measuredCall(call, in: session).reply
    }

    /// Sends a call as the session's user, and returns the size of the answer in bytes too.
    func measuredCall(
        _ call: RainMakerCall, in session: AccountSession
    ) async throws(AccountError) -> (reply: JSONValue, bytes: Int, date: UnixTime?) {
        let host = deployment.base.authority
        return try await byEitherName(call) { call throws(AccountError) in
            try await session.send(call.request(to: deployment)) { response throws(AccountError) in
                (try RainMakerReply.value(response, from: host), response.body.count, response.date)
            }
        }
    }

    /// Sends a call whose answer is a list, as the session's user.
    func listCall(
        _ call: RainMakerCall, in session: AccountSession
    ) async throws(AccountError) -> [JSONValue] {
        let host = deployment.base.authority
        return try await session.send(call.request(to: deployment)) { response throws(AccountError) in
            try RainMakerReply.list(response, from: host)
        }
    }

    /// Sends a call as the session's user, and returns the server's time of the answer too.
    func datedCall(
        _ call: RainMakerCall, in session: AccountSession
    ) async throws(AccountError) -> (reply: JSONValue, date: UnixTime?) {
        let (reply, _, date) = try await measuredCall(call, in: session)
        return (reply, date)
    }

    /// Sends a call without a session.
    /// - Parameter authorize: adds a proof to the request that is sent.
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

    /// Sends a call, and sends it again under its first name if the deployment does not have the current name.
    private func byEitherName<Answer>(
        _ call: RainMakerCall, _ make: (RainMakerCall) async throws(AccountError) -> Answer
    ) async throws(AccountError) -> Answer {
        let refusal: AccountError
        do throws(AccountError) { return try await make(call) } catch { refusal = error }
        guard let first = call.firstVersion, refusal.saysNoSuchCall else { throw refusal }
        do throws(AccountError) { return try await make(first) } catch {
            // If the deployment has neither name, its answer to the current name describes it best.
            throw error.saysNoSuchCall ? refusal : error
        }
    }

    /// Returns the error for an answer that lacks a member, or has a member of the wrong type.
    /// - Parameter reply: the object that the member belongs to, if `member` is its name.
    func incomplete(_ member: String, in reply: JSONValue? = nil) -> AccountError {
        let what =
            switch reply?[member]?.unlessNull {
            case nil: "\(member) is missing"
            case .string("")?: "\(member) is empty"
            case let found?: "\(member) is \(found.kind), which was not expected"
            }
        return AccountError(
            .malformedAnswer,
            message:
                "\(deployment.base.authority) answered with JSON that is not from a RainMaker cloud: \(what). The base URL may belong to "
                + "another service, or a proxy or gateway on the way may have answered instead")
    }
}

extension AccountError {
    /// Whether the deployment does not have the call. Evidence is the cloud's own number, a web server's status, or the answer of Amazon's
    /// API Gateway.
    var saysNoSuchCall: Bool {
        guard serverCode == nil else { return serverCode == 100_003 }
        if status == 403 { return serverMessage?.lowercased() == "missing authentication token" }
        return [404, 405, 501].contains(status)
    }

    /// Returns the error for a failed call that had no session. A 401 to such a call does not mean that a session has ended.
    fileprivate func withoutSession(at host: String) -> AccountError {
        var error = self
        // Every RainMaker cloud has the calls that need no session.
        if isFromGateway, serverCode == nil, let status = self.status, [404, 405, 501].contains(status) {
            error.code = .invalidConfiguration
            error.message =
                "\(host) has no RainMaker API at this base URL, or a proxy or gateway on the way answers instead (HTTP \(status)); "
                + "check the base URL"
            return error
        }
        // Nobody is signed in who could lack a right.
        if code == .forbidden, !isFromGateway, serverCode.map({ [403, 100_004].contains($0) }) ?? true {
            error.message = "\(host) does not allow this request; ask the operator of the deployment"
            return error
        }
        guard code == .expired, serverCode == nil else { return self }
        let status = status.map { " (HTTP \($0))" } ?? ""
        if isFromGateway {
            error.code = .serverFault
            error.message =
                "a proxy or gateway on the way to \(host) asks for its own sign-in\(status); try again later, and check the base URL"
        } else {
            error.code = .signInFailed
            error.message = "\(host) does not accept this user name, password or code\(status)"
        }
        return error
    }
}

/// One call of RainMaker's REST interface, without its host and user.
struct RainMakerCall: Sendable {
    private var method: HTTPRequest.Method
    /// The path below `v1/`. Segments are already percent-encoded.
    private var path: String
    private var query: [(name: String, value: String)]
    private var body: JSONValue?
    /// Whether the path begins with `v1/`. Only `apiversions` and `mqtt_host` are outside it.
    var isVersioned = true

    /// The call for short-lived rights. It changes nothing of the user's.
    static let assumeRole = "user/assume_role"
    /// The call for a challenge that a board signs. The challenge expires, and changes nothing until it is answered.
    static let initiateMapping = "user/nodes/mapping/initiate"
    private static let harmless: Set = [assumeRole, initiateMapping]

    /// The time limit of one call to the cloud.
    private static let deadline = Duration.seconds(10)
    var deadline = Self.deadline
    /// Called with the number of bytes of the body that have been sent.
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

    /// Returns the same call with its first name, or nil for a call that has had one name only. Some deployments have only the first names
    /// (ESP32-C3 book, "Account Login": `POST /v1/login`, `GET /v1/user`).
    fileprivate var firstVersion: RainMakerCall? {
        guard Self.renamed.contains(path) else { return nil }
        var call = self
        call.path.removeLast()
        return call
    }

    private static let renamed: Set<String> = ["login2", "logout2", "user2", "password2", "forgotpassword2"]

    fileprivate func request(to deployment: Deployment) -> HTTPRequest {
        request(below: deployment.base.text + (isVersioned ? "/v1/" : "/"))
    }

    /// - Parameter root: ends with a slash.
    func request(below root: String) -> HTTPRequest {
        var url = root + path
        if !query.isEmpty {
            url += "?" + query.map { "\($0.name)=\(PercentEncoding.encoded($0.value))" }.joined(separator: "&")
        }
        var headers = [HTTPHeader("Accept", "application/json"), HTTPHeader("User-Agent", "RainKit")]
        if body != nil { headers.append(HTTPHeader("Content-Type", "application/json")) }
        var request = HTTPRequest(
            method: method, url: url, headers: headers, body: body?.serialized() ?? [], deadline: deadline,
            maximumResponseBytes: Self.maximumResponseBytes)
        request.uploadProgress = uploadProgress
        request.isChange = method != .get && !Self.harmless.contains(path)
        return request
    }

    /// A page of nodes with all details has a few hundred kilobytes.
    private static let maximumResponseBytes = 4 << 20
}

/// Reads an answer of the cloud, or of a proxy or gateway in front of it.
///
/// A failure has one of several forms:
/// - `{status:"failure",error_code,description}` from the service,
/// - the same without the code, or `{message}`, from the gateway in front of it,
/// - `{error}` from OAuth endpoints,
/// - HTML from a proxy.
///
/// `error_code` is a number, or digits in a string. A failure can have status 200.
enum RainMakerReply {
    /// Returns the answer of a call that succeeded: an object.
    static func value(_ response: HTTPResponse, from host: String) throws(AccountError) -> JSONValue {
        let json = try anyValue(response, from: host)
        guard json.array == nil else { throw notAsExpected(response, from: host) }
        return json
    }

    /// Returns the answer of one of the few calls that answer with a list.
    fileprivate static func list(_ response: HTTPResponse, from host: String) throws(AccountError) -> [JSONValue] {
        guard let list = try anyValue(response, from: host).array else { throw notAsExpected(response, from: host) }
        return list
    }

    private static func notAsExpected(_ response: HTTPResponse, from host: String) -> AccountError {
        AccountError(
            .malformedAnswer,
            message:
                "\(host) answered with JSON that is not from a RainMaker cloud. The base URL may belong to another service, or a proxy or "
                + "gateway on the way may have answered instead",
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
        if 300..<400 ~= response.status {
            throw .redirect(response.status, from: host, to: response.redirectTarget(from: host))
        }
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

    private static func failure(_ json: JSONValue, status: Int, from host: String) -> AccountError {
        let serverCode = json["error_code"].flatMap(LenientInteger.init).map { Int($0.value) }
        let words = serverWords(json)
        // The cloud's own number has priority over the status. A wrong password is 400 with 101009, an ended session is 400 with 101017.
        let meaning = serverCode.flatMap { RainMakerErrorCode.meaning(of: $0, status: status) }
        let code = meaning?.code ?? code(status)
        // The claim service's refusals have no number, but they have the envelope. The envelope of a web framework also comes from the
        // service, because a gateway in front of it does not read its requests.
        let isFromGateway =
            serverCode == nil && json["status"]?.string != "failure" && !isFromService(json, status: status)
        let sentence = sentence(
            code, host: host, status: status, number: serverCode, isFromGateway: isFromGateway)
        var error = AccountError(
            code, message: meaning?.sentence ?? sentence, serverCode: serverCode, serverMessage: words.map(presentable),
            status: status)
        error.serverCause = json["error"]?.string.map(presentable)
        error.isFromGateway = isFromGateway
        if isFromGateway, error.saysNoSuchCall {
            error.message =
                "\(host) does not know this request (HTTP \(status)). The deployment may not support the request, or a proxy on the way "
                + "may answer instead; check the base URL"
        }
        return error
    }

    /// Returns whether a web framework's envelope shows that the service read the request. Evidence is status 422 (RFC 9110, section
    /// 15.5.21), `detail` as in FastAPI, Django and RFC 9457, or `errors`.
    private static func isFromService(_ json: JSONValue, status: Int) -> Bool {
        400..<500 ~= status && (status == 422 || json["detail"] != nil || json["errors"] != nil)
    }

    /// Maps the HTTP status, if the cloud gave no number or an undocumented one.
    private static func code(_ status: Int) -> AccountError.Code {
        switch status {
        case 401: .expired
        case 403: .forbidden
        case 429: .rateLimited
        case 500...: .serverFault
        default: .rejected
        }
    }

    /// - Parameter number: the cloud's error number, if it gave one. It is undocumented, so the message includes it.
    private static func sentence(
        _ code: AccountError.Code, host: String, status: Int, number: Int?, isFromGateway: Bool
    ) -> String {
        let answer = "HTTP \(status)" + (number.map { ", error code \($0)" } ?? "")
        let named = number.map { " (error code \($0))" } ?? ""
        return switch code {
        case .expired: "the session has ended\(named); sign in again"
        case .rateLimited: "\(host) received too many requests\(named); try again in a few minutes"
        case .forbidden where !isFromGateway: "the signed-in user may not do this\(named)"
        case .forbidden, .rejected:
            if isFromGateway {
                "a proxy or gateway on the way to \(host) refused the request (\(answer)); try again later, and check the base URL"
            } else {
                "\(host) refused the request (\(answer))"
            }
        case .serverFault where number == nil: "\(host) \(serverTrouble(status)); try again later"
        case .serverFault: "\(host) has an internal fault (\(answer)); try again later"
        default: "\(host) refused the request (\(answer))"
        }
    }
}
