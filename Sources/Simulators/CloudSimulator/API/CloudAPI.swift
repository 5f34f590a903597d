// SPDX-License-Identifier: Apache-2.0
import RainCryptoOpenSSL
import RainJSON
import Synchronization

/// The cloud as a function from a request to a response. It stores its state, and does no network I/O.
public final class CloudAPI: Sendable {
    public struct Options: Sendable {
        /// The lifetime of an access token.
        public var accessLifetime: Duration = .seconds(3600)
        /// The lifetime of a refresh token.
        public var refreshLifetime: Duration = .seconds(30 * 86_400)
        /// Whether each refresh replaces the refresh token. The real cloud does not.
        public var rotatesRefreshTokens = false
        /// With rotation: how long the previous token still works. After that its reuse ends the session.
        public var refreshGrace: Duration = .zero
        /// The maximum number of nodes that a user may claim.
        public var claimQuota = 1000
        /// How long the user's or the node's half of a mapping waits for the other half.
        public var mappingPatience: Duration = .seconds(300)
        /// The applications that may use the hosted sign-in page.
        public var oauthClients = [OAuthClient.shared]
        /// The identity providers that the sign-in page offers in addition to a password.
        public var identityProviders = ["GitHub", "Google", "SignInWithApple"]
        /// The lifetime of a code that was sent to a user.
        public var verificationLifetime: Duration = .seconds(3600)
        /// The lifetime of an authorization code.
        public var codeLifetime: Duration = .seconds(300)
        /// The maximum number of records of time series. Beyond it the oldest are dropped.
        public var seriesLimit = 2_000_000
        /// How long records of time series are kept. The real cloud's times are not public.
        public var seriesRetention: Duration = .seconds(2 * 366 * 86_400)
        /// Whether simple series have aggregates, as newer backends do.
        public var hasSimpleAggregates = true
        /// Whether users may listen to alerts. The real cloud's rule is not public.
        public var allowsAlertTopics = true
        /// Returns the milliseconds since 1970.
        public var clock: @Sendable () -> Int64 = wallClock

        public init() {}

        var rotation: RefreshToken.Rotation? {
            rotatesRefreshTokens ? RefreshToken.Rotation(grace: refreshGrace.milliseconds) : nil
        }
    }

    let options: Options
    let journal: Journal
    let mailbox: Mailbox
    private let folder: DataFolder
    let keys: KeyRing
    let issuer: TokenIssuer
    private let state: Mutex<CloudState>
    private let endpoints: [Endpoint]
    let faults = Mutex(FaultTable())
    /// How far the cloud's clock is ahead of `options.clock`, in milliseconds.
    let clockOffset = Atomic<Int64>(0)
    /// The addresses for clients and boards; set when they are known.
    let addresses = Mutex<(api: String, mqtt: String)>(("", ""))
    /// Publishes messages to nodes. Set while the broker runs.
    let outbox = Mutex<Outbox?>(nil)

    /// Commands and images are lost on a restart.
    let commands = Mutex(CommandTable())
    let images = Mutex<[(id: String, bytes: [UInt8])]>([])
    /// So are updates of the dashboard,
    let updates = Mutex(UpdateJobTable())
    /// and time series.
    let series: Mutex<SeriesTable>
    let seriesTokens = Mutex(SeriesTokens())
    /// Subscriptions to nodes and their roles are lost, too.
    let roles = Mutex(RoleTable())
    let live = LiveSessions()

    /// Sends to a node's topic. It is a type because each read of a bare closure in a mutex wraps it once more (Swift 6.3).
    struct Outbox {
        var send: @Sendable (_ node: String, _ suffix: String, _ payload: [UInt8]) -> Void
    }

    public init(
        folder: DataFolder, journal: Journal, mailbox: Mailbox = .none, options: Options = Options()
    ) throws(SimulatorError) {
        self.options = options
        self.journal = journal
        self.mailbox = mailbox
        self.folder = folder
        keys = try KeyRing(folder: folder)
        issuer = TokenIssuer(
            signer: try JSONWebTokenSigner(key: keys.tokenKey), lifetime: options.accessLifetime,
            issuer: "https://simulated.rainmaker.invalid")
        var loaded = try CloudState.load(from: folder)
        loaded.mappings.patience = options.mappingPatience.milliseconds
        state = Mutex(loaded)
        endpoints = Endpoint.all
        series = Mutex(
            SeriesTable(maximum: options.seriesLimit, retention: options.seriesRetention.milliseconds / 1000))
    }

    /// The cloud's time, in milliseconds since 1970.
    var now: Int64 { options.clock() + clockOffset.load(ordering: .relaxed) }

    // MARK: Set-up

    /// Adds an account, or sets its password.
    public func addUser(name: String, password: String) throws(SimulatorError) {
        let changes = try changeState { state -> [MappingChange]? in
            let known = state.user(named: name)
            if known?.accepts(password: password) == true { return [] }
            let hash = StoredPassword(password)
            var user = known ?? User(id: makeUUID(), userName: name, password: hash)
            user.password = hash
            user.isConfirmed = true
            return state.add(user)
        }
        guard let changes else {
            throw SimulatorError(.usage, "there are \(UserTable.maximum) users already; choose another --data")
        }
        record(changes)
    }

    /// Makes a user of that name a super-admin.
    public func promote(name: String) throws(SimulatorError) {
        let isKnown = try changeState { state in
            guard let user = state.user(named: name) else { return false }
            state.users[user.id]?.isSuperAdmin = true
            return true
        }
        guard isKnown else {
            throw SimulatorError(.usage, "there is no user \(name) to make super-admin; add --user")
        }
    }

