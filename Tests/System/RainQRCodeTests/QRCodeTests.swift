// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

@testable import RainQRCode

/// Ours draws and reads by libqrencode and libzbar; `zbarimg` and `qrencode` are the other side.
@Suite("QR codes")
struct QRCodeTests {
    /// Payloads as boards have them, with characters that give trouble: quotes, bars, other alphabets, emoji.
    private static func payloads(_ count: Int, seed: UInt64) -> [String] {
        var random = SeededGenerator(seed: seed)
        let letters = Array("abcXYZ019 _-.:;/\\\"'|{}[]<>&%$#@!?=+*~^äöüßéñçøåœЖд中文字日本語한글🔑🏠\t")
        return (0..<count).map { index in
            let pop = String(
                (0..<Int.random(in: 1...24, using: &random)).map { _ in letters.randomElement(using: &random)! })
            let name = String(
                (0..<Int.random(in: 1...16, using: &random)).map { _ in letters.randomElement(using: &random)! })
            return index % 2 == 0
                ? "NP:\(name)|\(pop)|b" : #"{"ver":"v1","name":"\#(name)","pop":"\#(pop)","transport":"ble","x":1}"#
        }
    }

    @Test("zbarimg reads what is drawn, for two hundred payloads")
    func drawn() async throws {
        try await withTemporaryFolder { folder in
            for payload in Self.payloads(200, seed: 19) {
                folder.writePrivately(try QRMatrix(Array(payload.utf8)).png(scale: 4), to: "code.png")
                let read = try await run(
                    "zbarimg", ["--quiet", "--raw", "--oneshot", "-Sbinary", folder.file("code.png")])
                #expect(read.status == .exited(0) && read.standardOutput == payload, "\(payload)")
            }
        }
    }

