// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import RainQRCode

/// Pictures that two parsers may read differently: the size that is checked must be the size that is decoded.
@Suite(
    "Hostile pictures", .enabled(if: QRScanner.missingPackages.isEmpty, "a library for QR codes is not installed"))
struct HostilePictureTests {
    /// A file made of a JPEG of a QR code, and its result: the code, or an error.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var isRead: Bool
        var make: @Sendable ([UInt8]) throws -> [UInt8]

        init(_ name: String, isRead: Bool, _ make: @escaping @Sendable ([UInt8]) throws -> [UInt8]) {
            (testDescription, self.isRead, self.make) = (name, isRead, make)
        }
    }

    private static let small = JPEGPicture.frame(width: 8, height: 8)
    private static let huge = JPEGPicture.frame(width: 8000, height: 8000)

    /// Puts bytes before the frame header.
    private static func beforeFrame(_ inserted: [UInt8]) -> @Sendable ([UInt8]) throws -> [UInt8] {
        { bytes in
            let index = try JPEGPicture.frameIndex(of: bytes)
            return bytes[..<index] + inserted + bytes[index...]
        }
    }

    private static func set(_ offset: Int, _ value: UInt8) -> @Sendable ([UInt8]) throws -> [UInt8] {
        { bytes in
            var bytes = bytes
            bytes[try JPEGPicture.frameIndex(of: bytes) + offset] = value
            return bytes
        }
    }

    static let cases = [
        Case("FF 00 with a length that hides the file's own frame, a small one behind the end", isRead: true) { bytes in
            [0xFF, 0xD8, 0xFF] + [0x00] + [UInt8(bytes.count >> 8), UInt8(bytes.count & 255)] + bytes.dropFirst(2)
                + small
        },
        Case("FF 00 with a length that hides the file's own frame, a huge one behind the end", isRead: true) { bytes in
            [0xFF, 0xD8, 0xFF] + [0x00] + [UInt8(bytes.count >> 8), UInt8(bytes.count & 255)] + bytes.dropFirst(2)
                + huge
        },
        Case("a small frame behind FF 00", isRead: false, beforeFrame([0xFF, 0x00, 0, 2] + small)),
        Case("a second start, then a small frame", isRead: false, beforeFrame(JPEGPicture.start + small)),
        Case("a second start", isRead: false, beforeFrame(JPEGPicture.start)),
        Case("a second frame, small", isRead: false, beforeFrame(small)),
        Case("a second frame, huge", isRead: false, beforeFrame(huge)),
        Case("a second frame behind the first", isRead: false) { bytes in
            let index = try JPEGPicture.frameIndex(of: bytes)
            return bytes[..<(index + 13)] + small + bytes[(index + 13)...]
        },
        Case("a second frame in the place of the picture's end", isRead: false) { $0.dropLast(2) + small },
        Case("a frame inside a comment", isRead: true, beforeFrame(JPEGPicture.segment(0xFE, small))),
        Case("a preview inside the camera's notes", isRead: true) { bytes in
            try beforeFrame(JPEGPicture.segment(0xE1, Array("Exif\0\0".utf8) + JPEGPicture.start + small))(bytes)
        },
        Case("fill bytes before a marker", isRead: true, beforeFrame([UInt8](repeating: 0xFF, count: 64))),
        Case("a comment whose length is 1", isRead: true, beforeFrame([0xFF, 0xFE, 0, 1])),
        Case("a comment that is longer than the file", isRead: false, beforeFrame([0xFF, 0xFE, 0xFF, 0xFF])),
        Case("an end before the frame", isRead: false, beforeFrame(JPEGPicture.end)),
        Case("a restart marker before the frame", isRead: true, beforeFrame([0xFF, 0xD3])),
        Case("bytes behind the end", isRead: true) { $0 + $0 },
        Case("no width", isRead: false) { try JPEGPicture.resized($0, width: 0, height: 100) },
        Case("no height", isRead: false) { try JPEGPicture.resized($0, width: 100, height: 0) },
        Case("a frame wider than the data", isRead: false) { try JPEGPicture.resized($0, width: 1000, height: 1000) },
        Case("a frame smaller than the data", isRead: false) { try JPEGPicture.resized($0, width: 8, height: 8) },
        Case("twelve bits a sample", isRead: false, set(4, 12)),
        Case("no component", isRead: false, set(9, 0)),
        Case("255 components", isRead: false, set(9, 255)),
        Case("sampling factors of 0", isRead: false, set(11, 0)),
        Case("sampling factors of 15", isRead: false, set(11, 0xFF)),
        Case("lossless", isRead: false, set(1, 0xC3)),
        Case("hierarchical", isRead: false, set(1, 0xC5)),
        Case("tables alone", isRead: false) { bytes in
            Array(bytes[..<(try JPEGPicture.frameIndex(of: bytes))]) + JPEGPicture.end
        },
        Case("a frame alone", isRead: false) { _ in JPEGPicture.start + small },
        Case("a start alone", isRead: false) { _ in [0xFF, 0xD8, 0xFF] },
    ]

    private static let text = "NP:PROV_a1b2c3|abcd1234|b"

    @Test("a crafted JPEG is read as libjpeg reads it, or refused", arguments: cases)
    func crafted(of hostile: Case) throws {
        let bytes = try hostile.make(try JPEGPicture.encoded(try JPEGPicture.code(Self.text)))
        if hostile.isRead {
            #expect(try QRScanner.payloads(inPicture: bytes) == [Array(Self.text.utf8)])
        } else {
            #expect(throws: QRCodeError.self) { try QRScanner.payloads(inPicture: bytes) }
        }
    }

    @Test("a progressive picture of many scans is refused")
    func scans() throws {
        let bytes = try JPEGPicture.encoded(try JPEGPicture.code(Self.text), isProgressive: true)
        let last = try #require((0..<bytes.count - 1).last { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDA })
        let scan = bytes[last..<bytes.count - 2]
        let many = bytes[..<last] + (0..<600).flatMap { _ in scan } + JPEGPicture.end
        #expect(throws: QRCodeError(.unreadableImage)) { try QRScanner.payloads(inPicture: Array(many)) }
    }

    @Test("a picture in four inks is refused as unreadable")
    func inks() throws {
        let bytes = try JPEGPicture.encoded(try JPEGPicture.code(Self.text), .full, isCMYK: true)
        #expect(throws: QRCodeError(.unreadableImage)) { try QRScanner.payloads(inPicture: bytes) }
    }

    @Test("damaged JPEG files never crash", arguments: [false, true])
    func mutated(isProgressive: Bool) async throws {
        let whole = try JPEGPicture.encoded(
            try JPEGPicture.code(Self.text, scale: 2), .quarter, isProgressive: isProgressive)
        var random = SeededGenerator(seed: 30)
        for _ in 0..<fuzzRounds {
            // Some take a while to decode, and other tests wait for this thread.
            await Task.yield()
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 3..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            _ = try? QRScanner.payloads(inPicture: bytes)
        }
    }
}
