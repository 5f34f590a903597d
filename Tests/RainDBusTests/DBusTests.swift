// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import RainDBus

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

    @Test(
        "an address names a transport first",
        arguments: [
            ("unix:path=/run/dbus/system_bus_socket", true), ("unix:path=/a;tcp:host=b,port=1", true),
            ("/run/dbus/system_bus_socket", false), ("unix:path=/a;/b", false), (":path=/a", false), ("", false),
            ("a/b:c", false),
        ])
    func addresses(text: String, isRight: Bool) { #expect(DBusAddress.at(text).isWellFormed == isRight) }
}
