// SPDX-License-Identifier: Apache-2.0

/// Finds QR codes in pictures, by libzbar.
public enum QRScanner {
    /// The largest file that is looked at.
    public static let maximumBytes = 32 << 20

    /// Whether bytes begin as a picture that can be read does: PNG or JPEG.
    public static func isPicture(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: pngMark) || bytes.starts(with: jpegMark)
    }

    static let pngMark: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    static let jpegMark: [UInt8] = [0xFF, 0xD8, 0xFF]

    /// What the codes in a PNG or JPEG file say, each once, as bytes: a code's text has no declared encoding.
    ///
    /// Throws `libraryMissing`, `unreadableImage`, `imageTooLarge`, and `noCode` where there is none.
    public static func payloads(inPicture bytes: [UInt8]) throws(QRCodeError) -> [[UInt8]] {
        guard bytes.count <= maximumBytes else { throw QRCodeError(.imageTooLarge) }
        let picture: GreyImage
        var isDamaged = false
        if bytes.starts(with: pngMark) {
            picture = try PNG.decoded(bytes)
        } else if bytes.starts(with: jpegMark) {
            (picture, isDamaged) = try JPEG.decoded(bytes)
        } else {
            throw QRCodeError(.unreadableImage)
        }
        let found = try ZBar().codes(in: picture)
        if found.isEmpty { throw QRCodeError(isDamaged ? .unreadableImage : .noCode) }
        var seen: Set<[UInt8]> = []
        return found.filter { seen.insert($0).inserted }
    }
}

extension QRScanner {
    /// The Debian packages of libraries that are not installed; empty where codes can be drawn, and read from pictures.
    public static var missingPackages: [String] {
        [
            ("libqrencode.so.4", "libqrencode4"), ("libzbar.so.0", "libzbar0"), ("libpng16.so.16", "libpng16-16"),
            ("libturbojpeg.so.0", "libturbojpeg0"),
        ]
        .compactMap { (try? SharedLibrary($0.0, package: $0.1)) == nil ? $0.1 : nil }
    }
}
