// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Testing

@testable import firmware_sim

/// Which firmware announces what: part 9 of the device's specification, and ESP-IDF's own sources.
@Suite("The firmware that firmware-sim plays")
struct PresetTests {
    @Test("on protocomm's console it is Security 1, as 2 does not fit its lines, unless that is asked for")
    func console() throws {
        let link = ["--console", "/tmp/none"]
        #expect(try FirmwareSim.parse(link).firmware.security == 1)
        #expect(try FirmwareSim.parse(link).firmware.mapping == .challengeResponse)
        #expect(try FirmwareSim.parse(link + ["--console-dialect", "rainmaker"]).firmware.security == 2)
        #expect(try FirmwareSim.parse(link + ["--security", "2"]).firmware.security == 2)
        #expect(try FirmwareSim.parse(link + ["--preset", "rainmaker-1.14"]).firmware.security == 2)
        #expect(try FirmwareSim.parse(link).radio.joinDelay == 1.4)
    }

    @Test("today's firmware tries three times, and makes itself ready again")
    func attempts() throws {
        let today = try FirmwareSim.parse(["--http", "127.0.0.1:0"]).firmware
        #expect(today == Preset.rainMaker114.firmware && today.attempts == 3 && today.resetsOnFailure)
        let other = try FirmwareSim.parse(["--http", "127.0.0.1:0", "--attempts", "0", "--no-reset-on-failure"])
            .firmware
        #expect(other.attempts == 0 && !other.resetsOnFailure)
    }
}
