// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainMQTT

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

    private static let shortestPause = Duration.milliseconds(500)
    private static let longestPause = Duration.seconds(30)

    /// - Returns: why it cannot go on.
    func run(_ take: @escaping @Sendable (LiveEvent) async -> Void) async -> AccountError {
        let progress = Progress()
        var pause = Self.shortestPause
        while true {
            let failure: AccountError
            do throws(AccountError) {
                try await connect(progress, take)
            } catch {
                failure = error
            }
            let hasListened = await progress.take()
            if failure.code == .cancelled || Task.isCancelled { return AccountError(.cancelled, message: "cancelled") }
            // What never worked will not work by itself, unless the network was the reason.
            guard failure.isTransient || hasListened.before else { return failure }
            if hasListened.now { pause = Self.shortestPause }
            await take(.interrupted(nodes, reason: failure.message))
            do {
                try await tools.sleep(failure.retryAfter.map { max($0, pause) } ?? pause)
            } catch {
                return AccountError(.cancelled, message: "cancelled")
            }
            pause = min(pause * 2, Self.longestPause)
        }
    }

    /// Whether the broker has let this client listen: since the last connection began, and ever.
    private actor Progress {
        private var now = false
        private var ever = false

        func listens() { (now, ever) = (true, true) }
        func take() -> (now: Bool, before: Bool) {
            defer { now = false }
            return (now, ever)
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
                    await progress.listens()
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
