// SPDX-License-Identifier: Apache-2.0
import RainJSON
import Synchronization

/// Requests of tests to the simulator itself: `POST /_sim/…`, JSON, without authorisation. The real cloud has no such calls.
extension CloudAPI {
    static let controlPrefix = "/_sim/"

    func control(_ request: Request) -> Response {
        let what = String(request.path.dropFirst(Self.controlPrefix.count))
        var user: String?
        let response: Response
        do throws(APIError) {
            guard request.method == "POST" else { throw .methodNotAllowed }
            // Its body has an image, and is larger than others.
            if what == "ota_job" {
                let made = try makeUpdateJob(request)
                journal.control(what, user: nil, status: made.status)
                return made
            }
            let body = try Call(request: request).body()
            user = try body.string("user")
            switch what {
            case "expire": response = try expire(try known(user))
            case "revoke": response = try revoke(try known(user))
            case "faults": response = try setFaults(body)
            case "clock": response = try setClock(body)
            case "weather", "daylight": response = try setOccasion(what, body)
            case "ota_cancel": response = try cancelUpdateJob(body)
            case "mfa": response = try setSecondStep(try known(user), body)
            default: throw .notFound
            }
        } catch {
            response = error.response
        }
        journal.control(what, user: user, status: response.status)
        return response
    }

    private func known(_ name: String?) throws(APIError) -> User {
        guard let name, !name.isEmpty else { throw .userNameMissing }
        guard let user = readState({ $0.user(named: name) }) else { throw .userMissing }
        return user
    }

    /// Expires all access tokens of the user; the refresh tokens stay valid.
    private func expire(_ user: User) throws(APIError) -> Response {
        try change { state in
            for (id, session) in state.sessions where session.userID == user.id {
                state.sessions[id]?.generation += 1
            }
        }
        return success("Access tokens expired")
    }

    /// Ends all sessions of the user.
    private func revoke(_ user: User) throws(APIError) -> Response {
        try change { $0.endSessions(of: user.id) }
        return success("Sessions revoked")
    }

    /// Replaces all earlier faults.
    private func setFaults(_ body: Fields) throws(APIError) -> Response {
        let table = try FaultTable(body)
        faults.withLock { $0 = table }
        return success("Faults set")
    }

    private func setClock(_ body: Fields) throws(APIError) -> Response {
        guard let seconds = try body.integer("offset"), seconds.magnitude <= 1_000_000_000 else { throw .invalidBody }
        clockOffset.store(seconds * 1000, ordering: .relaxed)
        return success("Clock set")
    }

    /// Reports the weather, or sunrise or sunset, at a place to the automations.
    private func setOccasion(_ kind: String, _ body: Fields) throws(APIError) -> Response {
        let names = kind == "daylight" ? ["event"] : ["values"]
        guard let latitude = body.value["latitude"]?.double, let longitude = body.value["longitude"]?.double,
            names.allSatisfy({ body.has($0) })
        else { throw .invalidBody }
        var values = body.value["values"] ?? .null
        if kind == "daylight" {
            guard let event = try body.string("event"), ["sunrise", "sunset"].contains(event) else {
                throw .invalidBody
            }
            values = .object([.init(event, true)])
        }
        guard values.members != nil else { throw .invalidBody }
        let count = try automate(kind, at: (latitude, longitude), values)
        return success("Automations checked", [.init("actions", .integer(Int64(count)))])
    }

    private func setSecondStep(_ user: User, _ body: Fields) throws(APIError) -> Response {
        guard let isOn = try body.bool("on") else { throw .invalidBody }
        try change { $0.users[user.id]?.needsSecondStep = isOn }
        return success("Second step set")
    }
}

/// A fault that a test sets for requests with a method and path.
struct Fault: Sendable, Equatable {
    enum Action: String, Sendable, CaseIterable { case status, reset, hang, html, truncate, cut, delay }

