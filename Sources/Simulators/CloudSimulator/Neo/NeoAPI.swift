// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import Synchronization

/// The main API of a simulated RainMaker Neo as a function from a request to a response. Accounts are those of ``IdentityAPI``.
///
/// It serves what is known of Neo. Everything else is refused by name, with status 501.
public final class NeoAPI: Sendable {
    /// The stage of API Gateway, which is part of every path.
    static let stage = "/prod"
    static let region = "us-east-1"

    let identity: IdentityAPI
    let keys: KeyRing
    let journal: Journal
    private let clock: @Sendable () -> Int64
    private let clockOffset = Atomic<Int64>(0)
    let state = Mutex(NeoState())
    let credentials = Mutex(NeoCredentialTable())
    private let faults = Mutex(FaultTable())
    let live = LiveSessions()
    /// Publishes messages to nodes. Set while the broker runs.
    let outbox = Mutex<Outbox?>(nil)
    /// The addresses of this deployment, as its installer publishes them.
    let outputs = Mutex(JSONValue.object([]))

    struct Outbox {
        var send: @Sendable (_ topic: String, _ payload: [UInt8]) -> Void
    }

    init(
        identity: IdentityAPI, keys: KeyRing, nodes: [NodeSpecification], journal: Journal,
        clock: @escaping @Sendable () -> Int64
    ) throws(SimulatorError) {
        (self.identity, self.keys, self.journal, self.clock) = (identity, keys, journal, clock)
        for specification in nodes {
            let node = try keys.node(specification)
            state.withLock { $0.nodes[node.id] = NeoState.NodeEntry(node: node) }
        }
    }

    var now: Int64 { clock() + clockOffset.load(ordering: .relaxed) }

    var nodeFiles: [(id: String, certificate: String, key: String)] {
        state.withLock { $0.nodes.keys.sorted() }.map {
            ($0, keys.certificateFile(ofNode: $0), keys.keyFile(ofNode: $0))
        }
    }

    // MARK: Requests

    /// A refusal in Neo's form.
    struct Failure: Error {
        var status: Int
        var message: String
        init(_ status: Int, _ message: String) { (self.status, self.message) = (status, message) }
    }

    /// Answers one request, and records it in the journal.
    func respond(to request: Request) -> Response {
        if request.path.hasPrefix(CloudAPI.controlPrefix) { return control(request) }
        let fault = faults.withLock { $0.next(for: request) }
        var user: String?
        var response: Response
        if let fault, !fault.isProcessed {
            response = fault.response(
                failure: Response(status: fault.status, ["message": .string(reasonPhrase(fault.status))]))
        } else {
            do throws(Failure) {
                response = try answer(request, &user)
            } catch {
                response = Response(status: error.status, ["message": .string(error.message)])
            }
            if let fault { response = fault.applied(to: response) }
        }
        journal.request(
            request, status: response.status, errorCode: nil, user: user, fault: fault?.action.rawValue)
        return response
    }

    func refuse(status: Int, reason: String) -> Response {
        journal.malformed(status: status, reason: reason)
        return Response(status: status, ["message": .string(reason)])
    }

    private func answer(_ request: Request, _ user: inout String?) throws(Failure) -> Response {
        switch request.path {
        case "/rmng-client-outputs.json": return Response(outputs.withLock { $0 })
        case "/mqtt": return try openLive(request)
        default: break
        }
        guard request.path.hasPrefix(Self.stage + "/v1/") else { throw Failure(403, "Missing Authentication Token") }
        let parts = request.path.dropFirst(Self.stage.count + 4).split(separator: "/", omittingEmptySubsequences: false)
            .map { String(decoding: PercentEncoding.decoded($0.utf8), as: UTF8.self) }
        if parts == ["user", "credentials"], request.method == "POST" { return try issueCredentials(request, &user) }
        let caller = try caller(request)
        user = caller.email
        return try NeoCall(api: self, request: request, user: caller).answer(parts)
    }

