// SPDX-License-Identifier: Apache-2.0
import RainCore
import Testing

@testable import RainQRCode

/// JPEG files for tests, made by TurboJPEG, and their parts (ITU-T T.81, Annex B).
enum JPEGPicture {
    /// turbojpeg.h: `enum TJSAMP`.
    enum Subsampling: Int32, CaseIterable { case full, half, quarter, grey, vertical, eighth }

    static func encoded(
        _ picture: GreyImage, _ subsampling: Subsampling = .grey, isProgressive: Bool = false, isCMYK: Bool = false
    ) throws -> [UInt8] {
        typealias Create = @convention(c) () -> UnsafeMutableRawPointer?
        typealias Destroy = @convention(c) (UnsafeMutableRawPointer?) -> Int32
        typealias Free = @convention(c) (UnsafeMutablePointer<UInt8>?) -> Void
        typealias Compress =
            @convention(c) (
                UnsafeMutableRawPointer?, UnsafePointer<UInt8>?, Int32, Int32, Int32, Int32,
                UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?, UnsafeMutablePointer<UInt>?, Int32, Int32, Int32
            ) -> Int32
        let library = try SharedLibrary("libturbojpeg.so.0", package: "libturbojpeg0")
        let encoder = try library.required("tjInitCompress", as: Create.self)()
        defer { _ = try? library.required("tjDestroy", as: Destroy.self)(encoder) }
        let compress = try library.required("tjCompress2", as: Compress.self)
        let free = try library.required("tjFree", as: Free.self)
        let (format, samples): (Int32, Int) = isCMYK ? (11, 4) : subsampling == .grey ? (6, 1) : (0, 3)
        let pixels = picture.pixels.flatMap { [UInt8](repeating: $0, count: samples) }
        var bytes: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0
        let progressive: Int32 = 16_384
        try #require(
            compress(
                encoder, pixels, Int32(picture.width), 0, Int32(picture.height), format, &bytes, &count,
                subsampling.rawValue, 90, isProgressive ? progressive : 0) == 0)
        defer { free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    /// A picture of a QR code.
    static func code(_ text: String, scale: Int = 4) throws -> GreyImage {
        try PNG.decoded(try QRMatrix(Array(text.utf8)).png(scale: scale))
    }

    static let start: [UInt8] = [0xFF, 0xD8]
    static let end: [UInt8] = [0xFF, 0xD9]

    /// A frame header of one component. `0xC0` is baseline, `0xC2` is progressive.
    static func frame(width: UInt16, height: UInt16, marker: UInt8 = 0xC0) -> [UInt8] {
        [0xFF, marker, 0, 11, 8, UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255)]
            + [1, 1, 0x11, 0]
    }

    static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length = content.count + 2
        return [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)] + content
    }

    /// Where the file's own frame header begins.
    static func frameIndex(of bytes: [UInt8]) throws -> Int {
        var index = 2
        while ![0xC0, 0xC1, 0xC2].contains(bytes[index + 1]) {
            index += 2 + Int(bytes[index + 2]) << 8 + Int(bytes[index + 3])
            try #require(index + 9 < bytes.count && bytes[index] == 0xFF)
        }
        return index
    }

    /// The same file with another size in its frame header.
    static func resized(_ bytes: [UInt8], width: UInt16, height: UInt16) throws -> [UInt8] {
        var bytes = bytes
        let index = try frameIndex(of: bytes)
        bytes.replaceSubrange(
            index + 5..<index + 9,
            with: [UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255)])
        return bytes
    }
}
