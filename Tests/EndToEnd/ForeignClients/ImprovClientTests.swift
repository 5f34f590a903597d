// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainJSON
import TestSupport
import Testing

/// py-improv-ble-client, whose commands and results are the same over a cable, meets our codec and our simulated board.
@Suite("py-improv-ble-client")
struct ImprovClientTests {
    private func session(_ arguments: String...) async throws -> JSONValue {
        let python = try await ForeignClient.improvClient.path()
        let script = Repository.path("Tests/EndToEnd/ForeignClients/Clients/improv_session.py")
        let finished = try await run(python, [script] + arguments)
        guard finished.status == .exited(0) else { throw ProcessError(finished.standardError) }
        return try JSONValue(parsing: Array(finished.standardOutput.utf8))
    }

    @Test("makes the same packets as we do, and has the same states and errors")
    func codec() async throws {
        let theirs = try await session("codec")
        let ours: [(String, ImprovFrame?)] = [
            ("join", .command(.joinNetwork, [Array("MyWirelessAP".utf8), Array("mysecurepassword".utf8)])),
            ("join_open", .command(.joinNetwork, [Array("Cafe".utf8), []])), ("information", .command(.information)),
        ]
        for (name, frame) in ours {
            #expect(theirs[name]?.string == frame.map { hexString($0.encoded) }, "\(name)")
        }
        #expect(theirs["states"]?["AUTHORIZED"] == .integer(Int64(ImprovState.ready.rawValue)))
        #expect(theirs["states"]?["PROVISIONED"] == .integer(Int64(ImprovState.provisioned.rawValue)))
        #expect(theirs["errors"]?["UNABLE_TO_CONNECT"] == .integer(Int64(ImprovFailure.unableToConnect.rawValue)))
        #expect(theirs["errors"]?["UNKNOWN_ERROR"] == .integer(Int64(ImprovFailure.unknown.rawValue)))
    }

    @Test("puts a simulated board on Wi-Fi over its cable, and understands a refusal", arguments: [true, false])
    func provision(isRight: Bool) async throws {
        try await withTemporaryFolder { folder in
            let board = try await SimulatedBoard.start(
                [
                    "--console", folder.file("tty"), "--console-dialect", "improv", "--join-delay", "0.2", "--security",
                    "1", "--mapping", "none", "--attempts", "1", "--name", "PROV_a1b2c3",
                ], in: folder)
            defer { board.process.kill() }
            let heard = try await session(
                folder.file("tty"), SimulatedBoard.ssid, isRight ? SimulatedBoard.passphrase : "wrong-passphrase")
            #expect(heard["information"]?.array?.last == "PROV_a1b2c3", "\(heard)")
            #expect(heard["states"]?.array?.contains("PROVISIONING") == true, "\(heard)")
            #expect(heard["states"]?.array?.contains("PROVISIONED") == isRight, "\(heard)")
            #expect((heard["url"] == "http://192.168.1.23") == isRight, "\(heard)")
            #expect((heard["errors"] == .array(["UNABLE_TO_CONNECT"])) == !isRight, "\(heard)")
        }
    }
}
