// SPDX-License-Identifier: Apache-2.0
import RainCore
import TestSupport
import Testing

@testable import ESPProvisioning

@Suite("The board's log, fuzzed")
struct BoardLogFuzzTests {
    @Test("events hold nothing but short ids and addresses, whatever the board prints")
    func log() async throws {
        try await withOwnProcessInSoak {
            let examples = [
                "get-node-id\r\n\r\nesp_rmaker_commands: Node ID: 7CDFA1E86C14\r\n\n>> ",
                "get-node-id\r\n\r\nE (1) app_wifi: Provisioning failed!\r\n\tReason : Wi-Fi access-point not found\r\n\n>> ",
                "get-node-id\r\nI (1) esp_netif_handlers: sta ip: 192.168.1.2, mask: 255.255.255.0\r\n"
                    + "E (2) network_prov_mgr: Disconnect reason : 205\r\nrmaker_console: Console command failed with error: -1\r\n",
            ]
            let report = fuzz("CommandReply", from: examples.map { Array($0.utf8) }, seed: 34) { input in
                var reply = CommandReply(command: Array("get-node-id".utf8))
                var verdict = JoinVerdict()
                for byte in input {
                    guard let events = reply.append(byte) else { continue }
                    #expect(events.count <= 64)
                    for event in events {
                        if case .nodeID(let id) = event { #expect((1...64).contains(id.rawValue.utf8.count)) }
                        if case .gotAddress(let address) = event { #expect(address.utf8.count <= 15) }
                        _ = verdict.take(event)
                    }
                }
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }
}
