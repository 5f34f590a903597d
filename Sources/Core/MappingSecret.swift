// SPDX-License-Identifier: Apache-2.0

/// The secret that user and node both tell the cloud, so that it believes they belong together (`secret_key`).
public struct MappingSecret: Sendable, Equatable {
    /// The text that the board and the cloud are given, as UTF-8.
    public let secret: Secret

    public init(_ secret: Secret) { self.secret = secret }

    /// A fresh one in the form every client uses: a version 4 UUID (RFC 9562, 5.4) made of 16 random bytes.
    public init(randomBytes: [UInt8]) {
        precondition(randomBytes.count == 16, "a UUID has 16 bytes")
        var bytes = randomBytes
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        secret = Secret(text)
    }
}
