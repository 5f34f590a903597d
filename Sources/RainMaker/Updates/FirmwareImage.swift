// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// The head of an application's image, as it is flashed and sent over the air.
///
/// Source: ESP-IDF's `esp_image_format.h` and `esp_app_desc.h`: 24 bytes of image header, 8 of the first segment's, then the description.
public struct FirmwareImage: Sendable, Equatable {
    /// The chip that it was built for, as node configurations write it: `esp32c3`; nil for a number that is not known here.
    public var chip: String?
    /// The chip's number in the header.
    public var chipID: UInt16
    /// The project's name.
    public var project: String
    /// The application's version.
    public var version: String
    /// The ESP-IDF that it was built with.
    public var idfVersion: String
    /// All bytes of it.
    public var size: Int

    /// Why bytes are no image that can be sent.
    public enum Failure: Error, Sendable, Equatable {
        /// Not an image of an ESP chip at all (the first byte is not E9).
        case notAnImage
        /// An image without an application's description: a boot loader or a partition, such as factory images begin with.
        case notAnApplication
        /// It ends before its description, before one of its segments does, or before the checksum and the hash behind them.
        case truncated
        /// The checksum behind the segments is not that of their bytes: some of them have changed.
        case wrongChecksum
        /// The SHA-256 behind the checksum is not that of what stands before it.
        case wrongHash
    }

    /// `esp_chip_id_t`.
    static let chips: [UInt16: String] = [
        0: "esp32", 2: "esp32s2", 5: "esp32c3", 9: "esp32s3", 12: "esp32c2", 13: "esp32c6", 16: "esp32h2",
        18: "esp32p4", 20: "esp32c61", 23: "esp32c5", 25: "esp32h21", 28: "esp32h4",
    ]
    private static let headerLength = 24 + 8
    private static let descriptionLength = 256

    /// Reads the head of an image, and checks the rest as the firmware does before it starts it (`esp_image_format.c`).
    ///
    /// - Parameter hashes: for the SHA-256 at the end, which builds append unless told otherwise; not checked without.
    public init(_ bytes: [UInt8], hashes: (any Hashes.Type)? = nil) throws(Failure) {
        guard bytes.first == 0xE9 else { throw .notAnImage }
        guard bytes.count >= Self.headerLength + Self.descriptionLength else { throw .truncated }
        let description = bytes[Self.headerLength...].prefix(Self.descriptionLength)
        // ESP_APP_DESC_MAGIC_WORD, little endian.
        guard description.starts(with: [0x32, 0x54, 0xCD, 0xAB]) else { throw .notAnApplication }
        try Self.check(bytes, hashes)
        chipID = UInt16(bytes[12]) | UInt16(bytes[13]) << 8
        chip = Self.chips[chipID]
        func text(_ offset: Int) -> String {
            String(decoding: description.dropFirst(offset).prefix(32).prefix { $0 != 0 }, as: UTF8.self)
        }
        version = text(16)
        project = text(48)
        idfVersion = text(112)
        size = bytes.count
    }

    /// Goes through the segments: their count is the second byte, each has its address and its length before it
    /// (`esp_image_segment_header_t`), both little endian. The last of the next 16 bytes is their checksum; a SHA-256 follows where byte 23
    /// (`hash_appended`) says so. The firmware would take a file that was cut off or changed, and reject it at its end.
    private static func check(_ bytes: [UInt8], _ hashes: (any Hashes.Type)?) throws(Failure) {
        var position = 24
        // ESP_ROM_CHECKSUM_INITIAL
        var checksum: UInt8 = 0xEF
        for _ in 0..<bytes[1] {
            guard position + 8 <= bytes.count else { throw .truncated }
            let length = bytes[(position + 4)..<(position + 8)].reversed().reduce(0) { $0 << 8 | Int($1) }
            position += 8
            guard position + length <= bytes.count else { throw .truncated }
            checksum = bytes[position..<(position + length)].reduce(checksum) { $0 ^ $1 }
            position += length
        }
        let end = position / 16 * 16 + 16
        guard end <= bytes.count else { throw .truncated }
        guard bytes[end - 1] == checksum else { throw .wrongChecksum }
        guard bytes[23] != 0 else { return }
        guard end + 32 <= bytes.count else { throw .truncated }
        guard let hashes else { return }
        guard hashes.sha256(Array(bytes[..<end])).elementsEqual(bytes[end..<(end + 32)]) else { throw .wrongHash }
    }
}
