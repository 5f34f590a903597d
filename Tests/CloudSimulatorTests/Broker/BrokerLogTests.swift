// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import CloudSimulator

@Suite struct BrokerLogTests {
    // Lines of mosquitto 2.0.11, as Debian 12 ships it.
    @Test(
        "who came and who went is read from mosquitto's log",
        arguments: [
            ("1795236188: mosquitto version 2.0.11 running", .running),
            ("1795236188: Error: Address already in use", .portTaken),
            (
                "1795236188: New client connected from 127.0.0.1:40028 as node-1 (p2, c1, k60, u'node-1').",
                .connected("node-1")
            ),
            ("1795236188: Client node-1 disconnected.", .disconnected("node-1")),
            ("1795236188: Client node-1 closed its connection.", .disconnected("node-1")),
            ("1795236188: Client node-1 has exceeded timeout, disconnecting.", .disconnected("node-1")),
            ("1795236188: Client node-1 disconnected due to protocol error.", .disconnected("node-1")),
            ("1795236188: Socket error on client node-1, disconnecting.", .disconnected("node-1")),
            ("1795236188: Client node-1 already connected, closing old connection.", nil),
            ("1795236188: New connection from 127.0.0.1:40028 on port 8883.", nil),
            ("1795236188: Client", nil), ("", nil), ("as", nil),
        ] as [(String, BrokerLogEvent?)])
    func events(line: String, event: BrokerLogEvent?) { #expect(BrokerLogEvent(line) == event) }
}
