// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ESPProvisioning
import ProtocommCore
import RainCore
import RainKitTesting
import Testing

/// Firmware that is asked to scan in the middle of something else never ends a scan again.
@Suite("Scanning, whatever the board has been through")
struct ScanStateTests {
    private let home = try! WiFiNetwork(ssid: SSID("Home"), passphrase: Secret("correct horse"))
    private let wrong = try! WiFiNetwork(ssid: SSID("Home"), passphrase: Secret("wrong horse"))

    @Test("a board whose attempt to join has failed is reset first")
    func afterFailure() async throws {
        let firmware = try FirmwareInMemory()
        let board = try await firmware.securedBoard()
        let error = await #expect(throws: BoardError.self) {
            try await firmware.clock.run {
                try await board.join(wrong)
                _ = try await board.watch { _ in }
            }
        }
        #expect(error?.code == .wifiAuthenticationFailed)
        let found = try await firmware.clock.run { try await board.scan() }
        #expect(found.map(\.ssid) == [SSID("Home")])
        // It may be reset once too often, as its status stays; the scan is as good.
        #expect(try await firmware.clock.run { try await board.scan() } == found)
    }

    @Test("a board that is trying to join is not asked, and one that has joined neither")
    func joining() async throws {
        let firmware = try FirmwareInMemory(ProvisioningOptions(attempts: 9))
        let board = try await firmware.securedBoard()
        try await firmware.clock.run {
            try await board.join(wrong)
            // Until the first attempt of nine has failed.
            await withTaskGroup(of: Void.self) { group in
                let (first, told) = AsyncStream.makeStream(of: Void.self)
                group.addTask {
                    _ = try? await board.watch { progress in
                        if case .attemptFailed = progress { told.finish() }
                    }
                }
                for await _ in first {}
                group.cancelAll()
            }
        }
        let error = await #expect(throws: BoardError.self) {
            try await firmware.clock.run { try await board.scan() }
        }
        #expect("\(error?.code, default: "")" == "joining")
        #expect(!firmware.asked.contains(.scan))
    }

    @Test("a board that has said nothing of its attempt yet is not asked either, and is once the attempt has ended")
    func firstAttempt() async throws {
        let firmware = try FirmwareInMemory(ProvisioningOptions(attempts: 3))
        let board = try await firmware.securedBoard()
        try await firmware.clock.run { try await board.join(wrong) }
        let error = await #expect(throws: BoardError.self) {
            try await firmware.clock.run { try await board.scan() }
        }
        #expect("\(error?.code, default: "")" == "joining")
        #expect(!firmware.asked.contains(.scan))
        await #expect(throws: BoardError.self) {
            try await firmware.clock.run { _ = try await board.watch { _ in } }
        }
        #expect(try await firmware.clock.run { try await board.scan() }.map(\.ssid) == [SSID("Home")])
    }

    @Test("older firmware refuses a reset when it is idle, too, and is asked; while it joins it is not")
    func olderFirmware() async throws {
        let options = ProvisioningOptions(attempts: 3, refusesIdleReset: true)
        let idle = try FirmwareInMemory(options)
        let board = try await idle.securedBoard()
        #expect(try await idle.clock.run { try await board.scan() }.map(\.ssid) == [SSID("Home")])

        let busy = try FirmwareInMemory(options)
        let joining = try await busy.securedBoard()
        let error = await #expect(throws: BoardError.self) {
            try await busy.clock.run {
                try await joining.join(wrong)
                _ = try await joining.scan()
            }
        }
        #expect("\(error?.code, default: "")" == "joining")
        #expect(!busy.asked.contains(.scan))
    }

    @Test("a board that is on a network is not asked")
    func connected() async throws {
        let firmware = try FirmwareInMemory()
        let board = try await firmware.securedBoard()
        let error = await #expect(throws: BoardError.self) {
            try await firmware.clock.run {
                try await board.join(home)
                _ = try await board.watch { _ in }
                _ = try await board.scan()
            }
        }
        #expect(error?.code == .rejected)
        #expect(error?.isOnNetwork == true)
        #expect(error?.message.contains("already on a network") == true)
        #expect(error?.message.contains("hold its BOOT button for 3 s") == true)
        #expect(!firmware.asked.contains(.scan))
    }
}
