// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// A backend of one's own beside the identity systems, on a port of its own.
///
/// It answers from the moment it is made until ``stop()``.
public final class OwnCloudServer: Sendable {
    public let api: OwnCloudAPI
    /// `http://127.0.0.1:49152`.
    public let url: String
    private let listener: HTTPListener

    /// - Parameters:
    ///   - systems: the systems whose access tokens are accepted.
    ///   - host: where to listen, on a free port.
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

    /// The description of this backend for clients: the file of docs/own-cloud.md. Users of SPiD sign in to it with a one-time code; the
    /// other systems have none, and it takes their tokens.
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
