// SPDX-License-Identifier: Apache-2.0
import RainQRCode
import Testing

@Suite("Files that are not pictures that can be read")
struct PictureFormatTests {
    @Test(
        "are named by their first bytes",
        arguments: [
            (Array("GIF89a".utf8), "GIF"), (Array("%PDF-1.4".utf8), "PDF"), (Array("RIFF....WEBPVP8 ".utf8), "WebP"),
            ([0x42, 0x4D, 0x46, 0, 0, 0], "BMP"), ([0x49, 0x49, 0x2A, 0], "TIFF"),
            ([0, 0, 0, 0x18] + Array("ftypheic".utf8), "HEIC"),
            ([0, 0, 0, 0x1C] + Array("ftypavif".utf8), "AVIF"), ([0, 0, 0, 0x20] + Array("ftypisom".utf8), "video"),
        ] as [([UInt8], String)])
    func named(bytes: [UInt8], words: String) {
        #expect(QRScanner.otherFormat(bytes)?.contains(words) == true)
        #expect(!QRScanner.isPicture(bytes))
    }

    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let pngEnd: [UInt8] = [0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82]

    @Test(
        "what cannot be decoded is described",
        arguments: [
            ([], "empty"), (png, "PNG picture a.png is incomplete"),
            (png + [1, 2] + pngEnd, "PNG picture a.png is damaged"),
            (png + pngEnd.dropLast(), "PNG picture a.png is incomplete"),
            ([0xFF, 0xD8, 0xFF, 0xE0, 0, 16], "JPEG picture a.png is incomplete"),
            ([0xFF, 0xD8, 0xFF, 0xE0, 0xFF, 0xD9, 0], "JPEG picture a.png is damaged"),
            (Array("\n<!DOCTYPE html><html>".utf8), "web page"), (Array("<HTML>".utf8), "web page"),
            (Array("GIF89a".utf8), "GIF"), (Array("hello".utf8), "not a PNG or JPEG"), ([0xFF], "not a PNG or JPEG"),
        ] as [([UInt8], String)])
    func fault(bytes: [UInt8], words: String) {
        let sentence = QRScanner.fault(bytes, of: "a.png")
        #expect(sentence.contains(words) && sentence.contains("a.png"), "\(sentence)")
    }

    @Test("other bytes are not", arguments: ["", "{", "NP:PROV_1|pop|b", "BM", "GIF", "hello there", "RIFF"])
    func others(text: String) { #expect(QRScanner.otherFormat(Array(text.utf8)) == nil) }
}
