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
                ])
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
}
