// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Protocomm
import ProtocommCore
import RainCore
import RainKitTesting
import Synchronization
import TestSupport
import Testing

@Suite("ProtocommBoard")
struct ProtocommBoardTests {
    private let home = try! WiFiNetwork(ssid: SSID("Home"), passphrase: Secret("correct horse"))

    /// The answers of a board that accepts every setting; `statuses` are its answers to status questions, the last repeated.
    private static func accepting(_ statuses: [WiFiStatusResponse]) -> ScriptedFirmware.Answers {
        let left = Mutex(statuses)
        return { request, endpoint in
            guard endpoint == .config, let message = try? NetworkConfigPayload(decoding: request) else { return nil }
            switch message.message {
            case .commandSetWiFiConfig: return NetworkConfigPayload(.responseSetWiFiConfig(StatusResponse())).encoded()
            case .commandApplyWiFiConfig:
                return NetworkConfigPayload(.responseApplyWiFiConfig(StatusResponse())).encoded()
            default:
                let status = left.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
                return NetworkConfigPayload(.responseGetWiFiStatus(status)).encoded()
            }
        }
    }

    private func connected(_ address: String = "192.168.1.7") -> WiFiStatusResponse {
        WiFiStatusResponse(
            state: .connected,
            detail: .connected(WiFiConnection(ip4Address: Array(address.utf8), ssid: Array("Home".utf8), channel: 6)))
    }

    @Test("a board that joins at once is asked five times under Security 0")
    func requestCount() async throws {
        let firmware = ScriptedFirmware(answers: Self.accepting([connected()]))
        let board = firmware.board()
        _ = try await board.identify()
        try await board.secure()
        try await board.join(home)
        let network = try await board.watch { _ in }
        #expect(network.address == "192.168.1.7")
        #expect(network.channel == 6)
        #expect(firmware.asked == [.version, .session, .config, .config, .config])
    }

