// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCrypto
import RainIO

extension RainMakerCloud {
    /// Listens to the reports of nodes, by MQTT over WebSocket, until the task is cancelled. A lost connection is made again, with new
    /// credentials.
    ///
    /// Firmware that reports by AWS IoT's basic ingest cannot be heard: only the cloud gets its values. RainMaker's firmware uses it by
    /// default (`CONFIG_ESP_RMAKER_MQTT_USE_BASIC_INGEST_TOPICS`).
    ///
    /// - Parameter take: receives the events. There is one connection for every five nodes, and the events of a connection arrive one at a
    ///   time.
    /// - Throws: `unsupported` if the deployment has no broker for users, or lets nobody listen; the error of a cloud call, if trying again
    ///   would not help; `cancelled`.
    public func listen(
        to nodes: [NodeID], with tools: LiveTools, _ take: @escaping @Sendable (LiveEvent) async -> Void
    ) async throws(AccountError) {
        let parts = stride(from: 0, to: nodes.count, by: Self.nodesPerRole).map {
            Array(nodes[$0..<min($0 + Self.nodesPerRole, nodes.count)])
        }
        let failure = await withTaskGroup(of: AccountError?.self) { group in
            for part in parts {
                group.addTask { await LiveConnection(cloud: self, nodes: part, tools: tools).run(take) }
            }
            var failure: AccountError?
            for await ended in group {
                failure = failure ?? ended
                group.cancelAll()
            }
            return failure
        }
        throw failure ?? AccountError(.cancelled, message: "cancelled")
    }
}

/// One connection, and the connections that replace it after a failure.
private struct LiveConnection: Sendable {
    let cloud: RainMakerCloud
    let nodes: [NodeID]
    let tools: LiveTools

    /// - Returns: the reason for which it cannot continue.
    func run(_ take: @escaping @Sendable (LiveEvent) async -> Void) async -> AccountError {
        let progress = Progress()
        var pause = LiveReconnection()
        while true {
            let failure: AccountError
            do throws(AccountError) {
                try await connect(progress, take)
            } catch {
                failure = error
            }
            let listened = await progress.end(at: tools.now())
            if failure.code == .cancelled || Task.isCancelled { return AccountError(.cancelled, message: "cancelled") }
            // A connection that never worked will not work later, unless the network was the reason.
            guard failure.isTransient || listened.ever else { return failure }
            await take(.interrupted(nodes, reason: failure.message))
            do {
                try await tools.sleep(pause.next(afterListening: listened.lately, retryAfter: failure.retryAfter))
            } catch {
                return AccountError(.cancelled, message: "cancelled")
            }
        }
    }

    /// Measures how long the broker has let this client listen.
    private actor Progress {
        private var start: ContinuousClock.Instant?
        private var ever = false

        func listens(from now: ContinuousClock.Instant) { (start, ever) = (now, true) }

        /// - Returns: how long the last connection has listened, and whether any connection has.
        func end(at now: ContinuousClock.Instant) -> (lately: Duration, ever: Bool) {
            defer { start = nil }
            return (start.map { $0.duration(to: now) } ?? .zero, ever)
        }
    }

    private func connect(
        _ progress: Progress, _ take: @escaping @Sendable (LiveEvent) async -> Void
    ) async throws(AccountError) -> Never {
        let broker = try await cloud.broker()
        let role = try await cloud.assumeRole(for: nodes)
        let url = broker.webSocket
        let host = url.authority
        let schemeAndHost = url.text.hasPrefix("https") ? "https://\(host)" : "http://\(host)"
        let path = String(url.text.dropFirst(schemeAndHost.count))
        let signed = SignedRequest(
            host: host, path: path.isEmpty ? "/" : path, region: role.region ?? broker.region ?? "us-east-1",
            role: role,
            at: tools.clock.now, hashes: tools.hashes)
        let id = tools.randomBytes(8).map { String($0, radix: 16) }.joined()
        let subscription = MQTTSubscription(
            MQTTSubscription.Request(
                url: schemeAndHost, host: host, target: signed.target, clientID: "rainkit-\(id)",
                topics: nodes.map(NodeReport.topic)),
            tools: tools.subscription)
        do throws(MQTTError) {
            try await subscription.run { [nodes] event in
                switch event {
                case .subscribed:
                    await progress.listens(from: tools.now())
                    await take(.listening(nodes))
                case .message(let message):
                    if let report = NodeReport(message, of: nodes) { await take(.report(report)) }
                }
            }
        } catch {
            throw AccountError(error, broker: host)
        }
    }
}

/// Computes the time to wait before the next connection. It becomes longer each time.
struct LiveReconnection {
    static let shortest = Duration.milliseconds(500)
    private static let longest = Duration.seconds(30)
    /// A connection must last this long before the next wait is the shortest again. Otherwise a broker that closes each connection at once
    /// would get two a second, and the cloud as many calls.
    private static let stable = Duration.seconds(30)

    private var pause = shortest

    /// - Parameters:
    ///   - time: how long the last connection has listened.
    ///   - retryAfter: how long the cloud asks to wait.
    mutating func next(afterListening time: Duration, retryAfter: Duration? = nil) -> Duration {
        if time >= Self.stable { pause = Self.shortest }
        defer { pause = min(pause * 2, Self.longest) }
        return max(pause, retryAfter ?? .zero)
    }
}

extension AccountError {
    fileprivate init(_ error: MQTTError, broker host: String) {
        let code: Code =
            switch error.code {
            case .untrusted: .tls
            case .refused, .notAllowed: .unsupported
            case .timedOut: .timeout
            case .malformed: .malformedAnswer
            case .cancelled: .cancelled
            default: .network
            }
        self.init(code, message: "live changes from \(host): \(error.message)")
    }
}

/// The services that listening to nodes depends on.
public struct LiveTools: Sendable {
    /// Opens connections to the broker.
    public var opener: any StreamOpener
    /// Hash functions for the signatures of connections.
    public var hashes: any Hashes.Type
    /// SHA-1, for the WebSocket handshake.
    public var sha1: @Sendable (_ bytes: [UInt8]) -> [UInt8]
    /// Unpredictable bytes, for masks and for the names of connections.
    public var randomBytes: @Sendable (_ count: Int) -> [UInt8]
    /// The time of day, for signatures.
    public var clock: any WallClock
    /// Waits for this long. Throws if it is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// The clock that measures how long connections last.
    public var now: @Sendable () -> ContinuousClock.Instant = { .now }

    public init(
        opener: any StreamOpener, hashes: any Hashes.Type, sha1: @escaping @Sendable (_ bytes: [UInt8]) -> [UInt8],
        randomBytes: @escaping @Sendable (_ count: Int) -> [UInt8], clock: any WallClock,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        (self.opener, self.hashes, self.sha1) = (opener, hashes, sha1)
        (self.randomBytes, self.clock, self.sleep) = (randomBytes, clock, sleep)
    }

    fileprivate var subscription: MQTTSubscription.Tools {
        MQTTSubscription.Tools(
            opener: opener, random: randomBytes,
            base64: Base64.text, sha1: sha1, sleep: sleep)
    }
}
