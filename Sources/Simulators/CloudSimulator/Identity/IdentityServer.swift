// SPDX-License-Identifier: Apache-2.0

/// A simulated system that people sign in to, on a port of its own; it serves the real system's paths.
///
/// It answers from the moment it is made until ``stop()``.
public final class IdentityServer: Sendable {
    public let api: IdentityAPI
    /// `http://127.0.0.1:49152`.
    public let url: String
    private let listener: HTTPListener

    /// - Parameters:
    ///   - listen: port 0 for a free one.
    ///   - journal: records what happens; by default nothing is recorded.
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
