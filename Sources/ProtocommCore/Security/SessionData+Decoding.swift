// SPDX-License-Identifier: Apache-2.0

extension SessionData {
    /// Decodes a message of the handshake for the scheme with this number.
    static func decode(_ bytes: [UInt8], expecting version: SecurityVersion) throws(HandshakeError) -> SessionData {
        let message: SessionData
        do throws(WireError) { message = try SessionData(decoding: bytes) } catch { throw .malformed }
        guard message.version == version else { throw .versionMismatch }
        return message
    }
}

extension Status {
    func orThrow() throws(HandshakeError) {
        guard self == .success else { throw .rejected(status: rawValue) }
    }
}