    /// Nil for every method.
    var method: String?
    /// A path, or its beginning and a `*`.
    var path: String
    var action: Action
    var status: Int
    var retryAfter: Int64?
    /// The cloud's own code, in its envelope.
    var errorCode: Int64?
    /// How many more requests it affects; nil for all.
    var count: Int64?
    /// Whether the request is processed first, so that only its answer is lost.
    var isProcessed: Bool
    /// The body of a failure: any JSON.
    var body: JSONValue?
    /// The target of a redirect.
    var location: String?
    /// The delay of the answer for ``Action/delay``.
    var delayMilliseconds: Int64 = 0

    fileprivate func matches(_ request: Request) -> Bool {
        if let method, method != request.method { return false }
        return path.hasSuffix("*") ? request.path.hasPrefix(path.dropLast()) : request.path == path
    }

    /// Returns the client's answer if the request is not processed.
    ///
    /// - Parameter failure: the failure in the format of an identity system; nil for the cloud's own format.
    func response(failure: Response? = nil) -> Response {
        let answer: JSONValue = ["status": "success", "description": "The fault answers in place of the cloud"]
        return applied(to: Response(answer), failure: failure)
    }

    /// Returns the cloud's answer, changed by the fault.
    func applied(to answer: Response, failure: Response? = nil) -> Response {
        var response = answer
        switch action {
        case .status: response = body == nil && errorCode == nil ? failure ?? ownFailure : ownFailure
        case .html:
            response = Response(
                status: status,
                content: .html("<!DOCTYPE html><html><body>Welcome. Accept the terms to go on.</body></html>"))
        case .reset: response.delivery = .reset
        case .hang: response.delivery = .never
        case .truncate: response.delivery = .halved
        case .cut: response.delivery = .cut
        case .delay: response.delayMilliseconds = delayMilliseconds
        }
        if let location { response.headers.append(.init("Location", location)) }
        if let retryAfter { response.headers.append(.init("Retry-After", "\(retryAfter)")) }
        return response
    }

    private var ownFailure: Response {
        if let body { return Response(status: status, body) }
        guard let errorCode else { return Response(status: status, ["message": .string(reasonPhrase(status))]) }
        return APIError(status, errorCode, "A fault that was asked for").response
    }
}

/// The faults that are set. The first one that matches a request applies.
struct FaultTable: Sendable {
    /// The maximum number of rules. More are refused.
    private static let maximumRules = 64

    private var rules: [Fault] = []

    init(rules: [Fault] = []) { self.rules = rules }

    /// Returns the fault for this request, if any. It is removed once its count is used up.
    mutating func next(for request: Request) -> Fault? {
        guard let index = rules.firstIndex(where: { $0.matches(request) }) else { return nil }
        let fault = rules[index]
        if let count = fault.count {
            if count > 1 { rules[index].count = count - 1 } else { rules.remove(at: index) }
        }
        return fault
    }
}

extension FaultTable {
    /// Reads the body of `POST /_sim/faults`.
    init(_ body: Fields) throws(APIError) {
        guard let list = body.value["rules"]?.array, list.count <= Self.maximumRules else { throw .invalidBody }
        for element in list { rules.append(try Fault(element)) }
    }
}

extension Fault {
    /// Reads one of the `rules` of `POST /_sim/faults`.
    fileprivate init(_ value: JSONValue) throws(APIError) {
        let fields = Fields(value: value)
        guard value.members != nil, let path = try fields.string("path"), path.hasPrefix("/"),
            let action = try fields.string("action").flatMap(Action.init(rawValue:))
        else { throw .invalidBody }
        let status = try fields.integer("status") ?? (action == .status ? 500 : 200)
        let count = try fields.integer("count")
        let retryAfter = try fields.integer("retry_after")
        let location = try fields.string("location")
        let delay = try fields.integer("delay_ms") ?? 0
        guard (200...599).contains(status), count ?? 1 > 0, retryAfter ?? 0 >= 0, (0...60_000).contains(delay),
            location?.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) != false
        else { throw .invalidBody }
        self.init(
            method: try fields.string("method"), path: path, action: action, status: Int(status),
            retryAfter: retryAfter, errorCode: try fields.integer("error_code"), count: count,
            isProcessed: try fields.bool("processed") ?? (action == .delay), body: fields.value["body"]?.unlessNull,
            location: location, delayMilliseconds: delay)
    }
}
