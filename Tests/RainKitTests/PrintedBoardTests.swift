// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Testing

@testable import RainKit

/// The code that a board prints protects the session in the same way as the code on its label.
@Suite("Boards that print their code")
struct PrintedBoardTests {
    private func summary(_ code: String) -> DeviceSummary {
        var reader = DeviceLogReader()
        for line in [
            "I (1) network_prov_mgr: Provisioning started with service name : PROV_a1b2c3 ",
            "I (2) app_network: Provisioning QR : \(code)",
        ] {
            _ = reader.take(Array(line.utf8))
        }
        return reader.summary
    }

    private func credentials(_ code: String, _ given: BoardCredentials) throws -> BoardCredentials {
        try PrintedBoard(summary: summary(code), port: "/dev/ttyUSB0").credentials(given)
    }

    @Test("an unusable code is an error, because it is then unknown how the board is protected")
    func faulty() throws {
        let code = #"{"name":"PROV_a1b2c3","pop":12345678,"transport":"ble"}"#
        let error = #expect(throws: BoardError.self) { try credentials(code, BoardCredentials(proof: nil)) }
        #expect(error?.code == .malformed && error?.message.contains("\"pop\" must be a string") == true)
        #expect(error?.message.contains("/dev/ttyUSB0") == true && error?.remedies == [.proofOfPossession])
        // Credentials that the user gives have priority.
        _ = try credentials(code, BoardCredentials(proof: ProofOfPossession("12345678")))
        _ = try credentials(code, BoardCredentials(proof: nil, securityVersion: 0))
    }

    @Test("a board whose time for provisioning is over is not searched for")
    func timedOut() throws {
        var reader = DeviceLogReader()
        for line in [
            "I (1) network_prov_mgr: Provisioning started with service name : PROV_a1b2c3 ",
            #"I (2) app_network: Provisioning QR : {"ver":"v1","name":"PROV_a1b2c3","pop":"abcd","transport":"ble"}"#,
            "I (1800500) app_main: Provisioning Timed Out. Please reboot.",
        ] {
            _ = reader.take(Array(line.utf8))
        }
        let board = PrintedBoard(summary: reader.summary, port: "/dev/ttyUSB0")
        let error = #expect(throws: BoardError.self) { try board.address([:]) }
        #expect(error?.reason == "provisioning_timed_out")
    }

    @Test("the code's security scheme counts even without a proof")
    func scheme() throws {
        let found = try credentials(#"{"name":"PROV_a1b2c3","security":2}"#, BoardCredentials(proof: nil))
        #expect(found.leastSecurity.version == 2)
        #expect(try credentials(#"{"name":"PROV_a1b2c3"}"#, BoardCredentials(proof: nil)).leastSecurity.version == 0)
    }
}
