// SPDX-License-Identifier: Apache-2.0
import RainDBus
import Testing

@testable import ProtocommTransports

@Suite("An adapter that does not scan")
struct StuckAdapterTests {
    private func error(_ words: String) -> BluetoothError {
        BluetoothError(scanning: "/org/bluez/hci0", DBusError(.remote, name: "org.bluez.Error.Failed", message: words))
    }

    @Test("is to be plugged in again if it no longer answers")
    func stuck() {
        let error = error("Input/output error")
        #expect(error.code == .scanFailed)
        #expect(error.message.contains("Unplug it") && !error.message.contains("End other scans"), "\(error.message)")
    }

    @Test("may be busy with other scans")
    func busy() {
        #expect(error("Operation already in progress").message.contains("End other scans"))
    }
}
