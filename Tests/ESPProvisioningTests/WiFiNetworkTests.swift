// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Testing
import RainCore

@Suite("Wi-Fi networks")
struct WiFiNetworkTests {
    @Test("a network's name is bytes; on a terminal it is safe and unambiguous")
    func names() {
        #expect(SSID("Café 5").description == "Café 5")
        #expect(SSID([0x48, 0xFF, 0x00]).description == "H\\xff\\x00")
        #expect(SSID("a\\b").description == "a\\\\b")
        #expect(SSID("a\\\u{301}b").description == "a\\\\\u{301}b")
        #expect(SSID("\u{1B}[31m").description == "\\x1b[31m")
        #expect(SSID([0x01, 0xAB]).hex == "01ab")
    }

    @Test("what firmware refuses is refused before it is sent", arguments: [(0, 8), (33, 8), (5, 64)])
    func limits(ssid: Int, passphrase: Int) {
        #expect(throws: BoardError.self) {
            try WiFiNetwork(
                ssid: SSID([UInt8](repeating: 65, count: ssid)),
                passphrase: Secret([UInt8](repeating: UInt8(ascii: "x"), count: passphrase)))
        }
    }

    @Test("the longest name and passphrase pass")
    func longest() throws {
        let network = try WiFiNetwork(
            ssid: SSID([UInt8](repeating: 65, count: 32)), passphrase: Secret([UInt8](repeating: 66, count: 63)))
        #expect(network.passphrase.count == 63)
    }
}

@Suite("Poll schedule")
struct PollScheduleTests {
    @Test("the board is asked at once, then after 20 ms growing to 200 ms")
    func board() {
        var schedule = PollSchedule.boardStatus
        let pauses = (0..<20).map { _ in schedule.next() }
        #expect(pauses[0] == .zero)
        #expect(pauses[1] == .milliseconds(20))
        #expect(pauses.last == .milliseconds(200))
        #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test("the cloud is asked at most 100 ms apart in the first two seconds")
    func cloud() {
        var schedule = PollSchedule.cloudStatus
        var elapsed = Duration.zero
        while elapsed < .seconds(2) {
            let pause = schedule.next()
            if elapsed + pause <= .seconds(2) { #expect(pause <= .milliseconds(100)) }
            elapsed += pause
        }
    }
}
