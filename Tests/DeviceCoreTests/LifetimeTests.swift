// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore
import Testing

@Suite("The end of the provisioning service, and its resets")
struct LifetimeTests {
    private func connected(_ options: ProvisioningOptions = ProvisioningOptions()) throws -> Board {
        var board = Board(options)
        _ = try board.join("HomeNet", "correct horse")
        board.wait(400)
        return board
    }

    @Test("the first poll that hears Connected stops the service one second later")
    func stopsAfterPoll() throws {
        var board = try connected()
        board.wait(5000)
        #expect(board.core.isServing)
        #expect(try board.status().state == .connected)
        board.wait(999)
        #expect(try board.status().state == .connected)
        board.wait(1)
        #expect(!board.core.isServing)
        #expect(board.send([0x52, 0x00], .config) == .refused)
    }

    @Test("if nobody asks, it stops 30 s after the address came, and a second")
    func stopsByItself() throws {
        var board = try connected()
        board.wait(30_999)
        #expect(board.core.isServing)
        board.wait(1)
        #expect(!board.core.isServing)
    }

    @Test("without auto-stop it stays")
    func staysUp() throws {
        var board = try connected(ProvisioningOptions(stopsByItself: false))
        #expect(try board.status().state == .connected)
        board.wait(3_600_000)
        #expect(try board.status().state == .connected)
    }

    @Test("a reset after a failure opens the way, but the status is stale until the next Apply")
    func staleAfterReset() throws {
        var board = Board()
        _ = try board.join("HomeNet", "wrong")
        board.wait(400)
        #expect(try board.control(.commandWiFiReset) == .success)
        #expect(try board.status().state == .connectionFailed)
        #expect(try board.join("HomeNet", "correct horse") == .success)
        #expect(try board.status() == WiFiStatusResponse(state: .connecting))
    }

    @Test("a reset of a new board does nothing; one in the middle or after success is refused")
    func resetElsewhere() throws {
        var board = Board()
        #expect(try board.control(.commandWiFiReset) == .success)
        _ = try board.join("HomeNet", "correct horse")
        #expect(try board.control(.commandWiFiReset) == .internalError)
        board.wait(400)
        #expect(try board.control(.commandWiFiReset) == .internalError)
    }

    @Test("a board that resets itself takes new credentials at once")
    func resetsItself() throws {
        var board = Board(ProvisioningOptions(resetsOnFailure: true))
        _ = try board.join("Nowhere")
        board.wait(400)
        #expect(try board.status() == WiFiStatusResponse(state: .connectionFailed, detail: .failed(.networkNotFound)))
        #expect(try board.join("HomeNet", "correct horse") == .success)
        board.wait(400)
        #expect(try board.status().state == .connected)
    }

    @Test("reprovision is only for boards without auto-stop")
    func reprovisionNeedsNoAutoStop() throws {
        var board = Board()
        #expect(try board.control(.commandWiFiReprovision) == .internalError)
    }

    @Test("after reprovision the old Connected is reported, with nonsense, until the next Apply")
    func reprovision() throws {
        var board = try connected(ProvisioningOptions(stopsByItself: false))
        #expect(try board.control(.commandWiFiReprovision) == .success)
        let stale = try board.status()
        #expect(stale.state == .connected)
        guard case .connected(let connection)? = stale.detail else { throw Refused() }
        #expect(connection.ssid != neighbourhood[0].ssid)
        #expect(try board.join("Cafe") == .success)
        #expect(try board.status().state == .connecting)
    }

    @Test("events tell the story in order")
    func events() throws {
        var board = Board(ProvisioningOptions(attempts: 2, resetsOnFailure: true))
        _ = try board.join("HomeNet", "wrong")
        board.wait(800)
        _ = try board.join("HomeNet", "correct horse")
        board.wait(400)
        _ = try board.status()
        board.wait(1000)
        let ssid = neighbourhood[0].ssid
        #expect(
            board.core.takeEvents() == [
                .sessionOpened, .credentialsReceived(ssid: ssid),
                .attemptFailed(.fourWayHandshakeTimeout, remaining: 1),
                .joinFailed(.fourWayHandshakeTimeout, .authenticationError), .resetAfterFailure,
                .credentialsReceived(ssid: ssid), .joined(ssid: ssid, channel: 6), .serviceStopping, .serviceStopped,
            ])
        #expect(board.core.takeEvents().isEmpty)
    }
}