    @Test("every detail of a failed attempt is reported, and the result is the board's")
    func verdicts() async throws {
        let cases: [(WiFiStatusResponse, BoardError.Code)] = [
            (.init(state: .connectionFailed, detail: .failed(.authenticationError)), .wifiAuthenticationFailed),
            (.init(state: .connectionFailed, detail: .failed(.networkNotFound)), .wifiNetworkNotFound),
            (.init(state: .connectionFailed), .wifiFailed),
            (.init(state: .connectionFailed, detail: .failed(WiFiConnectFailure(rawValue: 9))), .wifiFailed),
        ]
        for (status, code) in cases {
            let firmware = ScriptedFirmware(
                answers: Self.accepting([
                    WiFiStatusResponse(state: .connecting),
                    WiFiStatusResponse(state: .connecting, detail: .attemptFailed(.init(attemptsRemaining: 2))), status,
                ]))
            let board = firmware.board(clock: InstantClock())
            _ = try await board.identify()
            try await board.secure()
            try await board.join(home)
            let heard = Mutex<[WiFiProgress]>([])
            let error = await #expect(throws: BoardError.self) {
                try await board.watch { progress in heard.withLock { $0.append(progress) } }
            }
            #expect(error?.code == code)
            #expect(heard.withLock { $0 } == [.connecting, .attemptFailed(remaining: 2)])
        }
    }

    @Test("a board that has left for its network is not looked for longer than twelve seconds")
    func leftForItsNetwork() async throws {
        let clock = ManualClock()
        // As over Bluetooth, where the answer that told of success was lost, and the board does not advertise any longer: looking
        // for it takes as long as looking for any.
        let firmware = ScriptedFirmware(answers: Self.accepting([connected()]))
        let board = firmware.board(
            clock: clock, deadlines: ExchangeDeadlines(handshake: .seconds(46), exchange: .seconds(41))
        ) { exchange, _ in
            exchange < 4 ? nil : exchange == 4 ? .fail(.lost) : .loseRequest
        }
        _ = try await board.identify()
        try await board.secure()
        try await board.join(home)
        let error = await #expect(throws: BoardError.self) {
            try await clock.run { try await board.watch { _ in } }
        }
        #expect(error?.code == .deviceLost)
        #expect(clock.now.offset < .seconds(20), "\(clock.now.offset)")
    }

    /// A board on whose clock a test goes on, which took an Apply whose answer was lost and refuses the second. The link breaks again when
    /// it is asked about that, and it is out of reach for as many exchanges from then on.
    private func boardThatTookApply(_ clock: ManualClock, outOfReachFor exchanges: Int) async throws -> any Board {
        let status = NetworkConfigPayload(.responseGetWiFiStatus(connected())).encoded()
        let firmware = ScriptedFirmware { request, _ in
            let message = (try? NetworkConfigPayload(decoding: request))?.message
            if message == .commandGetWiFiStatus { return status }
            guard message == .commandApplyWiFiConfig else {
                return NetworkConfigPayload(.responseSetWiFiConfig(StatusResponse())).encoded()
            }
            return NetworkConfigPayload(.responseApplyWiFiConfig(StatusResponse(.internalError))).encoded()
        }
        let board = firmware.board(
            clock: clock, deadlines: ExchangeDeadlines(handshake: .seconds(46), exchange: .seconds(41)),
            restoresLinks: true
        ) { exchange, _ in
            // version, session, set, apply; session, set, apply; status; and the next session.
            exchange == 3 || exchange == 7 ? .fail(.lost) : (8..<8 + exchanges).contains(exchange) ? .loseRequest : nil
        }
        _ = try await board.identify()
        try await board.secure()
        return board
    }

    @Test("a board that took an Apply whose answer was lost, and leaves while it is asked about it, has joined")
    func leftWhileAsked() async throws {
        let clock = ManualClock()
        let board = try await boardThatTookApply(clock, outOfReachFor: 1000)
        try await clock.run { try await board.join(home) }
        #expect(clock.now.offset < .seconds(20), "\(clock.now.offset)")
    }

    @Test("a board that was out of reach while it was asked about its Apply is watched over a new session")
    func backAfterBeingAsked() async throws {
        let clock = ManualClock()
        let board = try await boardThatTookApply(clock, outOfReachFor: 1)
        let joined = try await clock.run { () async throws in
            try await board.join(home)
            return try await board.watch { _ in }
        }
        #expect(!joined.address.isEmpty)
    }

    @Test("a board that refuses to apply is reset and told everything again")
    func applyAfterFailure() async throws {
        let refusals = Mutex(1)
        let firmware = ScriptedFirmware { request, endpoint in
            if endpoint == .control { return NetworkControlPayload(.responseWiFiReset).encoded() }
            let message = try? NetworkConfigPayload(decoding: request)
            if message?.message == .commandApplyWiFiConfig {
                let status: Status = refusals.withLock { left in
                    defer { left -= 1 }
                    return left > 0 ? .internalError : .success
                }
                return NetworkConfigPayload(.responseApplyWiFiConfig(StatusResponse(status))).encoded()
            }
            return NetworkConfigPayload(.responseSetWiFiConfig(StatusResponse())).encoded()
        }
        let board = firmware.board()
        _ = try await board.identify()
        try await board.secure()
        try await board.join(home)
        #expect(firmware.asked == [.version, .session, .config, .config, .control, .config, .config])
    }

    @Test("a scan is paged exactly, and as far as the board says", arguments: [0, 1, 4, 5, 11, 16, 20, 64, 255, 300])
    func paging(count: Int) async throws {
        let firmware = ScriptedFirmware { request, endpoint in
            if endpoint == .config {
                return NetworkConfigPayload(.responseGetWiFiStatus(WiFiStatusResponse(state: .connecting))).encoded()
            }
            guard let message = try? NetworkScanPayload(decoding: request) else { return nil }
            switch message.payload {
            case .commandScanWiFiStart: return NetworkScanPayload(.responseScanWiFiStart).encoded()
            case .commandScanWiFiResult(let page):
                // Firmware drops the connection when asked beyond what it has.
                guard page.startIndex + page.count <= UInt32(count), page.count <= 4 else { return nil }
                let entries = (page.startIndex..<page.startIndex + page.count).map { index in
                    WiFiScanResult(
                        ssid: Array("net-\(index)".utf8), channel: 1, rssi: -40 - Int32(index % 60),
                        bssid: [2, 0, 0, 0, 0, 1],
                        authentication: .owe)
                }
                return NetworkScanPayload(.responseScanWiFiResult(ScanWiFiResultResponse(entries))).encoded()
            default:
                let status = ScanStatusResponse(isFinished: true, resultCount: UInt32(count))
                return NetworkScanPayload(.responseScanWiFiStatus(status)).encoded()
            }
        }
        let board = firmware.board(clock: InstantClock())
        _ = try await board.identify()
        try await board.secure()
        let found = try await board.scan()
        #expect(found.count == min(256, count))
        #expect(found.map(\.rssi) == found.map(\.rssi).sorted(by: >))
        #expect(found.allSatisfy { $0.protection.isOpen })
    }

    @Test("asking for another scheme than the board's is refused before the handshake")
    func securityMismatch() async throws {
        let firmware = ScriptedFirmware(
            version: #"{"prov":{"ver":"x","sec_ver":7,"cap":[]}}"#, answers: { _, _ in nil })
        let board = firmware.board()
        _ = try await board.identify()
        let error = await #expect(throws: BoardError.self) { try await board.secure() }
        #expect(error?.code == .securityMismatch)
        #expect(firmware.asked == [.version])
    }

    @Test("a board that wants a proof of possession is not asked without one")
    func missingProof() async throws {
        let firmware = ScriptedFirmware(
            version: #"{"prov":{"ver":"x","sec_ver":1,"cap":[]}}"#, answers: { _, _ in nil })
        let board = firmware.board()
        _ = try await board.identify()
        let error = await #expect(throws: BoardError.self) { try await board.secure() }
        #expect(error?.code == .invalidArgument)
        #expect(firmware.asked == [.version])
    }

    @Test("user and secret reach the board, and its node id comes back")
    func userMapping() async throws {
        let firmware = ScriptedFirmware { request, endpoint in
            guard endpoint == .userMapping else { return nil }
            return UserMappingPayload(.responseSetUserMapping(.init(nodeID: Array("node-7".utf8)))).encoded()
        }
        let board = firmware.board()
        _ = try await board.identify()
        try await board.secure()
        let secret = MappingSecret(randomBytes: [UInt8](repeating: 9, count: 16))
        let reply = try await board.associate(.userMapping(UserID("user-1"), secret))
        #expect(reply.nodeID == NodeID("node-7"))
        let sent = try UserMappingPayload(decoding: firmware.bytes(on: .userMapping)[0])
        #expect(
            sent.payload
                == .commandSetUserMapping(
                    .init(userID: Array("user-1".utf8), secretKey: secret.secret.revealBytes())))
    }

    @Test(
        "a node id that is not printable is no node id",
        arguments: ["", "a b", "n\u{7}", String(repeating: "x", count: 65)])
    func strangeNodeID(text: String) async throws {
        let firmware = ScriptedFirmware { _, _ in
            UserMappingPayload(.responseSetUserMapping(.init(nodeID: Array(text.utf8)))).encoded()
        }
        let board = firmware.board()
        _ = try await board.identify()
        try await board.secure()
        let secret = MappingSecret(randomBytes: [UInt8](repeating: 9, count: 16))
        let error = await #expect(throws: BoardError.self) {
            try await board.associate(.userMapping(UserID("user-1"), secret))
        }
        #expect(error?.code == .malformed)
    }

    static let useless: [[UInt8]] = [
        [0xFF], UserMappingPayload(.commandSetUserMapping(.init(userID: [1]))).encoded(),
        UserMappingPayload(.responseSetUserMapping(.init(status: .invalidState))).encoded(),
    ]

    @Test("an answer that is of no use says what to try", arguments: useless)
    func uselessAnswer(answer: [UInt8]) async throws {
        let board = ScriptedFirmware { _, _ in answer }.board()
        _ = try await board.identify()
        try await board.secure()
        let secret = MappingSecret(randomBytes: [UInt8](repeating: 9, count: 16))
        let error = await #expect(throws: BoardError.self) {
            try await board.associate(.userMapping(UserID("user-1"), secret))
        }
        #expect(error?.message.contains("Restart the board, then try again") == true, "\(error?.message ?? "")")
    }
}
