// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import RainQRCode

/// Draws with libqrencode and reads with libzbar, which `scripts/setup people` installs: compiling does not need them.
@Suite("QR codes", .enabled(if: QRScanner.missingPackages.isEmpty, "a library for QR codes is not installed"))
struct QRCodeTests {
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

    @Test("codes on a terminal are read: half blocks and ASCII, on dark and on light")
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

    @Test("bounds: nothing, too much, no picture, no code")
    func bounds() throws {
        #expect(throws: QRCodeError(.unsuitableLength)) { try QRMatrix([]) }
        #expect(throws: QRCodeError(.unsuitableLength)) {
            try QRMatrix([UInt8](repeating: 0x41, count: QRMatrix.maximumBytes + 1))
        }
        #expect(try QRMatrix([UInt8](repeating: 0xFF, count: QRMatrix.maximumBytes)).width == 177)
        #expect(throws: QRCodeError(.unreadableImage)) { try QRScanner.payloads(inPicture: Array("GIF89a".utf8)) }
        let white = GreyImage(width: 64, height: 64, pixels: [UInt8](repeating: 255, count: 4096))
        #expect(throws: QRCodeError(.noCode)) { try QRScanner.payloads(inPicture: try PNG.encoded(white)) }
    }

    @Test("truncated and damaged pictures are refused, and never crash")
    func damaged() async throws {
        let png = try QRMatrix(Array("NP:PROV_a1b2c3|abcd1234|b".utf8)).png(scale: 2)
        // Of the last twelve bytes, the end mark, nothing is needed.
        for count in 0..<(png.count - 12) {
            await Task.yield()
            #expect(throws: QRCodeError.self) { try QRScanner.payloads(inPicture: Array(png.prefix(count))) }
        }
        var random = SeededGenerator(seed: 5)
        for _ in 0..<500 {
            await Task.yield()
            var bytes = png
            for _ in 0..<3 {
                bytes[Int.random(in: 8..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            _ = try? QRScanner.payloads(inPicture: bytes)
        }
    }
}
