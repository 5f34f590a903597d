// SPDX-License-Identifier: Apache-2.0
import RainKit
import TestSupport
import Testing

@testable import rainctl

@Suite("Files with a QR code's text")
struct QRFileTests {
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let json = #"{"ver":"v1","name":"PROV_1","pop":"abcd1234","transport":"ble"}"#

    static let files: [[UInt8]] = [
        mark + Array((json + "\r\n").utf8), Array((json + "\n\n").utf8), Array("\n\n\(json)".utf8),
        Array("{\n  \"name\": \"PROV_1\",\r\n  \"pop\": \"abcd1234\"\n}\n".utf8),
        mark + Array("NP:PROV_1|abcd1234|b\r\n".utf8),
        Array("https://rainmaker.espressif.com/qrcode.html?data=\(json)\r\n".utf8),
    ]

    private func text(_ bytes: [UInt8]) async throws -> [UInt8] {
        try await withTemporaryFolder { folder in
            folder.writePrivately(bytes, to: "code.txt")
            return try QRText.bytes(folder.file("code.txt"), Output(isQuiet: true))
        }
    }

    @Test("are read with a mark, with any line end, and with JSON in several lines", arguments: files)
    func read(bytes: [UInt8]) async throws {
        let code = try QRPayload(try await text(bytes))
        #expect(code.name == "PROV_1" && code.proofOfPossession?.secret.revealString() == "abcd1234")
    }

    static let refused: [(bytes: [UInt8], words: String)] = [
        ([0xFF, 0xFE] + Array(json.utf8).flatMap { [$0, 0] }, "UTF-16"), (Array(json.utf8).flatMap { [$0, 0] }, "NUL"),
        (Array("NP:PROV_1|abcd1234|b\nNP:PROV_2|abcd1234|b\n".utf8), "more than one line"),
    ]

    @Test("are refused if they hold no text, or several codes", arguments: refused)
    func refuse(bytes: [UInt8], words: String) async throws {
        let error = await #expect(throws: CommandFailure.self) { try await text(bytes) }
        #expect(error?.reason == "bad_qr_code" && error?.message.contains(words) == true)
    }
}
