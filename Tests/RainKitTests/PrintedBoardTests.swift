// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RainKit

/// The code that a board prints protects it as its label does.
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

    @Test("a code that cannot be used is an error, as nobody knows then how the board is protected")
    func faulty() throws {
        let code = #"{"name":"PROV_a1b2c3","pop":12345678,"transport":"ble"}"#
        let error = #expect(throws: ProvisioningError.self) { try credentials(code, BoardCredentials(proof: nil)) }
        #expect(error?.code == .malformed && error?.message.contains("\"pop\" is a number") == true)
        #expect(error?.message.contains("/dev/ttyUSB0") == true && error?.remedies == [.proofOfPossession])
        // The user knows better.
        _ = try credentials(code, BoardCredentials(proof: ProofOfPossession("12345678")))
        _ = try credentials(code, BoardCredentials(proof: nil, securityVersion: 0))
    }

    @Test("a scheme that the code names counts without a proof, too")
    func scheme() throws {
        let found = try credentials(#"{"name":"PROV_a1b2c3","security":2}"#, BoardCredentials(proof: nil))
        #expect(found.leastSecurity.version == 2)
        #expect(try credentials(#"{"name":"PROV_a1b2c3"}"#, BoardCredentials(proof: nil)).leastSecurity.version == 0)
    }
}
