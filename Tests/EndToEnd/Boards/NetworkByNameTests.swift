// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// RainMaker's own console, as on a stock example behind a USB bridge, cannot list networks.
@Suite("rainctl provision: a console that cannot list networks")
struct NetworkByNameTests {
    @Test(
        "a person is asked for the network's name, and an empty answer is this machine's own network, if it is known",
        arguments: [false, true])
    func asked(isKnown: Bool) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(
                BoardLine.rainmaker.options(in: folder) + ["--join-delay", "0"], in: folder)
            let mock = isKnown ? try await MockedNetworkManager.start(in: folder) : nil
            let environment = maker.environment.merging(mock?.environment ?? [:]) { $1 }
            let person = try await Person.start(
                try Executables.path("rainctl"), ["provision", "--no-mapping"] + Maker.way(to: board),
                environment: environment)
            if isKnown {
                try await person.answers("Network name (Enter for Home): ", "")
            } else {
                try await person.answers("Network name: ", "")
                try await person.hears("Nothing was typed")
                try await person.answers("Network name: ", SimulatedBoard.ssid)
            }
            try await person.answers("Wi-Fi password (n for another network): ", SimulatedBoard.passphrase)
            #expect(try await person.wait() == .exited(0), "\(person.transcript)")
            #expect(person.transcript.contains("cannot list networks"), "\(person.transcript)")
            let joined = try board.journal.entries(where: ["event": "state", "change": "joined"])
            #expect(joined.compactMap { $0["ssid"]?.string } == [SimulatedBoard.ssid])
        }
    }
}