    /// Adds a node with its own certificate, unless it is known.
    public func addNode(_ specification: NodeSpecification) throws(SimulatorError) {
        let fresh = try keys.node(specification)
        try changeState { state in
            var node = state.nodes[fresh.id] ?? fresh
            node.keyKind = fresh.keyKind
            node.certificate = fresh.certificate
            state.nodes[fresh.id] = node
        }
    }

    public var nodeFiles: [(id: String, certificate: String, key: String)] {
        // A claimed node made its own key, so it has no key file here.
        readState { state in state.nodes.keys.filter { !(state.claims?.isClaimed($0) ?? false) }.sorted() }
            .map { ($0, keys.certificateFile(ofNode: $0), keys.keyFile(ofNode: $0)) }
    }

    // MARK: State

    func readState<Result: Sendable>(_ body: (CloudState) -> Result) -> Result { state.withLock { body($0) } }

    /// Changes the state and saves it before it is visible to others. If it cannot be saved it is not changed.
    func changeState<Result: Sendable>(_ body: (inout CloudState) -> Result) throws(SimulatorError) -> Result {
        let outcome = state.withLock { state -> Swift.Result<Result, SimulatorError> in
            // A temporary folder is never read again, so nothing is written.
            guard !folder.isTemporary else { return .success(body(&state)) }
            var next = state
            let result = body(&next)
            do throws(SimulatorError) {
                try next.save(to: folder)
            } catch {
                return .failure(error)
            }
            state = next
            return .success(result)
        }
        return try outcome.get()
    }

    /// Changes the state without saving it, for changes that a restart may lose.
    func changeTransientState(_ body: (inout CloudState) -> Void) { state.withLock { body(&$0) } }

    func record(_ changes: [MappingChange]) {
        for change in changes {
            journal.mapping(change, user: readState { $0.users[change.userID]?.userName })
        }
    }

    // MARK: Requests

    /// Answers one request, and records it in the journal.
    public func respond(to request: Request) -> Response {
        if request.path.hasPrefix(Self.controlPrefix) { return control(request) }
        let fault = faults.withLock { $0.next(for: request) }
        var call = Call(request: request)
        var response: Response
        if let fault, !fault.isProcessed {
            response = fault.response()
        } else {
            do throws(APIError) {
                response = try answer(&call)
            } catch {
                response = error.response
            }
            if let fault { response = fault.applied(to: response) }
        }
        journal.request(
            request, status: response.status, errorCode: response.body["error_code"]?.integer,
            error: response.body["error"]?.string,
            user: call.user?.userName, fault: fault?.action.rawValue)
        return response
    }

    /// Answers bytes that are not an HTTP request.
    public func refuse(status: Int, reason: String) -> Response {
        journal.malformed(status: status, reason: reason)
        return Response(status: status, ["message": .string(reason)])
    }

    private func answer(_ call: inout Call) throws(APIError) -> Response {
        let parts = call.request.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        guard !parts.contains("") else { throw .notFound }
        let isVersioned = parts.first.map { $0.first == "v" && $0.dropFirst().allSatisfy(\.isNumber) && $0.count > 1 }
        if isVersioned == true, parts.first != "v1" { throw .unsupportedVersion }

        let candidates = Endpoint.served(parts, of: endpoints)
        guard !candidates.isEmpty else { throw .notFound }
        guard let endpoint = candidates.first(where: { $0.method == call.request.method }) else {
            throw .methodNotAllowed
        }
        if endpoint.pattern.last == "*", let last = parts.last { call.pathParameter = percentDecoded(last) }
        if endpoint.isAuthorized { try authorize(&call) }
        return try endpoint.answer(self, call)
    }

    /// The API gateway's check: the token was issued here, has not expired, and its session has not ended.
    private func authorize(_ call: inout Call) throws(APIError) {
        guard let token = call.request.header("Authorization"), let access = issuer.access(token, at: now) else {
            throw .unauthorized
        }
        let now = now
        let user = readState { state -> User? in
            guard let session = state.sessions[access.sessionID], session.userID == access.userID,
                session.endedAccess[access.tokenID] == nil, session.generation == access.generation
            else { return nil }
            return state.users[access.userID].flatMap { now < $0.guestUntil ?? .max ? $0 : nil }
        }
        guard let user else { throw .unauthorized }
        call.access = access
        call.user = user
    }
}

extension Duration {
    var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}

extension APIError {
    /// A failure of the simulator itself, such as a full disk.
    init(_ error: SimulatorError) { self.init(500, nil, error.description) }
}

extension CloudAPI {
    /// The official client sends this before every refresh, and refuses to refresh unless `v1` is listed.
    func versions() -> Response {
        Response([
            "supported_versions": ["v1"],
            "additional_info": [["version": "v1", "build_info": "cloud-sim", "release_notes": "simulated"]],
        ])
    }

    func mqttHost() -> Response {
        // RainMaker's cloud serves its WebSocket on the HTTPS port of its host. Here it is on the API's port.
        let api = addresses.withLock { $0.api }
        let webSocket = "ws" + api.dropFirst(4) + "/mqtt"
        return Response(.object(mqttHosts + [.init("websocket_url", .string(webSocket))]))
    }

    /// The addresses of the broker and of AWS credentials for nodes. The simulator has no such credentials, but the official client's
    /// `claim` requires a host.
    var mqttHosts: [JSONValue.Member] {
        let host = addresses.withLock { $0.mqtt }
        return [
            .init("mqtt_host", .string(host)), .init("mqtt_cred_host", .string("credentials.\(host)")),
        ]
    }

    func success(_ description: String, _ members: [JSONValue.Member] = [], status: Int = 200) -> Response {
        Response(
            status: status, .object([.init("status", "success"), .init("description", .string(description))] + members))
    }
}