    /// Returns the user whose credentials signed the request.
    private func caller(_ request: Request) throws(Failure) -> TokenUser {
        guard let check = AWSSignatureCheck(headers: request, service: "execute-api") else {
            throw Failure(403, "Missing Authentication Token")
        }
        guard check.region == Self.region,
            let credential = credentials.withLock({ $0.credential(check.accessKey, at: now) }), credential.groups == nil
        else { throw Failure(403, "The security token included in the request is invalid.") }
        guard check.isValid(secretKey: credential.secretKey, sessionToken: credential.sessionToken, at: now) else {
            throw Failure(
                403,
                "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and "
                    + "signing method.")
        }
        return credential.user
    }

    /// `POST /v1/user/credentials`: the access token and the ID token are of one sign-in.
    private func issueCredentials(_ request: Request, _ caller: inout String?) throws(Failure) -> Response {
        let header = request.header("Authorization") ?? ""
        guard header.hasPrefix("Bearer ") else { throw Failure(401, "Unauthorized") }
        guard let access = identity.login(ofAccessToken: String(header.dropFirst(7))) else {
            throw Failure(401, "Invalid or expired access token")
        }
        caller = access.user.email
        guard let body = try? JSONValue(parsing: request.body, limits: Call.limits),
            let token = body["id_token"]?.string, !token.isEmpty
        else { throw Failure(400, "id_token is required") }
        guard let login = identity.login(ofIDToken: token) else { throw Failure(401, "Invalid or expired id token") }
        guard login == access.login else { throw Failure(403, "Tokens do not belong together") }
        let now = now
        let issued = credentials.withLock { $0.issue(to: access.user, groups: nil, at: now) }
        return Response([
            "access_key_id": .string(issued.accessKey), "secret_access_key": .string(issued.secretKey),
            "session_token": .string(issued.sessionToken), "expiration": .integer(issued.expiresAt / 1000),
        ])
    }

    // MARK: Control

    /// Requests of tests: `POST /_sim/faults`, `/_sim/clock` and `/_sim/credentials`, which ends all AWS credentials.
    private func control(_ request: Request) -> Response {
        let what = String(request.path.dropFirst(CloudAPI.controlPrefix.count))
        let response: Response
        do throws(APIError) {
            guard request.method == "POST" else { throw .methodNotAllowed }
            let body = try Call(request: request).body(isOptional: true)
            switch what {
            case "faults":
                let table = try FaultTable(body)
                faults.withLock { $0 = table }
            case "clock":
                guard let seconds = try body.integer("offset"), seconds.magnitude <= 1_000_000_000 else {
                    throw .invalidBody
                }
                clockOffset.store(seconds * 1000, ordering: .relaxed)
            case "credentials": credentials.withLock { $0.endAll() }
            default: throw .notFound
            }
            response = Response(["status": "success", "description": "Done"])
        } catch {
            response = error.response
        }
        journal.control(what, user: nil, status: response.status, provider: "neo")
        return response
    }
}

// MARK: The broker

extension NeoAPI {
    /// `GET /mqtt`: becomes a WebSocket.
    private func openLive(_ request: Request) throws(Failure) -> Response {
        guard let check = AWSSignatureCheck(query: request, service: "iotdevicegateway"), check.region == Self.region,
            let credential = credentials.withLock({ $0.credential(check.accessKey, at: now) }),
            let groups = credential.groups,
            check.isValid(secretKey: credential.secretKey, sessionToken: credential.sessionToken, at: now)
        else { throw Failure(403, "Forbidden") }
        let prefix = "user:\(credential.user.email):"
        let rights = LiveRights(
            mayConnect: { $0.hasPrefix(prefix) && $0.utf8.count > prefix.utf8.count },
            publish: { [weak self] topic, payload in self?.receiveFromUser(topic, payload, groups) ?? false },
            maySubscribe: { filter in
                let parts = filter.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
                guard parts.count >= 7, parts[0] == "$aws", parts[1] == "things", parts[3] == "shadow",
                    parts[4] == "name",
                    Self.isAllowed(parts[5], groups)
                else { return false }
                return ["get", "update"].contains(parts[6])
            })
        guard let response = live.upgrade(request, rights) else { throw Failure(400, "Bad Request") }
        return response
    }

