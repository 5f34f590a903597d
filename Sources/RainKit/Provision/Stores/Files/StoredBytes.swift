// SPDX-License-Identifier: Apache-2.0

/// Bytes as hexadecimal digits. As a list of numbers, which earlier versions wrote and which is still read, a thousand signatures are more
/// than the reader of the file takes.
struct StoredBytes: Codable, Sendable {
    var bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let text = try? container.decode(String.self) else {
            bytes = try container.decode([UInt8].self)
            return
        }
        let digits = try text.utf8.map { digit throws -> UInt8 in
            guard let value = Self.digits.firstIndex(of: digit) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "no hexadecimal digits")
            }
            return UInt8(value)
        }
        guard digits.count.isMultiple(of: 2) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "half a byte")
        }
        bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        let digits = bytes.flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 0xF)]] }
        try container.encode(String(decoding: digits, as: UTF8.self))
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
