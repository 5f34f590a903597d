// SPDX-License-Identifier: Apache-2.0
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
        /// It ends before its description, or before one of its segments does.
        case truncated
    }

    /// `esp_chip_id_t`.
    static let chips: [UInt16: String] = [
        0: "esp32", 2: "esp32s2", 5: "esp32c3", 9: "esp32s3", 12: "esp32c2", 13: "esp32c6", 16: "esp32h2",
        18: "esp32p4", 20: "esp32c61", 23: "esp32c5", 25: "esp32h21", 28: "esp32h4",
    ]
    private static let headerLength = 24 + 8
    private static let descriptionLength = 256

    /// Reads the head of an image.
    public init(_ bytes: [UInt8]) throws(Failure) {
        guard bytes.first == 0xE9 else { throw .notAnImage }
        guard bytes.count >= Self.headerLength + Self.descriptionLength else { throw .truncated }
        let description = bytes[Self.headerLength...].prefix(Self.descriptionLength)
        // ESP_APP_DESC_MAGIC_WORD, little endian.
        guard description.starts(with: [0x32, 0x54, 0xCD, 0xAB]) else { throw .notAnApplication }
        guard Self.hasAllSegments(bytes) else { throw .truncated }
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

    /// Whether the file is as long as its segments say: their count is the second byte, each has its address and its length before it
    /// (`esp_image_segment_header_t`), both little endian. The firmware would take a file that was cut off, and reject it at its end.
    private static func hasAllSegments(_ bytes: [UInt8]) -> Bool {
        var position = 24
        for _ in 0..<bytes[1] {
            guard position + 8 <= bytes.count else { return false }
            let length = bytes[(position + 4)..<(position + 8)].reversed().reduce(0) { $0 << 8 | Int($1) }
            position += 8 + length
        }
        return position <= bytes.count
    }
}