    private static func isAllowed(_ shadow: String, _ groups: Set<String>) -> Bool {
        let parts = shadow.split(separator: "-").map(String.init)
        return parts.count >= 2 && parts[0] == "params" && groups.contains(parts[1])
    }

    /// Takes a message of a user. Returns false if the user may not publish it.
    private func receiveFromUser(_ topic: String, _ payload: [UInt8], _ groups: Set<String>) -> Bool {
        let parts = topic.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if parts.count == 7, parts[0] == "$aws", parts[1] == "things", parts[6] == "get",
            Self.isAllowed(parts[5], groups)
        {
            answerShadow(node: parts[2], shadow: parts[5]) { [live] in live.publish($0, $1) }
            return true
        }
        guard parts.count == 6, parts[0] == "rainmaker", parts[1] == "nodes", parts[3] == "user", parts[5] == "params",
            Self.isAllowed(parts[4], groups)
        else { return false }
        outbox.withLock { $0 }?.send(topic, payload)
        return true
    }

    private func answerShadow(node: String, shadow: String, _ send: (String, [UInt8]) -> Void) {
        let now = now
        let found = state.withLock { $0.nodes[node]?.shadows[shadow] }
        let topic = "$aws/things/\(node)/shadow/name/\(shadow)/get"
        if let found {
            send("\(topic)/accepted", found.document(at: now).serialized())
        } else {
            let words: JSONValue = [
                "code": 404, "message": .string("No shadow exists with name: '\(node)~\(shadow)'"),
            ]
            send("\(topic)/rejected", words.serialized())
        }
    }

    /// Takes a message of a node.
    func receive(topic: String, payload: [UInt8]) {
        var parts = topic.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if parts.starts(with: ["$aws", "rules"]) { parts.removeFirst(min(3, parts.count)) }
        let limits = JSONLimits(maximumBytes: CloudAPI.maximumMessage, maximumDepth: 16, maximumValues: 20_000)
        func message() -> JSONValue? {
            guard let message = try? JSONValue(parsing: payload, limits: limits), message.members != nil else {
                return nil
            }
            return message
        }
        if parts.count == 7, parts[0] == "$aws", parts[1] == "things", parts[3] == "shadow" {
            let (node, shadow) = (parts[2], parts[5])
            switch parts[6] {
            case "get":
                let outbox = outbox.withLock { $0 }
                answerShadow(node: node, shadow: shadow) { outbox?.send($0, $1) }
            case "update":
                guard let reported = message()?["state"]?["reported"] else { return journal.node(node, "ignored") }
                report(reported, node: node, shadow: shadow)
            default: break
            }
            return
        }
        guard parts.count >= 4, parts[0] == "rainmaker", parts[1] == "nodes" else { return }
        switch parts[3] {
        case "to_cloud":
            guard let message = message() else { return journal.node(parts[2], "ignored") }
            answerEvents(message, of: parts[2])
        case "ts":
            guard let message = message() else { return journal.node(parts[2], "ignored") }
            receiveSeries(message, of: parts[2])
        default: break
        }
    }

    private func report(_ reported: JSONValue, node: String, shadow: String) {
        let now = now
        let documents = state.withLock { state -> (JSONValue, JSONValue)? in
            // `iparams` has copies of some values, for the fleet's search.
            guard state.shadow(ofNode: node) == shadow, state.nodes[node] != nil else { return nil }
            var document = state.nodes[node]?.shadows[shadow] ?? NeoShadowDocument()
            let before = document.document(at: now)
            document.report(reported, at: now)
            state.nodes[node]?.shadows[shadow] = document
            return (before, document.document(at: now))
        }
        guard let documents else { return journal.node(node, "ignored") }
        let topic = "$aws/things/\(node)/shadow/name/\(shadow)/update"
        let accepted: JSONValue = ["state": ["reported": reported], "timestamp": .integer(now / 1000)]
        outbox.withLock { $0 }?.send("\(topic)/accepted", accepted.serialized())
        let changed: JSONValue = [
            "previous": documents.0, "current": documents.1, "timestamp": .integer(now / 1000),
        ]
        journal.node(node, "params")
        live.publish("\(topic)/documents", changed.serialized())
    }

