// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import RainMaker

/// Bytes by MQTT 3.1.1 (OASIS standard of 2014-10-29), written by hand.
@Suite("MQTT packets")
struct MQTTPacketTests {
    @Test("the packets that a subscriber sends")
    func sent() {
        // 3.1: name, level 4, clean session, keep alive, client id.
        #expect(
            MQTTPacket.connect(clientID: "ab", keepAlive: 30)
                == [0x10, 14, 0, 4, 0x4D, 0x51, 0x54, 0x54, 4, 2, 0, 30, 0, 2, 0x61, 0x62])
        // 3.8: each filter with its quality of service.
        #expect(
            MQTTPacket.subscribe(id: 258, topics: ["a/b", "c"])
                == [0x82, 12, 1, 2, 0, 3, 0x61, 0x2F, 0x62, 0, 0, 1, 0x63, 0])
        #expect(MQTTPacket.publishAcknowledgement(id: 7) == [0x40, 2, 0, 7])
        // 3.3: quality of service 1, topic, packet identifier, payload.
        #expect(
            MQTTPacket.publish(MQTTMessage(topic: "a/b", payload: [1, 2]), id: 258)
                == [0x32, 9, 0, 3, 0x61, 0x2F, 0x62, 1, 2, 1, 2])
        // 2.2.3: 321 bytes are written as 193, 2.
        #expect(MQTTPacket.subscribe(id: 1, topics: [String(repeating: "x", count: 316)]).prefix(3) == [0x82, 193, 2])
    }

    private static let stream: [UInt8] =
        [0x20, 2, 0, 0] + [0x90, 4, 0, 1, 0, 0x80] + [0x30, 5, 0, 1, 0x61, 1, 2] + [0x32, 6, 0, 1, 0x62, 0, 9, 3]
        + [0xD0, 0] + [0x40, 2, 1, 2]
    private static let packets: [MQTTPacket] = [
        .connectAcknowledgement(code: 0), .subscribeAcknowledgement(id: 1, codes: [0, 0x80]),
        .publish(topic: "a", payload: [1, 2], id: nil), .publish(topic: "b", payload: [3], id: 9), .pingResponse,
        .publishAcknowledged(id: 258),
    ]

    @Test("the packets that a subscriber receives, in any split")
    func received() throws {
        for cut in 0...Self.stream.count {
            var reader = MQTTPacketReader()
            let first = try reader.receive(Array(Self.stream[..<cut]))
            #expect(Self.packets.starts(with: first), "\(cut)")
            #expect(first + (try reader.receive(Array(Self.stream[cut...]))) == Self.packets, "\(cut)")
        }
    }

    /// The fifth is a message with quality of service 2.
    @Test(
        "refuses packets that a subscriber never receives",
        arguments: [
            [0x20, 1, 0], [0x90, 2, 0, 1], [0xD0, 1, 0], [0x10, 0], [0x34, 5, 0, 1, 0x61, 0, 1],
            [0x30, 1, 0], [0x30, 3, 0, 9, 0x61], [0x32, 3, 0, 1, 0x61], [0x00, 0], [0xF0, 0],
            [0x30, 0x80, 0x80, 0x80, 0x80], [0x30, 0xFF, 0xFF, 0xFF, 0x7F], [0x30, 0x81, 0x80, 0x10],
        ] as [[UInt8]])
    func violations(bytes: [UInt8]) {
        var reader = MQTTPacketReader()
        #expect(throws: MQTTError.self) { try reader.receive(bytes) }
    }

    @Test("an incomplete packet is waited for")
    func truncated() throws {
        for count in 0..<8 {
            var reader = MQTTPacketReader()
            #expect(try reader.receive(Array([0x32, 6, 0, 1, 0x62, 0, 9, 3][..<count])) == [])
        }
    }

    @Test("accepts any bytes without a crash: packets")
    func packetsFuzz() async throws {
        try await withOwnProcessInSoak {
            let report = fuzz("MQTT packets", from: [MQTTPacketTests.stream]) { bytes in
                var reader = MQTTPacketReader()
                _ = try? reader.receive(bytes)
            }
            #expect(report.failures.isEmpty, "\(report.complaint)")
        }
    }
}
