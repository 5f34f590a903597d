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
}
