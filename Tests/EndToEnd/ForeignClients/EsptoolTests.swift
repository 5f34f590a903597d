// SPDX-License-Identifier: Apache-2.0
import RainIO
import RainJSON
import TestSupport
import Testing

/// Espressif's esptool restarts a chip over the same lines, for the same time.
@Suite("esptool")
struct EsptoolTests {
    @Test(
        "restarts a board as we do",
        arguments: [("bridge", ModemLines.restart), ("usb", ModemLines.restartOverUSB)])
    func restart(port: String, ours: ModemLines) async throws {
        let python = try await ForeignClient.esptool.path()
        let finished = try await run(
            python, [Repository.path("Tests/EndToEnd/ForeignClients/Clients/esptool_resets.py")])
        guard finished.status == .exited(0) else { throw ProcessError(finished.standardError) }
        let theirs = try JSONValue(parsing: Array(finished.standardOutput.utf8))[port]?.array
        let steps = try #require(theirs).map { step in
            ModemLines.Step(
                dataTerminalReady: step.array?[0] == true, requestToSend: step.array?[1] == true,
                pause: .milliseconds(Int64(((step.array?[2].double ?? 0) * 1000).rounded())))
        }
        #expect(steps == ours.steps)
    }
}
