// SPDX-License-Identifier: Apache-2.0
import RainCryptoOpenSSL
import TestSupport
import Testing

@testable import RainMaker

@Suite("WebSocket")
struct WebSocketTests {
    /// The key of RFC 6455, 1.3, and its answer.
    private static let key = "dGhlIHNhbXBsZSBub25jZQ=="
    private static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    private static func upgrade() -> WebSocketUpgrade {
        WebSocketUpgrade(target: "/mqtt?a=b", host: "broker:8443", key: key) { base64(OpenSSLHashes.sha1($0)) }
    }

    private static func answer(
        _ status: String = "101 Switching Protocols", accept: String = accept, more: String = ""
    ) -> [UInt8] {
        Array(
            "HTTP/1.1 \(status)\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Accept: \(accept)\r\n\(more)Sec-WebSocket-Protocol: mqtt \r\n\r\n"
                .utf8)
    }

    @Test("asks for a WebSocket that carries MQTT, with the query as it was given")
    func request() {
        let text = String(decoding: Self.upgrade().request, as: UTF8.self)
        #expect(text.hasPrefix("GET /mqtt?a=b HTTP/1.1\r\nHost: broker:8443\r\n"))
        for line in [
            "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Protocol: mqtt",
        ] {
            #expect(text.contains("\r\n\(line)\r\n"))
        }
        #expect(text.hasSuffix("\r\n\r\n"))
    }

    @Test("takes the answer of RFC 6455 in any split, and passes on the bytes that follow")
    func splits() throws {
        let bytes = Self.answer() + [0x82, 0x01, 0x07]
        for cut in 0...bytes.count {
            var upgrade = Self.upgrade()
            let first = try upgrade.receive(Array(bytes[..<cut]))
            let rest = try first.map { $0 + Array(bytes[cut...]) } ?? upgrade.receive(Array(bytes[cut...]))
            #expect(rest == [0x82, 0x01, 0x07], "\(cut)")
        }
        var single = Self.upgrade()
        var outcome: [UInt8]?
        for byte in Self.answer() { outcome = try single.receive([byte]) }
        #expect(outcome == [])
    }

    @Test(
        "refuses any other answer",
        arguments: [
            (answer("403 Forbidden"), MQTTError.Code.refused), (answer("401 Unauthorized"), .refused),
            (answer("503 Service Unavailable"), .unreachable), (answer("200 OK"), .unreachable),
            (answer(accept: "AAAA"), .malformed),
            (answer(more: "Sec-WebSocket-Extensions: permessage-deflate\r\n"), .malformed),
            (Array("SSH-2.0-OpenSSH\r\n\r\n".utf8), .malformed), (Array("\r\n\r\n".utf8), .malformed),
            (Array("HTTP/1.1 101 X\r\n\r\n".utf8), .malformed),
            (Array(repeating: 0x41, count: WebSocketUpgrade.maximumHeadBytes + 1), .malformed),
        ])
    func refusals(bytes: [UInt8], code: MQTTError.Code) {
        var upgrade = Self.upgrade()
        let error = #expect(throws: MQTTError.self) { try upgrade.receive(bytes) }
        #expect(error?.code == code)
    }

    @Test("masks its frames like the example of RFC 6455, with lengths of all three kinds")
    func encoding() {
        // 5.7: a single-frame masked text message that contains "Hello"; here as bytes.
        #expect(
            WebSocketFrame.encoded(.binary, Array("Hello".utf8), mask: [0x37, 0xFA, 0x21, 0x3D])
                == [0x82, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
        for count in [0, 125, 126, 0xFFFF, 0x1_0000] {
            let frame = WebSocketFrame.encoded(.binary, [UInt8](repeating: 7, count: count), mask: [0, 0, 0, 0])
            #expect(frame.count == count + (count < 126 ? 6 : count < 0x1_0000 ? 8 : 14))
        }
    }

    /// A ping in the middle of a fragmented message, an empty frame, a long one, and a close.
    private static let stream: [UInt8] =
        [0x02, 0x02, 1, 2] + [0x89, 0x01, 9] + [0x80, 0x01, 3] + [0x82, 0x00] + [0x8A, 0x00]
        + [0x82, 126, 0x01, 0x00] + [UInt8](repeating: 5, count: 256) + [0x88, 0x02, 0x03, 0xE8]

    private static func summary(_ events: [WebSocketFrameReader.Event]) -> (
        data: [UInt8], pings: [[UInt8]], closes: Int
    ) {
        var summary: (data: [UInt8], pings: [[UInt8]], closes: Int) = ([], [], 0)
        for event in events {
            switch event {
            case .data(let bytes): summary.data += bytes
            case .ping(let bytes): summary.pings.append(bytes)
            case .close: summary.closes += 1
            }
        }
        return summary
    }

    @Test("reads frames in any split, and only the existing bytes of a truncated one")
    func frames() throws {
        for cut in 0...Self.stream.count {
            var reader = WebSocketFrameReader()
            let first = try reader.receive(Array(Self.stream[..<cut]))
            #expect(Self.summary(first).data.count <= cut)
            let all = Self.summary(first + (try reader.receive(Array(Self.stream[cut...]))))
            #expect(
                all.data == [1, 2, 3] + [UInt8](repeating: 5, count: 256) && all.pings == [[9]] && all.closes == 1,
                "\(cut)")
        }
    }

    @Test(
        "refuses frames that a server must not send",
        arguments: [
            [0x82, 0x81, 0, 0, 0, 0, 1],  // masked
            [0x81, 0x01, 0x41],  // text
            [0xC2, 0x01, 1],  // an extension's bit
            [0x83, 0x01, 1],  // an unknown opcode
            [0x80, 0x01, 1],  // a continuation of nothing
            [0x02, 0x01, 1, 0x82, 0x01, 1],  // a message within another
            [0x09, 0x01, 1],  // a fragmented ping
            [0x89, 126, 0, 126] + [UInt8](repeating: 0, count: 126),  // a long ping
            [0x82, 127, 0, 0, 0, 1, 0, 0, 0, 0], [0x82, 127, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        ] as [[UInt8]])
    func violations(bytes: [UInt8]) {
        var reader = WebSocketFrameReader()
        #expect(throws: MQTTError.self) { try reader.receive(bytes) }
    }

    @Test("accepts any bytes without a crash: frames")
    func framesFuzz() async throws {
        try await withOwnProcessInSoak {
            let report = fuzz("WebSocket frames", from: [WebSocketTests.stream]) { bytes in
                var reader = WebSocketFrameReader()
                _ = try? reader.receive(bytes)
            }
            #expect(report.failures.isEmpty, "\(report.complaint)")
        }
    }

    @Test("accepts any bytes without a crash: answers")
    func answersFuzz() async throws {
        try await withOwnProcessInSoak {
            let report = fuzz("WebSocket answers", from: [WebSocketTests.answer()]) { bytes in
                var upgrade = WebSocketTests.upgrade()
                _ = try? upgrade.receive(bytes)
            }
            #expect(report.failures.isEmpty, "\(report.complaint)")
        }
    }
}

func base64(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
        let part = Array(bytes[start..<min(start + 3, bytes.count)])
        let bits = part.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - part.count))
        for digit in 0..<4 {
            text.append(digit > part.count ? UInt8(ascii: "=") : alphabet[bits >> (18 - 6 * digit) & 63])
        }
    }
    return String(decoding: text, as: UTF8.self)
}
