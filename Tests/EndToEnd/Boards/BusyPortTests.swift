// SPDX-License-Identifier: Apache-2.0
import RainIO
import RainJSON
import RainKit
import TestSupport
import Testing

@Suite("rainctl and a serial port that another program holds")
struct BusyPortTests {
    @Test("it is busy for the moment: a retry may work", arguments: [["provision"], ["device", "info"]])
    func held(command: [String]) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let terminal = try PseudoTerminal()
            let port = try SerialPort.open(terminal.path)
            let more =
                command == ["provision"]
                ? ["--no-mapping", "--ssid", "Home", "--passphrase-file", folder.file("wifi")] : []
            let outcome = try await maker.rainctl(
                command + ["--port", terminal.path, "--pop-file", folder.file("pop"), "--json"] + more)
            await port.close()
            #expect(outcome.status == 75, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.failure?["code"] == "temporary")
            #expect(outcome.failure?["reason"] == "busy")
            #expect(outcome.failure?["message"]?.string?.contains("Another program is using this port") == true)
        }
    }
}
