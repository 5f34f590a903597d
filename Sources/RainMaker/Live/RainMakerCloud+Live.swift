// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCrypto
import RainIO

extension RainMakerCloud {
    /// Listens to the reports and the alerts of nodes, by MQTT over WebSocket, until the task is cancelled. A lost connection is made again, with
    /// new credentials.
    ///
    /// Firmware that reports by AWS IoT's basic ingest cannot be heard: only the cloud gets its values. RainMaker's firmware uses it by
    /// default (`CONFIG_ESP_RMAKER_MQTT_USE_BASIC_INGEST_TOPICS`).
    ///
    /// Whether a user may listen to alerts is not documented. A broker ends the connection if not; then another one is made without alerts.
    ///
    /// - Parameter take: receives the events. There is one connection for every five nodes, and the events of a connection arrive one at a
    ///   time.
    /// - Throws: `unsupported` if the deployment has no broker for users, or lets nobody listen; the error of a cloud call, if trying again
    ///   would not help; `cancelled`.
    public func listen(
        to nodes: [NodeID], with tools: LiveTools, _ take: @escaping @Sendable (LiveEvent) async -> Void
    ) async throws(AccountError) {
        let cloud = self
        let connections = stride(from: 0, to: nodes.count, by: Self.nodesPerRole).map { start -> LiveConnection in
            let part = Array(nodes[start..<min(start + Self.nodesPerRole, nodes.count)])
            return LiveConnection(
                nodes: part, tools: tools, report: { NodeReport($0, of: part) }, alert: { NodeAlert($0, of: part) }
            ) { withAlerts async throws(AccountError) in
                try await cloud.liveRequest(for: part, withAlerts, tools)
            }
        }
        try await LiveConnection.run(connections, take)
    }

    /// Returns the description of a connection that hears these nodes. Its address is signed now.
    private func liveRequest(
        for nodes: [NodeID], _ withAlerts: Bool, _ tools: LiveTools
    ) async throws(AccountError) -> MQTTSubscription.Request {
        let broker = try await broker()
        let role = try await assumeRole(for: nodes)
        let url = broker.webSocket
        let host = url.authority
        let schemeAndHost = url.text.hasPrefix("https") ? "https://\(host)" : "http://\(host)"
        let path = String(url.text.dropFirst(schemeAndHost.count))
        let signer = AWSSigner(
            role, region: role.region ?? broker.region ?? "us-east-1", service: AWSSigner.broker, hashes: tools.hashes)
        let target = signer.target(
            host: host, path: path.isEmpty ? "/" : path, at: tools.clock.now, goodFor: Self.signatureSeconds)
        let id = tools.randomBytes(8).map { String($0, radix: 16) }.joined()
        return MQTTSubscription.Request(
            url: schemeAndHost, host: host, target: target, clientID: "rainkit-\(id)",
            topics: nodes.map(NodeReport.topic) + (withAlerts ? nodes.map(NodeAlert.topic) : []))
    }

    /// How many seconds the signature can open a connection. An open connection outlasts it.
    private static let signatureSeconds = 300
}

/// One connection to a broker, and the connections that replace it after a failure.
struct LiveConnection: Sendable {
    /// The nodes that it hears.
    let nodes: [NodeID]
    let tools: LiveTools
    /// Reads a message. Returns nil for one that is not a report of a node.
    let report: @Sendable (MQTTMessage) -> NodeReport?
    /// Reads a message. Returns nil for one that is not an alert of a node. Nil for a cloud without topics for alerts.
    let alert: (@Sendable (MQTTMessage) -> NodeAlert?)?
    /// Describes the next connection, with or without the topics for alerts, and with credentials that are valid now.
    let request: @Sendable (_ withAlerts: Bool) async throws(AccountError) -> MQTTSubscription.Request

    init(
        nodes: [NodeID], tools: LiveTools,
        report: @escaping @Sendable (MQTTMessage) -> NodeReport?,
        alert: (@Sendable (MQTTMessage) -> NodeAlert?)? = nil,
        request: @escaping @Sendable (_ withAlerts: Bool) async throws(AccountError) -> MQTTSubscription.Request
    ) {
        (self.nodes, self.tools, self.report, self.alert, self.request) = (nodes, tools, report, alert, request)
    }

