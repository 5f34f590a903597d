// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// Runs crypto inside a handshake: the library's failure becomes the handshake's.
func duringHandshake<Result>(
    _ body: () throws(CryptoFailure) -> Result
) throws(HandshakeError) -> Result {
    do throws(CryptoFailure) { return try body() } catch { throw .cryptoFailure }
}
