// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore
import Testing

@Suite("Joining a network")
struct JoiningTests {
    @Test("before any Apply the status is Connecting, byte for byte")
    func statusBeforeApply() {
        var board = Board()
        #expect(board.send([0x52, 0x00], .config) == .reply([0x08, 0x01, 0x5A, 0x02, 0x10, 0x01]))
    }

    @Test("Set, Apply and some polls end with the address and the network")
    func success() throws {
        var board = Board()
        #expect(try board.join("HomeNet", "correct horse") == .success)
        #expect(try board.status() == WiFiStatusResponse(state: .connecting))
        board.wait(399)
        #expect(try board.status() == WiFiStatusResponse(state: .connecting))
        board.wait(1)
        let connection = WiFiConnection(
            ip4Address: Array("192.168.1.23".utf8), authentication: .wpa2PSK, ssid: Array("HomeNet".utf8),
            bssid: neighbourhood[0].bssid, channel: 6)
        #expect(try board.status() == WiFiStatusResponse(state: .connected, detail: .connected(connection)))
    }

    @Test("an impossible channel is reported as far as the message can carry it")
    func channelBeyondTheMessage() throws {
        let strange = SimulatedAccessPoint(
            ssid: Array("Cafe".utf8), bssid: [1, 2, 3, 4, 5, 6], channel: .max, authentication: .open)
        var board = Board(ProvisioningOptions(), radio: SimulatedRadio(accessPoints: [strange], joinDelay: 0))
        #expect(try board.join("Cafe", "") == .success)
        guard case .connected(let connection)? = try board.status().detail else { throw Refused() }
        #expect(connection.channel == .max)
    }

    @Test("with a join delay of 0 the first poll returns the result")
    func noDelay() throws {
        var board = Board(ProvisioningOptions(), radio: SimulatedRadio(accessPoints: neighbourhood, joinDelay: 0))
        #expect(try board.join("HomeNet", "correct horse") == .success)
        #expect(try board.status().state == .connected)
    }

    @Test("what is too long, or half a BSSID, is an invalid argument and changes nothing")
    func limits() throws {
        var board = Board()
        #expect(try board.set("HomeNet", "correct horse") == .success)
        #expect(try board.set(String(repeating: "s", count: 33)) == .invalidArgument)
        #expect(try board.set("HomeNet", String(repeating: "f", count: 64)) == .invalidArgument)
        #expect(try board.set("HomeNet", "other", bssid: [1, 2, 3]) == .invalidArgument)
        #expect(try board.apply() == .success)
        board.wait(400)
        #expect(try board.status().state == .connected)
        var longest = Board()
        #expect(
            try longest.set(
                String(repeating: "s", count: 32), String(repeating: "p", count: 63), bssid: [1, 2, 3, 4, 5, 6])
                == .success)
    }

    @Test("the last Set wins")
    func lastSetWins() throws {
        var board = Board()
        _ = try board.set("Elsewhere", "whatever")
        #expect(try board.join("Cafe") == .success)
        board.wait(400)
        #expect(try board.status().state == .connected)
    }

    @Test("Apply needs a Set since the last Apply, and uses it up even when it is refused")
    func applyConsumesSet() throws {
        var board = Board()
        #expect(try board.apply() == .internalError)
        #expect(try board.join("HomeNet", "wrong") == .success)
        #expect(try board.join("HomeNet", "correct horse") == .internalError)
        board.wait(400)
        #expect(try board.status().state == .connectionFailed)
        #expect(try board.control(.commandWiFiReset) == .success)
        // The Set of the refused Apply is gone.
        #expect(try board.apply() == .internalError)
        #expect(try board.join("HomeNet", "correct horse") == .success)
    }

    @Test(
        "the verdict names the reason",
        arguments: [
            ("HomeNet", "wrong", WiFiConnectFailure.authenticationError), ("Nowhere", "x", .networkNotFound),
        ])
    func failures(ssid: String, passphrase: String, failure: WiFiConnectFailure) throws {
        var board = Board()
        #expect(try board.join(ssid, passphrase) == .success)
        board.wait(400)
        #expect(try board.status() == WiFiStatusResponse(state: .connectionFailed, detail: .failed(failure)))
    }

    @Test("an authentication failure is written although its number is 0")
    func authenticationFailureIsWritten() throws {
        var board = Board()
        _ = try board.join("HomeNet", "wrong")
        board.wait(400)
        #expect(board.send([0x52, 0x00], .config) == .reply([0x08, 0x01, 0x5A, 0x04, 0x10, 0x03, 0x50, 0x00]))
    }

    @Test("a reason that the firmware does not know is retried for ever, and stays Connecting")
    func unknownReason() throws {
        var board = Board()
        _ = try board.join("HomeNet", "")
        board.wait(60_000)
        #expect(try board.status() == WiFiStatusResponse(state: .connecting))
        // Meanwhile the state is FAIL: a reset is accepted.
        #expect(try board.control(.commandWiFiReset) == .success)
        #expect(try board.join("HomeNet", "correct horse") == .success)
    }

    @Test("with attempts, an unknown reason ends with the failure before, at first a wrong passphrase")
    func staleReason() throws {
        var board = Board(ProvisioningOptions(attempts: 2))
        _ = try board.join("HomeNet", "")
        board.wait(800)
        #expect(
            try board.status() == WiFiStatusResponse(state: .connectionFailed, detail: .failed(.authenticationError)))
    }

    @Test("attempts are counted down to 1, then the failure is reported")
    func attempts() throws {
        var board = Board(ProvisioningOptions(attempts: 3))
        _ = try board.join("HomeNet", "wrong")
        var seen: [WiFiStatusResponse] = []
        for _ in 0..<4 {
            seen.append(try board.status())
            board.wait(400)
        }
        #expect(
            seen == [
                WiFiStatusResponse(state: .connecting),
                WiFiStatusResponse(state: .connecting, detail: .attemptFailed(WiFiAttemptFailed(attemptsRemaining: 2))),
                WiFiStatusResponse(state: .connecting, detail: .attemptFailed(WiFiAttemptFailed(attemptsRemaining: 1))),
                WiFiStatusResponse(state: .connectionFailed, detail: .failed(.authenticationError)),
            ])
    }

    @Test("a stuck radio never has a verdict")
    func stuck() throws {
        var board = Board(
            ProvisioningOptions(attempts: 3), radio: SimulatedRadio(accessPoints: neighbourhood, fault: .stuck))
        _ = try board.join("HomeNet", "correct horse")
        board.wait(600_000)
        #expect(try board.status() == WiFiStatusResponse(state: .connecting))
    }

    @Test("a BSSID is copied up to a zero byte; what follows is not the network's")
    func bssidWithZero() throws {
        var board = Board()
        _ = try board.join("Office", "only for work")
        board.wait(400)
        guard case .connected(let connection)? = try board.status().detail else { throw Refused() }
        #expect(connection.bssid.count == 6)
        #expect(Array(connection.bssid[..<3]) == Array(neighbourhood[2].bssid[..<3]))
        #expect(connection.bssid != neighbourhood[2].bssid)
    }
}
