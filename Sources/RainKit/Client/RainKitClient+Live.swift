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
    /// an error that trying again would not fix, such as `unsupported` where the deployment lets nobody listen. Leaving its loop ends the
    /// connection.
    public func liveEvents(of nodes: [NodeID]) -> AsyncThrowingStream<LiveEvent, any Error> {
        let queue = LiveEventQueue()
        // Cancelled by its handle: when the loop is left, the connection ends.
        let listening = LiveListening(
            Task {
                do throws(AccountError) {
                    let account = try account()
                    try await rainMakerNodes().listen(to: nodes, with: liveTools(account)) { queue.add($0) }
                } catch {
                    queue.finish(error)
                }
            })
        return AsyncThrowingStream { try await listening.next(from: queue) }
    }

    private func liveTools(_ account: AccountAccess) -> LiveTools {
        let tools = configuration.tools
        return LiveTools(
            opener: tools.connections(account.certificateAuthorities), hashes: tools.crypto, sha1: OpenSSLHashes.sha1,
            randomBytes: tools.randomBytes, clock: tools.clock, sleep: { try await tools.timer.sleep(for: $0) })
    }
}
