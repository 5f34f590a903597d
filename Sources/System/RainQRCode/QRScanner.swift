// SPDX-License-Identifier: Apache-2.0

/// Finds QR codes in pictures, by libzbar.
public enum QRScanner {
    /// The largest file that is looked at.
    public static let maximumBytes = 32 << 20

    /// Whether bytes begin as a picture that can be read does: PNG or JPEG.
    public static func isPicture(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: pngMark) || bytes.starts(with: jpegMark)
    }

    private static let pngMark: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let jpegMark: [UInt8] = [0xFF, 0xD8, 0xFF]

    /// What the codes in a PNG or JPEG file say, each once, as bytes: a code's text has no declared encoding.
    ///
    /// Throws `libraryMissing`, `unreadableImage`, `imageTooLarge`, and `noCode` where there is none.
    public static func payloads(inPicture bytes: [UInt8]) throws(QRCodeError) -> [[UInt8]] {
        guard bytes.count <= maximumBytes else { throw QRCodeError(.imageTooLarge) }
        let zbar = try ZBar()
        let found: [[UInt8]]
        if bytes.starts(with: pngMark) {
            found = try zbar.codes(in: try PNG.decoded(bytes))
        } else if bytes.starts(with: jpegMark) {
            guard let size = JPEGHeader.size(of: bytes) else { throw QRCodeError(.unreadableImage) }
            guard GreyImage.isBounded(size.width, size.height) else { throw QRCodeError(.imageTooLarge) }
            found = try zbar.codes(inJPEG: bytes, width: size.width, height: size.height)
        } else {
            throw QRCodeError(.unreadableImage)
        }
        if found.isEmpty { throw QRCodeError(.noCode) }
        var seen: Set<[UInt8]> = []
        return found.filter { seen.insert($0).inserted }
    }
}

/// The size of a JPEG picture, from its frame header (ITU-T T.81, B.2.2): looked at before a library takes memory for it.
enum JPEGHeader {
    static func size(of bytes: [UInt8]) -> (width: Int, height: Int)? {
        var index = 2
        while index + 9 < bytes.count {
            guard bytes[index] == 0xFF else { return nil }
            let marker = bytes[index + 1]
            // Fill bytes, and markers without a length.
            if marker == 0xFF { index += 1; continue }
            if marker == 0x01 || (0xD0...0xD8).contains(marker) { index += 2; continue }
            let isFrame = (0xC0...0xCF).contains(marker) && ![0xC4, 0xC8, 0xCC].contains(marker)
            if isFrame {
                func number(_ offset: Int) -> Int { Int(bytes[index + offset]) << 8 | Int(bytes[index + offset + 1]) }
                return (width: number(7), height: number(5))
            }
            // The picture's data begins, or ends, and there was no frame.
            if marker == 0xDA || marker == 0xD9 { return nil }
            index += 2 + (Int(bytes[index + 2]) << 8 | Int(bytes[index + 3]))
        }
        return nil
    }
}

extension QRScanner {
    /// The Debian packages of libraries that are not installed; empty where codes can be drawn, and read from pictures.
    public static var missingPackages: [String] {
        [("libqrencode.so.4", "libqrencode4"), ("libzbar.so.0", "libzbar0"), ("libpng16.so.16", "libpng16-16")]
            .compactMap { (try? SharedLibrary($0.0, package: $0.1)) == nil ? $0.1 : nil }
    }
}
