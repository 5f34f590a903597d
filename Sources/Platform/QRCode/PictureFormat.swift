// SPDX-License-Identifier: Apache-2.0

extension QRScanner {
    /// What a file is that is neither text nor a picture that can be read, such as "a GIF picture"; nil for anything else.
    public static func otherFormat(_ bytes: [UInt8]) -> String? {
        if bytes.starts(with: "GIF8".utf8) { return "a GIF picture" }
        if bytes.starts(with: "%PDF".utf8) { return "a PDF document" }
        if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) { return "a WebP picture" }
        if bytes.starts(with: "BM".utf8), bytes.contains(0) { return "a BMP picture" }
        if bytes.starts(with: "II*\0".utf8) || bytes.starts(with: "MM\0*".utf8) { return "a TIFF picture" }
        guard bytes.dropFirst(4).starts(with: "ftyp".utf8) else { return nil }
        let brand = bytes.dropFirst(8).prefix(4)
        if brand.elementsEqual("avif".utf8) { return "an AVIF picture" }
        let isHEIF = ["heic", "heix", "mif1", "msf1"].contains { brand.elementsEqual($0.utf8) }
        return isHEIF ? "a HEIC picture, as iPhones take" : "a film"
    }

    /// A sentence about a file that was to be a picture and cannot be decoded, by its bytes: it is empty, cut short, damaged, or something else.
    public static func fault(_ bytes: [UInt8]) -> String {
        if bytes.isEmpty { return "The picture is empty: it has no bytes." }
        if let other = otherFormat(bytes) {
            return "This is \(other): codes are read from PNG and JPEG pictures only. Convert it, or take a screenshot."
        }
        let isPNG = bytes.starts(with: pngMark)
        if isPNG || bytes.starts(with: jpegMark) {
            let name = isPNG ? "PNG" : "JPEG"
            // IEND with its length and checksum, and EOI. Cameras may write more behind the latter.
            let isWhole =
                isPNG
                ? bytes.suffix(12).elementsEqual([0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82])
                : bytes.indices.dropLast().last { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xD9 } != nil
            return isWhole
                ? "The \(name) picture is damaged: take it, or copy it, again."
                : "The \(name) picture ends too early: it was cut short. Take it, or copy it, again."
        }
        let start = String(decoding: bytes.prefix(64).drop { $0 <= 0x20 || $0 > 0x7E }, as: UTF8.self).lowercased()
        if ["<!doctype html", "<html", "<head", "<body"].contains(where: start.hasPrefix) {
            return "This is a web page, not a picture: give the picture itself, or its own address."
        }
        return "This is not a PNG or JPEG picture."
    }
}
