// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON
import Synchronization

/// A simulated backend of an own cloud, as a function from a request to a response. It accepts the access tokens of the simulated identity
/// systems, or gives its own for a one-time code of SPiD. It stores the owners of nodes, and does no network I/O.
public final class OwnCloudAPI: Sendable {
    fileprivate let systems: [IdentityAPI]
    private let journal: Journal
    private let owners = Mutex(NodeOwners())
    private let sessions = Mutex(OwnCloudSessions())
    private let faults = Mutex(FaultTable())
    private let clock: @Sendable () -> Int64
    /// How far its clock is ahead, in milliseconds.
    private let clockOffset = Atomic<Int64>(0)

    /// - Parameters:
    ///   - systems: the systems whose access tokens are accepted.
    ///   - clock: milliseconds since 1970.
    public init(
        systems: [IdentityAPI], journal: Journal, clock: @escaping @Sendable () -> Int64 = wallClock
    ) {
        self.systems = systems
        self.journal = journal
        self.clock = clock
    }

    /// Its time, in milliseconds since 1970.
    fileprivate var now: Int64 { clock() + clockOffset.load(ordering: .relaxed) }

    /// Answers one request, and records it in the journal.
    public func respond(to request: Request) -> Response {
        if request.path.hasPrefix(CloudAPI.controlPrefix) { return control(request) }
        let fault = faults.withLock { $0.next(for: request) }
        let failure = fault.map { OwnCloudFailure($0.status, "server_error", reasonPhrase($0.status)).response }
        var user: String?
        let response =
            if let fault, !fault.isProcessed {
                fault.response(failure: failure)
            } else if let fault {
                fault.applied(to: answer(request, &user), failure: failure)
            } else {
                answer(request, &user)
            }
        journal.request(
            request, status: response.status, errorCode: nil, user: user, fault: fault?.action.rawValue)
        return response
    }

    /// Answers bytes that are not an HTTP request.
    public func refuse(status: Int, reason: String) -> Response {
        journal.malformed(status: status, reason: reason)
        return OwnCloudFailure(status, "invalid_request", reason).response
    }

    private func answer(_ request: Request, _ user: inout String?) -> Response {
        do throws(OwnCloudFailure) {
            return try route(OwnCloudCall(request, systems: systems), &user)
        } catch {
            return error.response
        }
    }
}

/// The user of the access token.
private struct OwnCloudCaller {
    var user: TokenUser
    var system: IdentitySystem
}

/// A refusal of the backend: `{"error","message"}`.
private struct OwnCloudFailure: Error {
    var status: Int
    var error: String
    var message: String

    init(_ status: Int, _ error: String, _ message: String) {
        (self.status, self.error, self.message) = (status, error, message)
    }

    var response: Response {
        var response = Response(status: status, ["error": .string(error), "message": .string(message)])
        if status == 401 { response.headers.append(.init("WWW-Authenticate", "Bearer error=\"\(error)\"")) }
        return response
    }

    static let notFound = OwnCloudFailure(404, "not_found", "There is nothing here")
    static let badBody = OwnCloudFailure(400, "invalid_request", "The body is not what is expected")
}

extension OwnCloudAPI {
    private func route(_ call: OwnCloudCall, _ user: inout String?) throws(OwnCloudFailure) -> Response {
        let parts = call.parts
        // The node's own report, which has no user's token.
        if call.request.method == "POST", parts.count == 3, parts[0] == "nodes", parts[2] == "report" {
            return try report(try OwnCloudCall.node(parts[1]), call)
        }
        if call.request.method == "POST", parts == ["sessions"] { return try signIn(call, &user) }
        let (token, now) = (try call.token(), now)
        let own = sessions.withLock { $0.session(of: token, at: now) }
        let caller: OwnCloudCaller
        if let own { caller = own } else { caller = try call.caller() }
        user = caller.user.email
        switch (call.request.method, parts.first, parts.count) {
        case ("PUT", "nodes", 3) where parts[2] == "owner":
            return try add(try OwnCloudCall.node(parts[1]), call, caller)
        case ("GET", "nodes", 1):
            return Response(["nodes": .array(owners.withLock { $0.nodes(of: caller.user.id) }.map { .string($0) })])
        case ("DELETE", "sessions", 2) where parts[1] == "current" && own != nil: return try signOut(call, caller)
        case ("GET", "requests", 2): return try status(of: parts[1], caller)
        case ("POST", "challenges", 1): return try challenge(call, caller)
        case ("POST", "challenges", 3) where parts[2] == "answer": return try answer(parts[1], call, caller)
        default: throw .notFound
        }
    }

