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

    /// The description of this backend for clients: the file of docs/own-cloud.md.
    public var description: JSONValue {
        [
            "schemaVersion": 1,
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
