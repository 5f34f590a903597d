// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount

extension WiFiSetup {
    /// Returns some time after the cloud has confirmed the mapping, which it does for no board that is not on its network. Throws where
    /// that is not to be expected.
    static func waitForCloud(_ mapping: MappingConversation?, _ context: RunContext) async throws {
        guard let mapping, mapping.provesNetwork else { throw CancellationError() }
        while true {
            let quiet = context.quiet.until - context.time.elapsed()
            try await context.time.sleep(max(Patience.betweenCloudChecks, quiet))
            // Otherwise both would tell the cloud.
            guard mapping.progress.hasAnnounced, await !context.board.isOffline else { continue }
            do throws(AccountError) {
                switch try await mapping.ask() {
                case .confirmed: break
                case .notYet, .unknown: continue
                // For the last step to say.
                case .ended: throw AccountError(.cancelled, message: "the cloud has given the mapping up")
                }
            } catch {
                guard error.isTransient else { throw error }
                continue
            }
            return try await context.time.sleep(Patience.boardAfterCloud)
        }
    }
}