    /// Handles the user's half of a mapping by secret.
    private func add(
        _ node: String, _ call: OwnCloudCall, _ caller: OwnCloudCaller
    ) throws(OwnCloudFailure) -> Response {
        let body = try call.body()
        try check(body, is: caller)
        let (secret, id, now) = (try OwnCloudCall.text("secret_key", of: body), makeUUID(), now)
        let changes = owners.withLock {
            $0.add(node, id: id, user: caller.user.id, secret: secret, provider: caller.system, at: now)
        }
        guard let changes else { throw OwnCloudFailure(409, "too_many_nodes", "There are too many nodes") }
        record(changes)
        return Response(["request_id": .string(id)])
    }

    private func status(of id: String, _ caller: OwnCloudCaller) throws(OwnCloudFailure) -> Response {
        let now = now
        guard let (status, changes) = owners.withLock({ $0.status(of: id, user: caller.user.id, at: now) }) else {
            throw .notFound
        }
        record(changes)
        return Response(["request_id": .string(id), "status": .string(status.rawValue)])
    }

    private func report(_ node: String, _ call: OwnCloudCall) throws(OwnCloudFailure) -> Response {
        let body = try call.body()
        let (user, secret) = (try OwnCloudCall.text("user_id", of: body), try OwnCloudCall.text("secret_key", of: body))
        let now = now
        record(owners.withLock { $0.report(node, user: user, secret: secret, at: now) })
        return Response([:])
    }

    private func challenge(_ call: OwnCloudCall, _ caller: OwnCloudCaller) throws(OwnCloudFailure) -> Response {
        let body = try call.body()
        try check(body, is: caller)
        let lifetime = body["lifetime"]?.integer ?? 360
        guard (1...86_400).contains(lifetime) else { throw .badBody }
        var random = OpenSSLRandom()
        let (id, text, now) = (makeUUID(), Hex.text(random.bytes(32)), now)
        record(
            owners.withLock {
                $0.challenge(id: id, user: caller.user.id, challenge: text, lifetime: lifetime, at: now)
            })
        return Response(["request_id": .string(id), "challenge": .string(text)])
    }

    private func answer(
        _ id: String, _ call: OwnCloudCall, _ caller: OwnCloudCaller
    ) throws(OwnCloudFailure) -> Response {
        let body = try call.body()
        try check(body, is: caller)
        let node = try OwnCloudCall.text("node_id", of: body)
        guard let signature = body["signature"]?.string, let bytes = Hex.decoded(signature.utf8) else { throw .badBody }
        let now = now
        let (changes, refusal) = owners.withLock {
            $0.answer(id, user: caller.user.id, node: node, signature: bytes, provider: caller.system, at: now)
        }
        record(changes)
        // A client that lost the answer sends the same request again.
        guard refusal == nil || refusal == .alreadyConfirmed else {
            throw OwnCloudFailure(409, "not_confirmed", "The challenge was not answered as it must be")
        }
        return Response([:])
    }

    private func check(_ body: JSONValue, is caller: OwnCloudCaller) throws(OwnCloudFailure) {
        guard try OwnCloudCall.text("user_id", of: body) == caller.user.id else {
            throw OwnCloudFailure(403, "forbidden", "The token belongs to another user")
        }
    }

    private func record(_ changes: [MappingChange]) {
        for change in changes {
            let provider = change.nodeID.flatMap { node in owners.withLock { $0.provider(of: node) } }
            journal.nodeMapping(change, provider: provider)
        }
    }
}

extension Journal {
    /// - Parameter state: `registered`, `signed_in` or `signed_out`.
    fileprivate func backendSession(_ caller: OwnCloudCaller, _ state: String) {
        write(
            "backend_session",
            [
                .init("user_id", .string(caller.user.id)), .init("provider", .string(caller.system.rawValue)),
                .init("state", .string(state)),
            ])
    }

    fileprivate func nodeMapping(_ change: MappingChange, provider: IdentitySystem?) {
        var members: [JSONValue.Member] = []
        if let node = change.nodeID { members.append(.init("node", .string(node))) }
        members.append(.init("user_id", .string(change.userID)))
        if let provider { members.append(.init("provider", .string(provider.rawValue))) }
        write("node_mapping", members + [.init("state", .string(change.what.rawValue))])
    }
}

/// One request to the simulated backend.
private struct OwnCloudCall {
    /// The maximum length of ids and secrets.
    private static let maximumText = 128

    let request: Request
    let systems: [IdentityAPI]
    /// The decoded parts of the path after the first slash.
    let parts: [String]

    init(_ request: Request, systems: [IdentityAPI]) {
        self.request = request
        self.systems = systems
        parts = request.path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(percentDecoded)
    }

    /// The token of `Authorization: Bearer`.
    func token() throws(OwnCloudFailure) -> String {
        guard let header = request.header("Authorization"), header.lowercased().hasPrefix("bearer ") else {
            throw OwnCloudFailure(401, "invalid_token", "A bearer token is needed")
        }
        return header.dropFirst(7).trimmingSpaces()
    }

