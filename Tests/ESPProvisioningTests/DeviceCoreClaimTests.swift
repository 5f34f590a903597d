// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ESPProvisioning
import Logging
import Protocomm
import ProtocommCore
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import Synchronization
import Testing

/// Client and firmware in one process, under every scheme: the claim as both see it, with the answer to one exchange lost.
@Suite("Claiming a board in memory")
struct DeviceCoreClaimTests {
    private struct Credential: NodeCredential {
        func sign(_ message: [UInt8]) throws(SignatureFailure) -> [UInt8] { message }
        func certificateRequest(for nodeID: [UInt8]) throws(SignatureFailure) -> [UInt8] {
            [UInt8](repeating: 0x72, count: 520) + nodeID
        }
        func accepts(certificate: [UInt8], for nodeID: [UInt8]) -> Bool { certificate.ends(with: nodeID) }
    }

    private typealias Core = DeviceCore<DeviceSecurity<OpenSSLCrypto, OpenSSLRandom>, Credential>

    /// The board, which answers what it is asked except the one exchange that `lost` names, of which it only does its part.
    private final class Firmware: Sendable {
        private let core: Mutex<Core>
        private let exchanges = Mutex(0)
        private let session = Mutex<UInt32>(1)
        let lost = Mutex<Int?>(nil)

        init(security: Int) throws {
            let proof = Array("abcd1234".utf8)
            let scheme: DeviceSecurity<OpenSSLCrypto, OpenSSLRandom> =
                switch security {
                case 0: .security0(Security0Device())
                case 1: .security1(Security1Device(proofOfPossession: proof, random: OpenSSLRandom()))
                default:
                    .security2(
                        Security2Device(
                            verifier: try Security2Verifier(
                                username: Array("wifiprov".utf8), password: proof,
                                salt: [UInt8](repeating: 7, count: 16),
                                with: OpenSSLCrypto.self), patchVersion: .countedNonce, random: OpenSSLRandom()))
                }
            core = Mutex(
                Core(
                    configuration: DeviceConfiguration(
                        nodeID: Array("7CDFA1000001".utf8), security: SecurityVersion(rawValue: Int32(security)),
                        patchVersion: security == 2 ? 1 : 0, isClaimed: false), radio: SimulatedRadio(accessPoints: []),
                    security: scheme, signer: Credential()))
        }

        var nodeID: [UInt8] { core.withLock { $0.nodeID } }
        func events() -> [DeviceEvent] { core.withLock { $0.takeEvents() } }

        func answer(_ request: [UInt8], _ endpoint: Endpoint) -> [UInt8]? {
            let answer = core.withLock { $0.respond(to: request, on: endpoint, session: 1, now: 0) }
            guard case .reply(let reply) = answer else { return nil }
            guard endpoint == .claim else { return reply }
            let number = exchanges.withLock { number -> Int in
                number += 1
                return number
            }
            let isLost = lost.withLock { lost -> Bool in
                defer { if lost == number { lost = nil } }
                return lost == number
            }
            return isLost ? nil : reply
        }

        func board() -> ProtocommBoard<OpenSSLCrypto, OpenSSLRandom> {
            ProtocommBoard(
                transport: InMemoryTransport { request, endpoint in self.answer(request, endpoint) },
                credentials: BoardCredentials { ProofOfPossession("abcd1234") }, suite: OpenSSLCrypto.self,
                random: OpenSSLRandom(), logger: Logger(label: "test"))
        }
    }

    private func claim(_ board: some ESPProvisioning.Board) async throws(BoardError) {
        do {
            _ = try await board.startClaim()
            _ = try await board.requestCertificate(Array(#"{"node_id":"assigned"}"#.utf8))
            try await board.storeCertificate(
                Array(#"{"certificate":"\#(String(repeating: "c", count: 700))assigned"}"#.utf8))
        } catch {
            await board.abortClaim()
            throw error
        }
    }

    @Test("a claim goes through, and the board signs by its new name", arguments: [0, 1, 2])
    func whole(security: Int) async throws {
        let firmware = try Firmware(security: security)
        let board = firmware.board()
        _ = try await board.identify()
        try await board.secure()
        try await claim(board)
        #expect(firmware.nodeID == Array("assigned".utf8))
        // The session goes on as if nothing had been.
        #expect(try await board.identify().needsClaim == true)
        #expect(
            try await board.associate(.userMapping(UserID("u"), MappingSecret(Secret("s")))).nodeID
                == NodeID("assigned"))
    }

    /// One introduction, three pieces of the request, four of the certificate.
    @Test(
        "whichever answer is lost, the claim ends and the next succeeds; with the last one the board was claimed",
        arguments: [0, 1, 2], 1...8)
    func lostAnswer(security: Int, number: Int) async throws {
        let firmware = try Firmware(security: security)
        let board = firmware.board()
        _ = try await board.identify()
        try await board.secure()
        firmware.lost.withLock { $0 = number }
        let error = await #expect(throws: BoardError.self) { try await claim(board) }
        #expect(error?.code == .claimFailed)
        #expect(error?.message.contains("estart") == true)
        #expect(!firmware.events().contains(.claimAborted))
        if number < 8 {
            try await claim(board)
        } else {
            let error = await #expect(throws: BoardError.self) { try await claim(board) }
            #expect(error?.code == .claimFailed && error?.message.contains("estart") == true)
        }
        #expect(firmware.nodeID == Array("assigned".utf8))
    }
}

extension [UInt8] {
    fileprivate func ends(with other: [UInt8]) -> Bool { suffix(other.count).elementsEqual(other) }
}
