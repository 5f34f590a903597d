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

@Suite("A port that goes away", .timeLimit(.minutes(10)))
struct PulledCableTests {
    /// Passes requests on until one for `config` comes: then the cable is pulled.
    private final class Cable: Transport {
        private let board: InMemoryTransport
        private let isPulled = Mutex(false)
        let peer = "/dev/ttyUSB0"

        init(_ board: InMemoryTransport) { self.board = board }

        func maximumRequestLength(on endpoint: Endpoint) -> Int? { nil }

        func exchange(_ request: [UInt8], on endpoint: Endpoint) async throws(BoardError) -> [UInt8] {
            let isPulled = isPulled.withLock { isPulled in
                if endpoint == .config { isPulled = true }
                return isPulled
            }
            guard !isPulled else {
                throw BoardError(
                    .lost, endpoint: endpoint, peer: peer, message: "The port is gone.", reason: "port_gone")
            }
            return try await board.exchange(request, on: endpoint)
        }

        func close() async { await board.close() }
    }

    private func board() -> some Board {
        let transport = InMemoryTransport { _, endpoint in
            switch endpoint {
            case .version:
                return Array(
                    #"{"prov":{"ver":"netprov-v1.2","sec_ver":0,"sec_patch_ver":0,"cap":["no_sec","wifi_scan"]}}"#.utf8)
            case .session: return SessionData(.security0(Security0Payload(.response(StatusResponse())))).encoded()
            default: return nil
            }
        }
        return ProtocommBoard(
            transport: Cable(transport), credentials: BoardCredentials { nil },
            suite: OpenSSLCrypto.self, random: OpenSSLRandom(), clock: InstantClock(), logger: Logger(label: "test"))
    }

    @Test("is named, and not a board that stopped answering")
    func named() async throws {
        let board = self.board()
        _ = try await board.identify()
        try await board.secure()
        let error = await #expect(throws: BoardError.self) { try await board.watch { _ in } }
        #expect(error?.code == .deviceLost && error?.reason == "port_gone", "\(String(describing: error))")
        #expect(error?.message.hasPrefix("The port /dev/ttyUSB0 was removed") == true, "\(error?.message ?? "")")
    }
}
