// SPDX-License-Identifier: Apache-2.0
import RainDBus
import TestSupport
import Testing

@Suite("A connection to D-Bus")
struct DBusTests {
    @Test("a bus that accepts and says nothing is given up at the deadline")
    func silence() async throws {
        let listener = try SilentListener()
        await #expect {
            try await DBusClient.connect(.at("tcp:host=127.0.0.1,port=\(listener.port)"), within: .milliseconds(200))
        } throws: {
            ($0 as? DBusError)?.code == .timeout
        }
    }
}
