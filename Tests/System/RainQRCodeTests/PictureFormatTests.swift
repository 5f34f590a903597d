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
            ([0, 0, 0, 0x1C] + Array("ftypavif".utf8), "AVIF"), ([0, 0, 0, 0x20] + Array("ftypisom".utf8), "film"),
        ] as [([UInt8], String)])
    func named(bytes: [UInt8], words: String) {
        #expect(QRScanner.otherFormat(bytes)?.contains(words) == true)
        #expect(!QRScanner.isPicture(bytes))
    }

    @Test("other bytes are not", arguments: ["", "{", "NP:PROV_1|pop|b", "BM", "GIF", "hello there", "RIFF"])
    func others(text: String) { #expect(QRScanner.otherFormat(Array(text.utf8)) == nil) }
}
