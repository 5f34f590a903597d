// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainAccount
import RainCrypto
import RainHTTP
import RainJSON

/// The header of an application's image, as it is flashed and sent over the air.
///
/// Source: ESP-IDF's `esp_image_format.h` and `esp_app_desc.h`. An image begins with its header (24 bytes), the header of the first segment
/// (8 bytes) and the description.
public struct FirmwareImage: Sendable, Equatable {
    /// The chip that the image was built for, as node configurations spell it: `esp32c3`. Nil for an unknown number.
    public var chip: String?
    /// The chip's number in the header.
    public var chipID: UInt16
    /// The project's name.
    public var project: String
    /// The application's version.
    public var version: String
    /// The version of ESP-IDF that built the image.
    public var idfVersion: String
    /// The size of the whole image in bytes.
    public var size: Int

    /// The reason why bytes are not an image that can be sent.
    public enum Failure: Error, Sendable, Equatable {
        /// The bytes are not an image of an ESP chip (the first byte is not E9).
        case notAnImage
        /// The image has no application's description. It is a boot loader or a partition, such as the start of a factory image.
        case notAnApplication
        /// The image ends too early: within its description, within a segment, or before the checksum or hash after the segments.
        case truncated
        /// The checksum after the segments does not match them: some bytes have changed.
        case wrongChecksum
        /// The SHA-256 after the checksum does not match the bytes before it.
        case wrongHash
    }

    /// Chip numbers, from `esp_chip_id_t`.
    private static let chips: [UInt16: String] = [
        0: "esp32", 2: "esp32s2", 5: "esp32c3", 9: "esp32s3", 12: "esp32c2", 13: "esp32c6", 16: "esp32h2",
        18: "esp32p4", 20: "esp32c61", 23: "esp32c5", 25: "esp32h21", 28: "esp32h4",
    ]
    private static let headerLength = 24 + 8
    private static let descriptionLength = 256

    /// Reads the header of an image, and checks the rest as firmware does before it starts the image (`esp_image_format.c`).
    ///
    /// - Parameter hashes: for the SHA-256 at the end, which builds append by default. Without `hashes` it is not checked.
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

    /// Checks the segments, and the checksum and hash after them. The second byte of the image is the number of segments.
    ///
    /// Before each segment are its address and its length (`esp_image_segment_header_t`), both little endian. The last of the next 16 bytes
    /// is the checksum. A SHA-256 follows if byte 23 (`hash_appended`) is set. Firmware would accept a truncated or changed file, and
    /// reject it only at its end.
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

extension RainMakerCloud {
    /// The largest image that the cloud accepts, in bytes.
    public static let maximumImage = 5 << 20

    /// Uploads an image, and returns the address from which nodes get it.
    ///
    /// Throws `insecureURL` for an address from which boards must not run firmware: `http:`, `file:`, or no URL.
    ///
    /// - Parameters:
    ///   - name: the name of the file, 1 to 256 characters.
    ///   - progress: called with the number of bytes of the image that have been sent.
    public func uploadImage(
        _ bytes: [UInt8], name: String, progress: @escaping @Sendable (_ sentBytes: Int) -> Void = { _ in }
    ) async throws(AccountError) -> String {
        guard bytes.count <= Self.maximumImage else {
            throw AccountError(
                .invalidInput,
                message: "the image has \(bytes.count) bytes, but the cloud accepts at most \(Self.maximumImage)")
        }
        var call = RainMakerCall(
            .post, "user/otaimage",
            body: [
                "image_name": .string(name),
                "base64_fwimage": .string(Base64.text(bytes)),
            ])
        call.deadline = Self.uploadDeadline
        let size = bytes.count
        // Base64 has four characters for three bytes. The rest of the body is small.
        call.uploadProgress = { progress(min(size, $0 / 4 * 3)) }
        let reply: JSONValue
        do throws(AccountError) {
            reply = try await self.call(call)
        } catch {
            throw error.status == Self.contentTooLarge ? Self.tooLarge(size) : error
        }
        guard let url = reply["image_url"]?.string, !url.isEmpty else { throw incomplete("image_url", in: reply) }
        guard isForBoards(url) else {
            let start = presentable(String(url.prefix { $0 != "/" }.prefix(20)))
            throw AccountError(
                .insecureURL,
                message: "\(deployment.base.authority) gave the image an address that is not an https URL "
                    + "(it begins with \"\(start)\"). The address was not sent to the board, because without https, firmware can be "
                    + "replaced on its way"
            )
        }
        return url
    }

    /// The longest address that is sent to boards, in bytes.
    private static let longestAddress = 2048

    /// Whether boards may get firmware from this URL: by https, or by plain http for a cloud that runs on this machine.
    private func isForBoards(_ url: String) -> Bool {
        let scheme = url.prefix { $0 != ":" }
        let rest = url.dropFirst(scheme.count)
        let authority = rest.dropFirst(3).prefix { !"/?#".contains($0) }
        let isLocal = deployment.base.text.hasPrefix("http://")
        return url.utf8.count <= Self.longestAddress && rest.hasPrefix("://")
            && url.utf8.allSatisfy { (0x21...0x7E).contains($0) && !#"#\"<>^`{|}"#.utf8.contains($0) }
            && (scheme.lowercased() == "https" || scheme.lowercased() == "http" && isLocal)
            // This refuses a user name, and plain http to other machines.
            && (try? ServiceURL("\(scheme)://\(authority)")) != nil
    }

    /// RFC 9110, section 15.5.14. A server in front of the cloud can send it in any form. Only a smaller image helps.
    private static let contentTooLarge = 413

    private static func tooLarge(_ size: Int) -> AccountError {
        AccountError(
            .rejected,
            message:
                "the image of \(size) bytes is larger than the server accepts (HTTP \(contentTooLarge)): build a smaller image",
            status: contentTooLarge)
    }

    /// Megabytes may go over a slow uplink.
    private static let uploadDeadline = Duration.seconds(300)
}
