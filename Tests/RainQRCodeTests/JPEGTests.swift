// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RainQRCode

/// libjpeg alone decides a JPEG picture's size, and decodes it once.
@Suite("JPEG pictures", .enabled(if: QRScanner.missingPackages.isEmpty, "a library for QR codes is not installed"))
struct JPEGTests {
    private static let text = "NP:PROV_a1b2c3|abcd1234|b"

    @Test("codes are read from every kind of JPEG that cameras write", arguments: JPEGPicture.Subsampling.allCases)
    func kinds(subsampling: JPEGPicture.Subsampling) throws {
        let picture = try JPEGPicture.code(Self.text)
        for isProgressive in [false, true] {
            let bytes = try JPEGPicture.encoded(picture, subsampling, isProgressive: isProgressive)
            #expect(try QRScanner.payloads(inPicture: bytes) == [Array(Self.text.utf8)], "\(isProgressive)")
            let decoded = try JPEG.decoded(bytes)
            #expect(!decoded.isDamaged && decoded.picture.width == picture.width, "\(isProgressive)")
        }
    }

    @Test("a JPEG that is cut short is called damaged, not a picture without a code")
    func cut() async throws {
        let bytes = try JPEGPicture.encoded(try JPEGPicture.code(Self.text))
        for count in stride(from: 3, to: bytes.count / 2, by: 11) {
            await Task.yield()
            #expect(throws: QRCodeError(.unreadableImage)) {
                try QRScanner.payloads(inPicture: Array(bytes.prefix(count)))
            }
        }
        let white = GreyImage(width: 64, height: 64, pixels: [UInt8](repeating: 255, count: 4096))
        #expect(throws: QRCodeError(.noCode)) {
            try QRScanner.payloads(inPicture: try JPEGPicture.encoded(white))
        }
    }

    /// The bound counts what libjpeg keeps of a progressive picture, which is several times its pixels.
    @Test(
        "pictures are bounded by their pixels and by the memory that decoding takes",
        arguments: [
            (JPEGPicture.Subsampling.grey, UInt16(65_500), UInt16(65_500)), (.grey, 32_769, 8), (.grey, 8, 32_769),
            (.grey, 8_193, 8_192), (.quarter, 8_193, 8_192), (.half, 8_192, 8_192), (.full, 8_192, 4_096),
        ])
    func bounds(subsampling: JPEGPicture.Subsampling, width: UInt16, height: UInt16) throws {
        for isProgressive in [false, true] {
            let small = try JPEGPicture.encoded(
                try JPEGPicture.code("x", scale: 1), subsampling, isProgressive: isProgressive)
            let bytes = try JPEGPicture.resized(small, width: width, height: height)
            #expect(throws: QRCodeError(.imageTooLarge)) { try QRScanner.payloads(inPicture: bytes) }
        }
    }
}
