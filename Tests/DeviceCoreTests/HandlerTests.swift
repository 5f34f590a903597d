// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore
import Testing

@Suite("What handlers refuse")
struct HandlerTests {
    @Test(
        "unknown types, responses, and what is not a message are handler errors",
        arguments: [
            (Endpoint.config, [0x08, 0x01]), (.config, [0x08, 0x0C]), (.config, [0x08, 0x02]), (.config, [0xFF]),
            (.config, [0x08, 0x02, 0x72, 0x00]), (.config, [0x08, 0x08]), (.scan, []), (.scan, [0x08, 0x04]),
            (.scan, [0x08, 0x05]), (.scan, [0x08, 0x0A, 0xA2, 0x01, 0x00]), (.control, []), (.control, [0x08, 0x02]),
            (.control, [0x0A]), (.userMapping, [0x0A, 0x05]), (Endpoint("no-such"), [0x00]),
        ] as [(Endpoint, [UInt8])])
    func refused(endpoint: Endpoint, request: [UInt8]) {
        var board = Board()
        #expect(board.send(request, endpoint) == .refused)
    }

    @Test(
        "a Wi-Fi board answers Thread commands with an invalid argument",
        arguments: [
            // Get, Set and Apply
            (Endpoint.config, [0x08, 0x06, 0x82, 0x01, 0x00], [0x08, 0x07, 0x8A, 0x01, 0x02, 0x08, 0x04]),
            (.config, [0x08, 0x08, 0x92, 0x01, 0x00], [0x08, 0x09, 0x9A, 0x01, 0x02, 0x08, 0x04]),
            (.config, [0x08, 0x0A], [0x08, 0x0B, 0xAA, 0x01, 0x02, 0x08, 0x04]),
            // scan start and status
            (.scan, [0x08, 0x06, 0x82, 0x01, 0x00], [0x08, 0x07, 0x10, 0x04, 0x8A, 0x01, 0x00]),
            (.scan, [0x08, 0x08, 0x92, 0x01, 0x00], [0x08, 0x09, 0x10, 0x04, 0x9A, 0x01, 0x00]),
            // reset and reprovision
            (.control, [0x08, 0x05], [0x08, 0x06, 0x10, 0x04, 0x82, 0x01, 0x00]),
            (.control, [0x08, 0x07], [0x08, 0x08, 0x10, 0x04, 0x92, 0x01, 0x00]),
        ] as [(Endpoint, [UInt8], [UInt8])])
    func thread(endpoint: Endpoint, request: [UInt8], reply: [UInt8]) {
        var board = Board()
        #expect(board.send(request, endpoint) == .reply(reply))
    }

    @Test(
        "endpoints exist as the board is made",
        arguments: [DeviceConfiguration.Association.userMapping, .challengeResponse, .none])
    func endpoints(association: DeviceConfiguration.Association) {
        let board = Board(
            DeviceConfiguration(
                nodeID: [0x41], security: .security0, association: association, isClaimed: association != .none))
        #expect(board.core.serves(.userMapping) == (association == .userMapping))
        #expect(board.core.serves(.challengeResponse) == (association == .challengeResponse))
        #expect(board.core.serves(.claim) == (association == .none))
        #expect([Endpoint.version, .session, .config, .scan, .control].allSatisfy(board.core.serves))
    }
}
