// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Protocomm
import RainCrypto

extension BoardOpening {
    /// A board that speaks protocomm over this transport.
    public func protocommBoard(over transport: any Transport) -> any Board {
        board(over: transport, suite: tools.crypto, random: tools.random)
    }

    private func board<Suite: CryptoSuite>(
        over transport: any Transport, suite: Suite.Type, random: some RandomSource
    ) -> any Board {
        ProtocommBoard(
            transport: transport, credentials: credentials, suite: suite, random: random, clock: tools.timer,
            logger: logger)
    }
}