    /// Returns the caller: the person to whom one of the systems issued the token. The token must still be valid there.
    func caller() throws(OwnCloudFailure) -> OwnCloudCaller {
        let token = try token()
        for system in systems {
            if let user = system.user(ofAccessToken: token) { return OwnCloudCaller(user: user, system: system.system) }
        }
        throw OwnCloudFailure(401, "invalid_token", "The token is not known, or has ended")
    }

    func body() throws(OwnCloudFailure) -> JSONValue {
        guard let body = try? JSONValue(parsing: request.body, limits: Call.limits), body.members != nil else {
            throw .badBody
        }
        return body
    }

    static func text(_ name: String, of body: JSONValue) throws(OwnCloudFailure) -> String {
        guard let text = body[name]?.string, (1...maximumText).contains(text.utf8.count) else {
            throw OwnCloudFailure(400, "invalid_request", "\(name) is missing or too long")
        }
        return text
    }

    static func node(_ name: String) throws(OwnCloudFailure) -> String {
        guard (1...maximumText).contains(name.utf8.count) else {
            throw OwnCloudFailure(400, "invalid_request", "The node's id is missing or too long")
        }
        return name
    }
}

/// The registered users of the simulated backend, and their tokens. A value without a clock.
private struct OwnCloudSessions: Sendable {
    /// The lifetime of a token, in seconds.
    static let lifetime: Int64 = 3600
    static let maximumUsers = 1000

    private var tokens = ExpiringTable<OwnCloudCaller>(maximum: 1000)
    /// The ids of the registered users, by provider.
    private var users: Set<String> = []

    /// Registers the user and issues a token. Returns nil if there are too many users.
    mutating func begin(_ caller: OwnCloudCaller, at now: Int64) -> (token: String, isNew: Bool)? {
        let user = "\(caller.system.rawValue):\(caller.user.id)"
        let isNew = !users.contains(user)
        guard !isNew || users.count < Self.maximumUsers else { return nil }
        users.insert(user)
        let token = opaqueToken()
        tokens.insert(caller, key: token, until: now + Self.lifetime * 1000, at: now)
        return (token, isNew)
    }

    func session(of token: String, at now: Int64) -> OwnCloudCaller? { tokens.value(token, at: now) }

    mutating func end(_ token: String) { tokens.remove(token) }
}

extension OwnCloudAPI {
    /// The backend's client at SPiD, which redeems codes that apps requested for it.
    fileprivate static let spidClient = "backend-1"

    /// `POST /sessions {"code"}`: redeems the code at SPiD, as a backend does, and returns the backend's own token.
    private func signIn(_ call: OwnCloudCall, _ user: inout String?) throws(OwnCloudFailure) -> Response {
        let code = try OwnCloudCall.text("code", of: try call.body())
        guard let spid = systems.first(where: { $0.system == .spid }),
            let client = SPiDClient.known.first(where: { $0.id == Self.spidClient })
        else { throw .notFound }
        let form = [
            ("grant_type", "authorization_code"), ("client_id", client.id),
            ("client_secret", "\(client.id)-secret"), ("redirect_uri", client.defaultRedirect ?? ""),
            ("code", code),
        ].map { "\($0)=\(PercentEncoding.encoded($1))" }.joined(separator: "&")
        let redeemed = spid.respond(
            to: Request(
                method: "POST", target: "/oauth/token",
                headers: [.init("Content-Type", "application/x-www-form-urlencoded")], body: Array(form.utf8)))
        guard redeemed.status < 500 else { throw OwnCloudFailure(503, "server_error", "SPiD does not answer") }
        guard let token = redeemed.body["access_token"]?.string, let id = redeemed.body["user_id"]?.string else {
            throw OwnCloudFailure(400, "invalid_grant", "SPiD did not accept the code")
        }
        // Asks SPiD for the user, with the backend's own token.
        let profile = spid.respond(
            to: Request(
                method: "GET", target: "/api/2/user/\(id)", headers: [.init("Authorization", "Bearer \(token)")]))
        guard profile.status == 200, let known = spid.user(ofAccessToken: token) else {
            throw OwnCloudFailure(503, "server_error", "SPiD does not say who the user is")
        }
        user = known.email
        let (caller, now) = (OwnCloudCaller(user: known, system: .spid), now)
        guard let session = sessions.withLock({ $0.begin(caller, at: now) }) else {
            throw OwnCloudFailure(409, "too_many_users", "There are too many users")
        }
        if session.isNew { journal.backendSession(caller, "registered") }
        journal.backendSession(caller, "signed_in")
        return Response([
            "token": .string(session.token), "expires_in": .integer(OwnCloudSessions.lifetime),
            "user_id": .string(known.id),
        ])
    }

