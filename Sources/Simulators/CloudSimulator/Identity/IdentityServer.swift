// SPDX-License-Identifier: Apache-2.0
import RainJSON
import Synchronization

/// A simulated identity system with its own port, which serves the real system's paths.
///
/// It answers from its creation until ``stop()``.
public final class IdentityServer: Sendable {
    public let api: IdentityAPI
    /// Such as `http://127.0.0.1:49152`.
    public let url: String
    private let listener: HTTPListener

    /// - Parameters:
    ///   - listen: port 0 for a free one.
    ///   - journal: records requests and events; by default nothing is recorded.
    ///   - clock: milliseconds since 1970.
    public init(
        provider: IdentitySystem, listen: ListenAddress = ListenAddress(host: "127.0.0.1", port: 0),
        journal: Journal? = nil, clock: @escaping @Sendable () -> Int64 = wallClock
    ) throws(SimulatorError) {
        let kept: Journal
        if let journal { kept = journal } else { kept = try Journal(path: nil) }
        let api = try IdentityAPI(system: provider, journal: kept, clock: clock)
        listener = try HTTPListener(
            address: listen, clock: { api.now }, refusal: { api.refuse(status: $0, reason: $1) },
            handler: { api.respond(to: $0) })
        url = "http://\(listen.urlHost):\(listener.port)"
        api.url = url
        self.api = api
        listener.start()
    }

    public func stop() { listener.stop() }
}

/// A simulated identity system as a function from a request to a response. It does no network I/O.
public final class IdentityAPI: Sendable {
    public let system: IdentitySystem
    private let journal: Journal
    private let clock: @Sendable () -> Int64
    private let service: Mutex<any IdentityService>
    private let faults = Mutex(FaultTable())
    /// How far the system's clock is ahead, in milliseconds.
    private let clockOffset = Atomic<Int64>(0)
    private let base = Mutex("http://127.0.0.1")

    /// - Parameter clock: milliseconds since 1970.
    public init(
        system: IdentitySystem, journal: Journal, clock: @escaping @Sendable () -> Int64 = wallClock
    ) throws(SimulatorError) {
        self.system = system
        self.journal = journal
        self.clock = clock
        service = Mutex(try system.service())
    }

    /// The system's time, in milliseconds since 1970.
    var now: Int64 { clock() + clockOffset.load(ordering: .relaxed) }

    /// The system's URL for clients; set when it is known.
    var url: String {
        get { base.withLock { $0 } }
        set { base.withLock { $0 = newValue } }
    }

    /// Answers one request, and records it in the journal.
    public func respond(to request: Request) -> Response {
        if request.path.hasPrefix(CloudAPI.controlPrefix) { return control(request) }
        let fault = faults.withLock { $0.next(for: request) }
        var call = IdentityCall(request: request, now: now, base: url)
        var response: Response
        if let fault {
            let failed = service.withLock { $0.failure(status: fault.status) }
            if fault.isProcessed {
                response = fault.applied(to: answer(&call), failure: failed)
            } else {
                response = fault.response(failure: failed)
            }
        } else {
            response = answer(&call)
        }
        journal.identity(call, system: system, status: response.status, fault: fault?.action.rawValue)
        return response
    }

    /// Answers bytes that are not an HTTP request.
    public func refuse(status: Int, reason: String) -> Response {
        journal.malformed(status: status, reason: reason)
        return Response(status: status, ["message": .string(reason)])
    }

    private func answer(_ call: inout IdentityCall) -> Response {
        service.withLock { $0.answer(&call) }
    }

    /// The user of an access token; nil if the token is not valid.
    func user(ofAccessToken token: String) -> TokenUser? {
        let now = now
        return service.withLock { $0.user(ofAccessToken: token, at: now) }
    }

    /// The user of an access token, and the sign-in that it belongs to; nil if the token is not valid.
    func login(ofAccessToken token: String) -> (user: TokenUser, login: String)? {
        let now = now
        return service.withLock { $0.login(ofAccessToken: token, at: now) }
    }

    /// The sign-in that an ID token belongs to; nil if the token is not valid.
    func login(ofIDToken token: String) -> String? {
        let now = now
        return service.withLock { $0.login(ofIDToken: token, at: now) }
    }

    /// Returns the user of RainMaker Neo with that name.
    func neoUser(named name: String) -> TokenUser? {
        service.withLock { $0.person(named: name) }.map { TokenUser(id: NeoService.userID($0.id), email: $0.email) }
    }

    /// Returns the e-mail address of a user of RainMaker Neo.
    func email(ofNeoUser id: String) -> String? {
        let number = id.split(separator: "-").last.flatMap { Int64($0) }
        return number.flatMap { number in service.withLock { $0.person(named: "\(number)") } }?.email
    }

    // MARK: Control

    /// Answers `POST /_sim/…`, like the simulated cloud.
    private func control(_ request: Request) -> Response {
        let what = String(request.path.dropFirst(CloudAPI.controlPrefix.count))
        var user: String?
        let response: Response
        do throws(APIError) {
            guard request.method == "POST" else { throw .methodNotAllowed }
            let body = try Call(request: request).body()
            switch what {
            case "expire", "revoke":
                let person = try known(try body.string("user"))
                user = person.email
                let now = now
                service.withLock { if what == "expire" { $0.expire(person, at: now) } else { $0.revoke(person) } }
            case "faults":
                let table = try FaultTable(body)
                faults.withLock { $0 = table }
            case "clock":
                guard let seconds = try body.integer("offset"), seconds.magnitude <= 1_000_000_000 else {
                    throw .invalidBody
                }
                clockOffset.store(seconds * 1000, ordering: .relaxed)
            case "settings":
                let outcome = service.withLock { service -> APIError? in
                    do throws(APIError) {
                        try service.change(body)
                        return nil
                    } catch {
                        return error
                    }
                }
                if let outcome { throw outcome }
            default: throw .notFound
            }
            response = Response(["status": "success", "description": "Done"])
        } catch {
            response = error.response
        }
        journal.control(what, user: user, status: response.status, provider: system.rawValue)
        return response
    }

    private func known(_ name: String?) throws(APIError) -> Person {
        guard let name, !name.isEmpty else { throw .userNameMissing }
        guard let person = service.withLock({ $0.person(named: name) }) else { throw .userMissing }
        return person
    }
}

/// The simulated identity systems.
public enum IdentitySystem: String, Sendable, CaseIterable {
    /// Schibsted's account platform.
    case spid
    /// A company's portal.
    case liferay
    /// The libraries' network.
    case oclc
    /// Any OpenID Connect server.
    case oidc
    /// RainMaker Neo's accounts.
    case neo

    /// Makes the system with the people and applications that all tests use.
    fileprivate func service() throws(SimulatorError) -> any IdentityService {
        switch self {
        case .spid: SPiDService()
        case .liferay: LiferayService()
        case .oclc: OCLCService()
        case .oidc: try OIDCService()
        case .neo: try NeoService()
        }
    }
}
