// SPDX-License-Identifier: Apache-2.0
import RainJSON
import Synchronization

/// The backend of a cloud of one's own, as a function from a request to a response. It accepts the access tokens of the simulated
/// identity systems, or its own for a one-time code of SPiD, and stores which user owns which node. It does no network I/O.
public final class OwnCloudAPI: Sendable {
    let systems: [IdentityAPI]
    let journal: Journal
    let owners = Mutex(NodeOwners())
    let sessions = Mutex(OwnCloudSessions())
    let faults = Mutex(FaultTable())
    private let clock: @Sendable () -> Int64
    /// How far its clock is ahead, in milliseconds.
    let clockOffset = Atomic<Int64>(0)

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
    var now: Int64 { clock() + clockOffset.load(ordering: .relaxed) }

    /// Answers one request, and notes it in the journal.
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
struct OwnCloudCaller {
    var user: TokenUser
    var system: IdentitySystem
}

/// A refusal of the backend: `{"error","message"}`.
struct OwnCloudFailure: Error {
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
