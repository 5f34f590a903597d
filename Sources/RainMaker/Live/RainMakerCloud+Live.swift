// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCrypto
import RainIO

extension RainMakerCloud {
    /// Listens to what nodes report, by MQTT over WebSocket, until the task is cancelled. A connection that is lost is made again, with
    /// credentials of its own.
    ///
    /// Firmware that reports by AWS IoT's basic ingest, as RainMaker's does unless it is told otherwise
    /// (`CONFIG_ESP_RMAKER_MQTT_USE_BASIC_INGEST_TOPICS`), cannot be heard: its values are with the cloud alone.
    ///
    /// - Parameter take: is told what happens, one thing after the other for each five nodes.
    /// - Throws: `unsupported` where the deployment offers nothing to listen to, or lets nobody listen; what a call of the cloud throws, where
    ///   trying again would not help; `cancelled`.
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

/// One connection, and those that follow it.
private struct LiveConnection: Sendable {
    let cloud: RainMakerCloud
    let nodes: [NodeID]
    let tools: LiveTools

    /// - Returns: why it cannot go on.
    func run(_ take: @escaping @Sendable (LiveEvent) async -> Void) async -> AccountError {
        let progress = Progress()
        var pause = LiveBackOff()
        while true {
            let failure: AccountError
            do throws(AccountError) {
                try await connect(progress, take)
            } catch {
                failure = error
            }
            let listened = await progress.end(at: tools.now())
            if failure.code == .cancelled || Task.isCancelled { return AccountError(.cancelled, message: "cancelled") }
            // What never worked will not work by itself, unless the network was the reason.
            guard failure.isTransient || listened.ever else { return failure }
            await take(.interrupted(nodes, reason: failure.message))
            do {
                try await tools.sleep(pause.next(afterListening: listened.lately, retryAfter: failure.retryAfter))
            } catch {
                return AccountError(.cancelled, message: "cancelled")
            }
        }
    }

    /// How long the broker has let this client listen.
    private actor Progress {
        private var start: ContinuousClock.Instant?
        private var ever = false

        func listens(from now: ContinuousClock.Instant) { (start, ever) = (now, true) }

        /// - Returns: for how long the last connection has listened, and whether any has.
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

/// How long to wait before a connection is made again: longer each time.
struct LiveBackOff {
    static let shortest = Duration.milliseconds(500)
    static let longest = Duration.seconds(30)
    /// How long a connection has to last until the next wait is the shortest again. A broker that accepts each connection and closes it would
    /// get two a second otherwise, and the cloud as many calls.
    static let stable = Duration.seconds(30)

    private var pause = shortest

    /// - Parameters:
    ///   - time: for how long the last connection has listened.
    ///   - retryAfter: how long the cloud asks to wait.
    mutating func next(afterListening time: Duration, retryAfter: Duration? = nil) -> Duration {
        if time >= Self.stable { pause = Self.shortest }
        defer { pause = min(pause * 2, Self.longest) }
        return max(pause, retryAfter ?? .zero)
    }
}

extension AccountError {
    init(_ error: MQTTError, broker host: String) {
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

/// What listening to nodes works with and does not make itself.
public struct LiveTools: Sendable {
    /// Opens connections to the broker.
    public var opener: any StreamOpener
    /// For the signatures of connections.
    public var hashes: any Hashes.Type
    /// SHA-1, which WebSocket's handshake is made with.
    public var sha1: @Sendable (_ bytes: [UInt8]) -> [UInt8]
    /// Unpredictable bytes, for masks and names of connections.
    public var randomBytes: @Sendable (_ count: Int) -> [UInt8]
    /// The time of day, which signatures hold.
    public var clock: any WallClock
    /// Waits for so long; throws when it is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// The time by which connections are measured.
    public var now: @Sendable () -> ContinuousClock.Instant = { .now }

    public init(
        opener: any StreamOpener, hashes: any Hashes.Type, sha1: @escaping @Sendable (_ bytes: [UInt8]) -> [UInt8],
        randomBytes: @escaping @Sendable (_ count: Int) -> [UInt8], clock: any WallClock,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        (self.opener, self.hashes, self.sha1) = (opener, hashes, sha1)
        (self.randomBytes, self.clock, self.sleep) = (randomBytes, clock, sleep)
    }

    var subscription: MQTTSubscription.Tools {
        MQTTSubscription.Tools(
            opener: opener, random: randomBytes,
            base64: { String(decoding: Base64.encoded($0), as: UTF8.self) }, sha1: sha1, sleep: sleep)
    }
}