    /// Answers a node's questions. Those that are not simulated have an empty answer.
    private func answerEvents(_ message: JSONValue, of node: String) {
        let events = (message["event"]?.array ?? []).compactMap(\.string)
        guard !events.isEmpty else { return journal.node(node, "ignored") }
        let now = now
        let answers = state.withLock { state -> [JSONValue.Member] in
            events.map { event in
                switch event {
                case "getGroupInfo": return .init(event, Self.groupInfo(node, state))
                case "hello": return .init(event, message["hello"] ?? .object([]))
                case "setNodeConfig":
                    state.nodes[node]?.node.config = message["setNodeConfig"]?["config"]
                    return .init(event, ["status": "success"])
                case "getSchedDetails":
                    return .init(event, ["version": 1, "Schedules": state.nodes[node]?.schedules ?? .array([])])
                case "getTimeSync": return .init(event, ["time": .integer(now)])
                case "getSchedVer", "getTriggerVer": return .init(event, ["version": 1])
                default: return .init(event, .object([]))
                }
            }
        }
        if events.contains("setNodeConfig") { journal.node(node, "config") }
        send(answers, to: node)
    }

    private static func groupInfo(_ node: String, _ state: NeoState) -> JSONValue {
        [
            "pgrp": .string(state.group(ofNode: node) ?? ""),
            "subgrps": .array(state.subgroups(ofNode: node).map { .string($0) }),
        ]
    }

    private func send(_ answers: [JSONValue.Member], to node: String) {
        let message: JSONValue = .object([.init("event", .array(answers.map { .string($0.name) }))] + answers)
        outbox.withLock { $0 }?.send("rainmaker/nodes/\(node)/from_cloud", message.serialized())
    }

    /// Tells a node its groups, after they have changed.
    func tellGroups(of node: String) {
        let info = state.withLock { Self.groupInfo(node, $0) }
        send([.init("getGroupInfo", info)], to: node)
    }

    /// Tells a node its schedules, after they have changed.
    func tellSchedules(of node: String) {
        let schedules = state.withLock { $0.nodes[node]?.schedules ?? .array([]) }
        send([.init("getSchedDetails", ["version": 1, "Schedules": schedules])], to: node)
    }

    private func receiveSeries(_ message: JSONValue, of node: String) {
        let points = message["data"]?.array ?? [message]
        for point in points.prefix(100) {
            guard let key = point["k"]?.string, let type = point["dt"]?.string, let time = point["t"]?.integer,
                let value = point["v"]
            else { return journal.node(node, "ignored") }
            let record = NeoState.Record(
                time: Self.milliseconds(time), type: type, value: value, zone: point["tz"]?.string ?? "UTC")
            state.withLock { $0.add(record, to: NeoState.SeriesKey(node: node, key: key)) }
        }
        journal.node(node, "ts")
    }

    /// The documents say seconds and the firmware sends milliseconds; both are taken.
    static func milliseconds(_ time: Int64) -> Int64 { abs(time) < 100_000_000_000 ? time * 1000 : time }

    /// Handles the broker's events about a node's connection. The real cloud notices the end of one after 10 to 100 s.
    func setConnected(_ isConnected: Bool, node: String) {
        let shadow = state.withLock { state -> String? in
            guard state.nodes[node] != nil else { return nil }
            state.nodes[node]?.isConnected = isConnected
            return state.shadow(ofNode: node)
        }
        journal.node(node, isConnected ? "connected" : "disconnected")
        guard !isConnected, let shadow else { return }
        report(
            ["online": false, "disconnect_info": ["last_disconnect_ts": .integer(now / 1000)]], node: node,
            shadow: shadow)
    }
}
