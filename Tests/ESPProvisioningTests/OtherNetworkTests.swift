// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import Protocomm
import ProtocommCore
import RainCore
import RainCryptoOpenSSL
import RainKitTesting
import Synchronization
import Testing

@Suite("A board that is asked for what it cannot do where it is", .timeLimit(.minutes(10)))
struct OtherNetworkTests {
    private let home = try! WiFiNetwork(ssid: SSID("Home"), passphrase: Secret("correct horse"))

    private func board(_ version: String) async throws -> (board: some Board, firmware: ScriptedFirmware) {
        let firmware = ScriptedFirmware(version: version) { _, _ in nil }
        let board = firmware.board(clock: InstantClock())
        _ = try await board.identify()
        return (board, firmware)
    }

    @Test("one that joins Thread takes no Wi-Fi settings, and hears no Wi-Fi networks")
    func thread() async throws {
        let (board, firmware) = try await board(
            #"{"prov":{"ver":"netprov-v1.2","sec_ver":0,"cap":["no_sec","thread_prov","thread_scan"]}}"#)
        for error in [
            await #expect(throws: BoardError.self) { try await board.join(home) },
            await #expect(throws: BoardError.self) { _ = try await board.scan() },
        ] {
            #expect(error?.code == .unsupported && error?.message.contains("Thread") == true)
        }
        #expect(firmware.asked == [.version])
    }

    @Test("one on its network neither lists others nor forgets failed settings")
    func onNetwork() async throws {
        let (board, firmware) = try await board(#"{"local_ctrl":{"ver":"v1.0","sec_ver":0,"cap":["no_sec"]}}"#)
        for error in [
            await #expect(throws: BoardError.self) { try await board.reset() },
            await #expect(throws: BoardError.self) { _ = try await board.scan() },
        ] {
            #expect(error?.code == .unsupported && error?.message.contains("is already on its network") == true)
        }
        #expect(firmware.asked == [.version])
    }

    @Test("an endpoint without a name is refused before anything is sent")
    func nameless() async throws {
        let (board, firmware) = try await board(ScriptedFirmware { _, _ in nil }.version)
        let error = await #expect(throws: BoardError.self) { _ = try await board.send([1], to: "") }
        #expect(error?.code == .invalidArgument && firmware.asked == [.version])
    }

    @Test("data for an endpoint of protocomm's own is explained where it is refused")
    func ownEndpoint() async throws {
        let (board, _) = try await board(ScriptedFirmware { _, _ in nil }.version)
        try await board.secure()
        let error = await #expect(throws: BoardError.self) { _ = try await board.send([1], to: "prov-config") }
        #expect(error?.message.contains("accepts only protocomm's own messages") == true, "\(error?.message ?? "")")
    }
}

@Suite("A board whose endpoints are read again", .timeLimit(.minutes(10)))
struct EndpointsReadAgainTests {
    /// Gives its connection up for the first request to the application, as BLE does for a name that BlueZ does not know yet.
    private final class LookingAgain: Transport {
        private let board: InMemoryTransport
        private let hasLooked = Mutex(false)
        let sessions = Mutex(0)
        let peer = "PROV_1"
        var restoresLinks: Bool { true }

        init(_ board: InMemoryTransport) { self.board = board }

        func maximumRequestLength(on endpoint: Endpoint) -> Int? { nil }

        func exchange(_ request: [UInt8], on endpoint: Endpoint) async throws(BoardError) -> [UInt8] {
            if endpoint == .session { sessions.withLock { $0 += 1 } }
            let isFirst = hasLooked.withLock { hasLooked in
                guard ![.version, .session].contains(endpoint), !hasLooked else { return false }
                hasLooked = true
                return true
            }
            if isFirst {
                throw BoardError(
                    .lost, endpoint: endpoint, peer: peer, message: "again", reason: "endpoints_unknown")
            }
            guard endpoint.description != "no-such" else {
                throw BoardError(.noSuchEndpoint, endpoint: endpoint, peer: peer, message: "none")
            }
            return try await board.exchange(request, on: endpoint)
        }

        func close() async { await board.close() }
    }

    private func board() -> (some Board, LookingAgain) {
        let transport = LookingAgain(
            InMemoryTransport { request, endpoint in
                switch endpoint {
                case .version: Array(#"{"prov":{"ver":"netprov-v1.2","sec_ver":0,"cap":["no_sec"]}}"#.utf8)
                case .session: SessionData(.security0(Security0Payload(.response(StatusResponse())))).encoded()
                default: request
                }
            })
        let board = ProtocommBoard(
            transport: transport, credentials: BoardCredentials { nil }, suite: OpenSSLCrypto.self,
            random: OpenSSLRandom(), clock: InstantClock(), logger: Logger(label: "test"))
        return (board, transport)
    }

    @Test("gets data for one of them in a new session")
    func again() async throws {
        let (board, transport) = board()
        _ = try await board.identify()
        try await board.secure()
        #expect(try await board.send([7], to: "custom-data") == [7])
        #expect(transport.sessions.withLock { $0 } == 2)
    }

    @Test("or does not have it then")
    func absent() async throws {
        let (board, _) = board()
        _ = try await board.identify()
        try await board.secure()
        let error = await #expect(throws: BoardError.self) { _ = try await board.send([7], to: "no-such") }
        #expect(error?.code == .unsupported && error?.message.contains("has no endpoint no-such") == true)
    }
}
