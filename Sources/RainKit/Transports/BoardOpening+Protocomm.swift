// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Protocomm
import RainCrypto

extension BoardOpening {
    /// A board that speaks protocomm over this transport.
    /// - Parameter announced: the security of a board whose version does not name it, where that is known.
    public func protocommBoard(
        over transport: any Transport, announced: SecurityRequirement? = nil
    ) -> any Board {
        board(over: transport, announced, suite: tools.crypto, random: tools.random)
    }

    private func board<Suite: CryptoSuite>(
        over transport: any Transport, _ announced: SecurityRequirement?, suite: Suite.Type, random: some RandomSource
    ) -> any Board {
        ProtocommBoard(
            transport: transport, credentials: credentials, suite: suite, random: random, announced: announced,
            clock: tools.timer, logger: logger)
    }
}
