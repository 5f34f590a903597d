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
            let body = try Call(request: request).body()
            user = try body.string("user")
            switch what {
            case "expire": response = try expire(try known(user))
            case "revoke": response = try revoke(try known(user))
            case "faults": response = try setFaults(body)
            case "clock": response = try setClock(body)
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

    /// Replaces all faults that were set before.
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

    private func setSecondStep(_ user: User, _ body: Fields) throws(APIError) -> Response {
        guard let isOn = try body.bool("on") else { throw .invalidBody }
        try change { $0.users[user.id]?.needsSecondStep = isOn }
        return success("Second step set")
    }
}
