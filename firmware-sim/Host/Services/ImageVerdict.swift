// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL

/// The board's verdict about an image, with firmware's texts.
///
/// The header is checked while it arrives (`validate_image_header`), the whole image as the boot loader does (`esp_image_format.c`). The size
/// and the MD5 that the cloud names are checked, too; real firmware uses them only to continue a broken download.
enum ImageVerdict: Equatable {
    /// The new version.
    case good(String)
    /// The board tries again. It is `early` if nothing was downloaded but the header.
    case failed(String, early: Bool)
    /// The board does not take this image.
    case rejected(String, early: Bool)

    /// The headers of the image and of its first segment, and the description of the application.
    private static let headLength = 24 + 8 + 256

    init(
        _ download: SimulatedUpdate.Download, _ order: SimulatedUpdate.Order, _ build: SimulatedUpdate.Build,
        running version: String
    ) {
        let image: [UInt8]
        switch download {
        case .noImage(let reason):
            self = .failed("OTA Begin failed: \(reason)", early: true)
            return
        case .complete(let bytes), .broken(let bytes): image = bytes
        }
        guard image.count >= Self.headLength else {
            self = .failed("Failed to read image description: ESP_FAIL (errno=0: Invalid)", early: true)
            return
        }
        func text(at offset: Int) -> String {
            String(decoding: image[(32 + offset)...].prefix(32).prefix { $0 != 0 }, as: UTF8.self)
        }
        let hasDescription = image[0] == 0xE9 && image[32..<36].elementsEqual([0x32, 0x54, 0xCD, 0xAB])
        if hasDescription, text(at: 48) != build.project {
            self = .rejected("Project Name mismatch", early: true)
        } else if hasDescription, text(at: 16) == version {
            self = .rejected("Same version received", early: true)
        } else if image[0] == 0xE9, UInt16(image[12]) | UInt16(image[13]) << 8 != build.chip {
            self = .rejected("Chip revision mismatch", early: false)
        } else if !hasDescription {
            self = .failed("OTA failed: ESP_ERR_OTA_VALIDATE_FAILED (errno=0: Invalid)", early: false)
        } else if case .broken = download {
            self = .failed("Complete data was not received", early: false)
        } else if order.size > 0, order.size != image.count {
            self = .failed("OTA failed: ESP_ERR_INVALID_SIZE (errno=0: Invalid)", early: false)
        } else if !order.md5.isEmpty, order.md5.lowercased() != Self.hex(OpenSSLHashes.md5(image)) {
            self = .failed("Image validation failed", early: false)
        } else {
            self = Self.isValid(image) ? .good(text(at: 16)) : .failed("Image validation failed", early: false)
        }
    }

    /// Checks the segments, and the checksum and the SHA-256 behind them.
    private static func isValid(_ image: [UInt8]) -> Bool {
        var position = 24
        var sum: UInt8 = 0xEF
        for _ in 0..<Int(image[1]) {
            guard position + 8 <= image.count else { return false }
            let length = (0..<4).reduce(0) { $0 | Int(image[position + 4 + $1]) << (8 * $1) }
            position += 8
            guard length <= image.count - position else { return false }
            for byte in image[position..<position + length] { sum ^= byte }
            position += length
        }
        let end = (position / 16 + 1) * 16
        guard end <= image.count, image[end - 1] == sum else { return false }
        guard image[23] == 1 else { return true }
        guard end + 32 <= image.count else { return false }
        return OpenSSLHashes.sha256(Array(image[..<end])).elementsEqual(image[end..<end + 32])
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