    /// `DELETE /sessions/current`: ends the token.
    private func signOut(_ call: OwnCloudCall, _ caller: OwnCloudCaller) throws(OwnCloudFailure) -> Response {
        let token = try call.token()
        sessions.withLock { $0.end(token) }
        journal.backendSession(caller, "signed_out")
        return Response([:])
    }
}

extension OwnCloudAPI {
    /// Answers `POST /_sim/…`, like the identity systems.
    private func control(_ request: Request) -> Response {
        let what = String(request.path.dropFirst(CloudAPI.controlPrefix.count))
        let response: Response
        do throws(APIError) {
            guard request.method == "POST" else { throw .methodNotAllowed }
            try control(what, try Call(request: request).body())
            response = Response(["status": "success", "description": "Done"])
        } catch {
            response = error.response
        }
        journal.control(what, user: nil, status: response.status)
        return response
    }

    private func control(_ what: String, _ body: Fields) throws(APIError) {
        switch what {
        case "faults":
            let table = try FaultTable(body)
            faults.withLock { $0 = table }
        case "clock":
            guard let seconds = try body.integer("offset"), seconds.magnitude <= 1_000_000_000 else {
                throw .invalidBody
            }
            clockOffset.store(seconds * 1000, ordering: .relaxed)
        case "settings":
            guard let confirmation = try body.string("confirmation").flatMap(NodeOwners.Confirmation.init) else {
                throw .invalidBody
            }
            owners.withLock { $0.confirmation = confirmation }
        case "nodes":
            guard let node = try body.string("node"), let key = try body.string("public_key"),
                owners.withLock({ $0.setKey(key, of: node) })
            else { throw .invalidBody }
        default: throw .notFound
        }
    }
}

/// A simulated backend of an own cloud, with its own port beside the identity systems.
///
/// It answers from its creation until ``stop()``.
public final class OwnCloudServer: Sendable {
    public let api: OwnCloudAPI
    /// Such as `http://127.0.0.1:49152`.
    public let url: String
    private let listener: HTTPListener

    /// - Parameters:
    ///   - systems: the systems whose access tokens are accepted.
    ///   - host: the host to listen on, with a free port.
    public init(
        systems: [IdentityAPI], host: String = "127.0.0.1", journal: Journal,
        clock: @escaping @Sendable () -> Int64 = wallClock
    ) throws(SimulatorError) {
        let api = OwnCloudAPI(systems: systems, journal: journal, clock: clock)
        let address = ListenAddress(host: host, port: 0)
        listener = try HTTPListener(
            address: address, clock: { api.now }, refusal: { api.refuse(status: $0, reason: $1) },
            handler: { api.respond(to: $0) })
        url = "http://\(address.urlHost):\(listener.port)"
        self.api = api
        listener.start()
    }

    public func stop() { listener.stop() }

    /// The description of this backend for clients: the file of docs/own-cloud.md. Users of SPiD sign in to it with a one-time code. The
    /// other systems have no such codes, so it accepts their tokens.
    public var description: JSONValue {
        var members: [JSONValue.Member] = [.init("schemaVersion", 1)]
        if api.systems.contains(where: { $0.system == .spid }) {
            let signIn: JSONValue = [
                "method": "POST", "url": .string(url + "/sessions"), "body": ["code": "{code}"],
                "client": .string(OwnCloudAPI.spidClient), "token": "token",
            ]
            members.append(.init("signIn", signIn))
            members.append(.init("signOut", ["method": "DELETE", "url": .string(url + "/sessions/current")]))
        }
        members.append(.init("sendsProviderToken", true))
        return .object(members + (requests.members ?? []))
    }

    /// The requests about nodes.
    private var requests: JSONValue {
        [
            "add": [
                "method": "PUT", "url": .string(url + "/nodes/{node_id}/owner"),
                "body": [
                    "user_id": "{user_id}", "secret_key": "{secret_key}", "tags": "{tags}", "metadata": "{metadata}",
                ],
                "request": "request_id",
            ],
            "status": [
                "method": "GET", "url": .string(url + "/requests/{request_id}"), "state": "status",
                "confirmed": ["confirmed"], "requested": ["requested"], "timedOut": ["timedout"],
                "discarded": ["discarded"],
            ],
            "challenge": [
                "method": "POST", "url": .string(url + "/challenges"),
                "body": ["user_id": "{user_id}", "lifetime": "{lifetime}"], "request": "request_id",
                "challenge": "challenge",
            ],
            "verify": [
                "method": "POST", "url": .string(url + "/challenges/{request_id}/answer"),
                "body": [
                    "user_id": "{user_id}", "node_id": "{node_id}", "signature": "{signature}", "tags": "{tags}",
                    "metadata": "{metadata}",
                ],
            ],
        ]
    }
}
