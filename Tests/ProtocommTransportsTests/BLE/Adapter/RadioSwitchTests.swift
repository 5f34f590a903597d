// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import ProtocommTransports

@Suite("The kernel's radio switch")
struct RadioSwitchTests {
    private func isBlocked(_ switches: [(type: String, soft: String, hard: String)]) async throws -> Bool {
        try await withTemporaryFolder { folder in
            for (index, each) in switches.enumerated() {
                try folder.makeFolder("rfkill\(index)")
                try folder.write(each.type + "\n", to: "rfkill\(index)/type")
                try folder.write(each.soft + "\n", to: "rfkill\(index)/soft")
                try folder.write(each.hard + "\n", to: "rfkill\(index)/hard")
            }
            return RadioSwitch.isBlocked(folder.path)
        }
    }

    @Test("holds Bluetooth off only where every Bluetooth radio is held")
    func states() async throws {
        #expect(try await !isBlocked([]))
        #expect(try await !isBlocked([("wlan", "1", "1")]))
        #expect(try await !isBlocked([("bluetooth", "0", "0")]))
        #expect(try await isBlocked([("bluetooth", "1", "0")]))
        #expect(try await isBlocked([("bluetooth", "0", "1")]))
        #expect(try await !isBlocked([("bluetooth", "1", "0"), ("bluetooth", "0", "0")]))
        #expect(!RadioSwitch.isBlocked("/nonexistent"))
    }
}
