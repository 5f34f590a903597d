// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCryptoOpenSSL
import RainMaker

extension RainKitClient {
    /// What boards of the account report, as they report it, where the deployment offers that.
    ///
    /// ```swift
    /// for try await event in kit.liveEvents(of: [node.id]) {
    ///     if case .report(let report) = event { print(report.node, report.values) }
    /// }
    /// ```
    ///
    /// Firmware that reports by AWS IoT's basic ingest, which is its default, cannot be heard: ask for its values as well. The sequence ends with
    /// an error that trying again would not mend, such as `unsupported` where the deployment lets nobody listen. Leaving its loop ends the
    /// connection.
    public func liveEvents(of nodes: [NodeID]) -> AsyncThrowingStream<LiveEvent, any Error> {
        // What nobody takes is let go: newer values are worth more, and a program that is late asks the cloud.
        let (events, continuation) = AsyncThrowingStream.makeStream(
            of: LiveEvent.self, bufferingPolicy: .bufferingNewest(1000))
        // Ended by the stream: when its last listener is gone, the connection is.
        let listening = Task {
            do throws(AccountError) {
                let account = try account()
                try await rainMakerNodes().listen(to: nodes, with: liveTools(account)) { continuation.yield($0) }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { _ in listening.cancel() }
        return events
    }

    private func liveTools(_ account: AccountAccess) -> LiveTools {
        let tools = configuration.tools
        return LiveTools(
            opener: tools.connections(account.certificateAuthorities), hashes: tools.crypto, sha1: OpenSSLHashes.sha1,
            randomBytes: tools.randomBytes, clock: tools.clock, sleep: { try await tools.timer.sleep(for: $0) })
    }
}
