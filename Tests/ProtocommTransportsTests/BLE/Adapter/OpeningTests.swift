// SPDX-License-Identifier: Apache-2.0
import Logging
import ProtocommTransports
import RainDBus
import TestSupport
import Testing

@Suite("Opening this machine's Bluetooth")
struct OpeningTests {
    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Twice the promise: the machine that runs the tests does other things beside.
    private static let soon = Duration.seconds(4)

    /// What opening failed with, and how long that took.
    private func opening(
        _ address: String, adapter: String? = nil, isBlocked: Bool = false
    ) async -> (error: BluetoothError?, time: Duration) {
        let began = ContinuousClock.now
        do {
            let central = try await BluetoothCentral.open(
                adapter: adapter, bus: .at(address), isBlocked: { isBlocked }, logger: Self.silent)
            central.close()
            return (nil, ContinuousClock.now - began)
        } catch { return (error, ContinuousClock.now - began) }
    }

    @Test("a bus that is not there, and one that says nothing")
    func noBus() async throws {
        #expect(await opening("unix:path=/nonexistent/bus").error?.code == .noBus)
        let silent = try SilentListener()
        let late = await opening("tcp:host=127.0.0.1,port=\(silent.port)")
        #expect(late.error?.code == .noBus)
        if isAlone { #expect(late.time < Self.soon) }
    }
}