    @Test("what qrencode draws is read, for two hundred payloads")
    func read() async throws {
        try await withTemporaryFolder { folder in
            for (index, payload) in Self.payloads(200, seed: 91).enumerated() {
                try folder.write(payload, to: "code.txt")
                let drawn = try await run(
                    "qrencode",
                    [
                        "-8", "-s", index % 3 == 0 ? "2" : "5", "-l", "LMQH".map(String.init)[index % 4], "-o",
                        folder.file("code.png"), "-r", folder.file("code.txt"),
                    ])
                #expect(drawn.status == .exited(0), "\(drawn.standardError)")
                #expect(
                    try QRScanner.payloads(inPicture: folder.readBytes("code.png")) == [Array(payload.utf8)],
                    "\(payload)")
            }
        }
    }

    /// Draws text as a terminal would: light characters on a dark screen.
    private static func picture(_ text: String, of cell: (Character) -> (Bool, Bool), rows: Int, columns: Int)
        -> GreyImage
    {
        let scale = 4
        var light: [[Bool]] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) where !line.isEmpty {
            let cells = stride(from: 0, to: line.count, by: columns).map { cell(Array(line)[$0]) }
            light.append(cells.map(\.0))
            if rows == 2 { light.append(cells.map(\.1)) }
        }
        let width = light[0].count * scale
        let pixels = light.flatMap { row -> [UInt8] in
            let line = row.flatMap { [UInt8](repeating: $0 ? 255 : 0, count: scale) }
            return (0..<scale).flatMap { _ in line }
        }
        return GreyImage(width: width, height: light.count * scale, pixels: pixels)
    }

    @Test("what stands on a terminal is read: half blocks and ASCII, on dark and on light")
    func terminal() throws {
        let payload = Array("NP:PROV_a1b2c3|abcd1234|b".utf8)
        let matrix = try QRMatrix(payload)
        let halves: (Character) -> (Bool, Bool) = { ("█▀".contains($0), "█▄".contains($0)) }
        for isInverted in [false, true] {
            var blocks = Self.picture(matrix.halfBlocks(isInverted: isInverted), of: halves, rows: 2, columns: 1)
            var ascii = Self.picture(
                matrix.ascii(isInverted: isInverted), of: { ($0 == "#", false) }, rows: 1, columns: 2)
            if isInverted {
                blocks.pixels = blocks.pixels.map { 255 - $0 }
                ascii.pixels = ascii.pixels.map { 255 - $0 }
            }
            #expect(try ZBar().codes(in: blocks) == [payload])
            #expect(try ZBar().codes(in: ascii) == [payload])
        }
        #expect(matrix.ascii().utf8.allSatisfy { $0 < 0x80 })
    }

    @Test("a label has its text, and nothing in it is markup")
    func label() throws {
        let svg = try QRMatrix(Array("x".utf8)).svg(label: ["PROV_a1b2c3", "<b>&\"\u{7}"], side: 30)
        #expect(svg.contains(#"width="30.00mm""#) && svg.contains(">PROV_a1b2c3</text>"))
        #expect(svg.contains("&lt;b&gt;&amp;&quot;\u{FFFD}</text>"))
    }

    @Test("a browser shows the label so that it is read")
    func shownLabel() async throws {
        let payload = "NP:PROV_a1b2c3|abcd1234|b"
        try await withTemporaryFolder { folder in
            try folder.write(try QRMatrix(Array(payload.utf8)).svg(label: ["PROV_a1b2c3"], side: 60), to: "label.svg")
            let shot = try await run(
                "chromium",
                [
                    "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=\(folder.file("profile"))",
                    "--screenshot=\(folder.file("label.png"))", "--window-size=600,700",
                    "file://\(folder.file("label.svg"))",
                ], within: .seconds(60))
            #expect(shot.status == .exited(0), "\(shot.standardError)")
            #expect(try QRScanner.payloads(inPicture: folder.readBytes("label.png")) == [Array(payload.utf8)])
        }
    }

    @Test("a photo's format, JPEG, is read, also progressive and damaged")
    func jpeg() async throws {
        try await withTemporaryFolder { folder in
            let payload = Array("NP:PROV_a1b2c3|abcd1234|b".utf8)
            let grey = try PNG.decoded(try QRMatrix(payload).png(scale: 4))
            folder.writePrivately(Array("P5 \(grey.width) \(grey.height) 255\n".utf8) + grey.pixels, to: "code.pgm")
            for more in [[], ["-progressive"], ["-quality", "30"]] {
                let made = try await run(
                    "cjpeg", more + ["-outfile", folder.file("code.jpg"), folder.file("code.pgm")])
                #expect(made.status == .exited(0), "\(made.standardError)")
                let bytes = try folder.readBytes("code.jpg")
                #expect(try QRScanner.payloads(inPicture: bytes) == [payload])
                for count in stride(from: 0, to: bytes.count / 2, by: 37) {
                    #expect(throws: QRCodeError.self) { try QRScanner.payloads(inPicture: Array(bytes.prefix(count))) }
                }
            }
        }
    }

    @Test("bounds: nothing, too much, no picture, no code, too many pixels")
    func bounds() throws {
        #expect(throws: QRCodeError(.unsuitableLength)) { try QRMatrix([]) }
        #expect(throws: QRCodeError(.unsuitableLength)) {
            try QRMatrix([UInt8](repeating: 0x41, count: QRMatrix.maximumBytes + 1))
        }
        #expect(try QRMatrix([UInt8](repeating: 0xFF, count: QRMatrix.maximumBytes)).width == 177)
        #expect(throws: QRCodeError(.unreadableImage)) { try QRScanner.payloads(inPicture: Array("GIF89a".utf8)) }
        let white = GreyImage(width: 64, height: 64, pixels: [UInt8](repeating: 255, count: 4096))
        #expect(throws: QRCodeError(.noCode)) { try QRScanner.payloads(inPicture: try PNG.encoded(white)) }
        // The size alone, before memory is taken for it: a PNG's header and a JPEG's frame.
        let wide: [UInt8] = [0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8, 0xFF, 0xFF, 0xFF, 0xFF, 1, 1, 0x11, 0]
        #expect(throws: QRCodeError(.imageTooLarge)) { try QRScanner.payloads(inPicture: wide) }
    }

    @Test("truncated and damaged pictures are refused, and never crash")
    func damaged() throws {
        let png = try QRMatrix(Array("NP:PROV_a1b2c3|abcd1234|b".utf8)).png(scale: 2)
        // Of the last twelve bytes, the end mark, nothing is needed.
        for count in 0..<(png.count - 12) {
            #expect(throws: QRCodeError.self) { try QRScanner.payloads(inPicture: Array(png.prefix(count))) }
        }
        var random = SeededGenerator(seed: 5)
        for _ in 0..<500 {
            var bytes = png
            for _ in 0..<3 {
                bytes[Int.random(in: 8..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            _ = try? QRScanner.payloads(inPicture: bytes)
        }
    }
}