    /// Runs connections until one of them cannot continue, or the task is cancelled.
    static func run(
        _ connections: [LiveConnection], _ take: @escaping @Sendable (LiveEvent) async -> Void
    ) async throws(AccountError) {
        let failure = await withTaskGroup(of: AccountError?.self) { group in
            for connection in connections { group.addTask { await connection.run(take) } }
            var failure: AccountError?
            for await ended in group {
                failure = failure ?? ended
                group.cancelAll()
            }
            return failure
        }
        throw failure ?? AccountError(.cancelled, message: "cancelled")
    }

    /// - Returns: the reason for which it cannot continue.
    func run(_ take: @escaping @Sendable (LiveEvent) async -> Void) async -> AccountError {
        let progress = Progress()
        var pause = LiveReconnection()
        var alerts = AlertAttempts(hasTopics: alert != nil)
        var isInterrupted = false
        while true {
            let failure: AccountError
            do throws(AccountError) {
                try await connect(progress, alerts, take)
            } catch {
                failure = error
            }
            if alerts.areNext, await progress.takesRefusal() {
                alerts.refused(failure.message)
                continue
            }
            let listened = await progress.end(at: tools.now())
            if failure.code == .cancelled || Task.isCancelled { return AccountError(.cancelled, message: "cancelled") }
            if listened.ever { alerts.announced() }
            // A connection that never worked will not work later, unless the network was the reason.
            guard failure.isTransient || listened.ever else { return failure }
            // One event for each outage, however many attempts it takes to connect again.
            if !isInterrupted || listened.justNow {
                isInterrupted = true
                await take(.interrupted(nodes, reason: failure.message))
            }
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
        private var isRefused = false

        func refused() { isRefused = true }

        /// Returns whether the broker has refused the subscription since the last call.
        func takesRefusal() -> Bool {
            defer { isRefused = false }
            return isRefused
        }

        func listens(from now: ContinuousClock.Instant) { (start, ever) = (now, true) }

        /// - Returns: whether and how long the last connection has listened, and whether any connection has.
        func end(at now: ContinuousClock.Instant) -> (justNow: Bool, lately: Duration, ever: Bool) {
            defer { start = nil }
            return (start != nil, start.map { $0.duration(to: now) } ?? .zero, ever)
        }
    }

    private func connect(
        _ progress: Progress, _ alerts: AlertAttempts, _ take: @escaping @Sendable (LiveEvent) async -> Void
    ) async throws(AccountError) -> Never {
        let request = try await request(alerts.areNext)
        let subscription = MQTTSubscription(request, tools: tools.subscription)
        do throws(MQTTError) {
            try await subscription.run { [nodes, report, alert] event in
                switch event {
                case .subscribed:
                    await progress.listens(from: tools.now())
                    await take(.listening(nodes))
                    if let reason = alerts.refusal { await take(.withoutAlerts(nodes, reason: reason)) }
                case .published: break
                case .message(let message):
                    if let report = report(message) { await take(.report(report)) }
                    if let alert = alert?(message) { await take(.alert(alert)) }
                }
            }
        } catch {
            if error.code == .notAllowed { await progress.refused() }
            throw AccountError(error, broker: request.host)
        }
    }
}

/// Decides whether a connection asks for alerts, too.
///
/// A lost connection looks like a refusal, so the second refusal counts.
struct AlertAttempts {
    private var left: Int
    /// Why there are no alerts, until that was reported.
    private(set) var refusal: String?

    /// - Parameter hasTopics: whether the cloud has topics for alerts.
    init(hasTopics: Bool = true) { left = hasTopics ? 2 : 0 }

    /// Whether the next connection asks for alerts.
    var areNext: Bool { left > 0 }

    mutating func refused(_ reason: String) {
        left -= 1
        if left == 0 { refusal = reason }
    }

    mutating func announced() { refusal = nil }
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
        self.init(code, message: "the broker at \(host): \(error.message)")
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

    var subscription: MQTTSubscription.Tools {
        MQTTSubscription.Tools(
            opener: opener, random: randomBytes,
            base64: Base64.text, sha1: sha1, sleep: sleep)
    }
}
