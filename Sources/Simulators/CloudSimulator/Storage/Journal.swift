// SPDX-License-Identifier: Apache-2.0
import RainCore
import Glibc
import RainJSON
import Synchronization

/// A log of events, one JSON object a line (NDJSON), for tests and for users who want to see what happened.
///
/// It records no body, header or query value, so it cannot contain a secret or a token.
public final class Journal: Sendable {
    private let descriptor: Int32
    private let clock: @Sendable () -> Int64
    private let turn = Mutex(())

    /// Appends to the file at `path`. Without a path it discards everything.
    public init(path: String?, clock: @escaping @Sendable () -> Int64 = wallClock) throws(SimulatorError) {
        self.clock = clock
        guard let path else {
            descriptor = -1
            return
        }
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw SimulatorError(.storage, "the journal \(path) cannot be written: \(systemErrorText(errno))")
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func request(
        _ request: Request, status: Int, errorCode: Int64?, error: String? = nil, user: String?, fault: String? = nil
    ) {
        var members: [JSONValue.Member] = [
            .init("method", .string(String(request.method.prefix(16)))),
            .init("path", .string(String(request.path.prefix(256)))),
            .init("status", .integer(Int64(status))),
        ]
        if let errorCode { members.append(.init("error_code", .integer(errorCode))) }
        if let error { members.append(.init("error", .string(error))) }
        if let user { members.append(.init("user", .string(user))) }
        if let fault { members.append(.init("fault", .string(fault))) }
        write("request", members)
    }

    func malformed(status: Int, reason: String) {
        write("malformed", [.init("status", .integer(Int64(status))), .init("reason", .string(reason))])
    }

    /// - Parameter method: `password`, or the name of an identity provider.
    func login(user: String, by method: String) {
        write("login", [.init("user", .string(user)), .init("by", .string(method))])
    }

    /// Records the outcome of an authorization request: `shown`, `granted`, `denied` or `refused`. It records whether the request has a
    /// code challenge and a state, but not their values.
    func authorize(_ request: ReceivedAuthorization, outcome: String, user: String? = nil) {
        write(
            "authorize",
            [
                .init("outcome", .string(outcome)), .init("client", .string(request.client.id)),
                .init("provider", .string(request.identityProvider ?? SignInPage.ownProvider)),
                .init("pkce", .bool(request.challenge != nil)), .init("state", .bool(request.state != nil)),
            ] + (user.map { [.init("user", .string($0))] } ?? []))
    }

    func authorizeRefused(_ reason: String) {
        write("authorize", [.init("outcome", "refused"), .init("reason", .string(reason))])
    }

    /// Records a request of a test to the simulator itself (`/_sim/…`).
    func control(_ what: String, user: String?, status: Int, provider: String? = nil) {
        write(
            "control",
            (provider.map { [.init("provider", .string($0))] } ?? [])
                + [.init("what", .string(what)), .init("status", .integer(Int64(status)))]
                + (user.map { [.init("user", .string($0))] } ?? []))
    }

    /// - Parameter outcome: `accepted`, `rotated`, `grace`, `reused`, `unknown` or `expired`.
    func refresh(user: String?, outcome: String) {
        write(
            "refresh",
            (user.map { [.init("user", .string($0))] } ?? []) + [.init("outcome", .string(outcome))])
    }

    func logout(user: String, everywhere: Bool) {
        write("logout", [.init("user", .string(user)), .init("everywhere", .bool(everywhere))])
    }

    /// - Parameter what: `signed_up`, `confirmed`, `password_reset`, `password_changed`, `updated`, `deleted`, `guest`, `converted`, or
    ///   `code_sent` with its kind.
    func account(_ what: String, user: String, kind: String? = nil) {
        write(
            "account",
            [.init("what", .string(what)), .init("user", .string(user))]
                + (kind.map { [.init("kind", .string($0))] } ?? []))
    }

    func mapping(_ change: MappingChange, user: String?) {
        var members: [JSONValue.Member] = [.init("state", .string(change.what.rawValue))]
        if let node = change.nodeID { members.append(.init("node", .string(node))) }
        members.append(.init("user_id", .string(change.userID)))
        if let user { members.append(.init("user", .string(user))) }
        write("mapping", members)
    }

    /// - Parameter what: `initiated`, `verified`, or `refused` with the reason.
    func claim(_ what: String, user: String, node: String? = nil, reason: String? = nil) {
        write(
            "claim",
            [.init("what", .string(what)), .init("user", .string(user))]
                + (node.map { [.init("node", .string($0))] } ?? [])
                + (reason.map { [.init("reason", .string($0))] } ?? []))
    }

    /// - Parameter what: `connected`, `disconnected`, `config`, `params`, `tsdata`, `simple_tsdata`, `otafetch`, `otastatus`, `alert`, or
    ///   `ignored` for an invalid message.
    func node(_ id: String, _ what: String) {
        write("node", [.init("node", .string(id)), .init("what", .string(what))])
    }

    /// Writes an entry, for the typed methods above and those of the identity systems.
    func write(_ event: String, _ members: [JSONValue.Member]) {
        guard descriptor >= 0 else { return }
        // One write for each line, so that a reader never sees half of a line.
        turn.withLock { _ in
            let head: [JSONValue.Member] = [.init("time", .integer(clock())), .init("event", .string(event))]
            let line = JSONValue.object(head + members).serialized() + [0x0A]
            _ = line.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress!, $0.count) }
        }
    }
}
