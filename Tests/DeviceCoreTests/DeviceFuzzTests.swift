// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore
import RainCrypto
import RainCryptoOpenSSL
import TestSupport
import Testing

/// Requests of every endpoint; the first byte chooses the endpoint.
private let examples: [[UInt8]] = [
    [0, 0x52, 0x00], [0, 0x08, 0x04], [0, 0x08, 0x06, 0x82, 0x01, 0x00],
    [0] + hex("080262180a07486f6d654e6574120d636f727265637420686f727365"), [1] + hex("520408012078"),
    [1] + hex("5206080018052078"), [1, 0x08, 0x02], [1] + hex("080472021001"), [1] + hex("0804720408021004"),
    [2, 0x08, 0x01], [2, 0x08, 0x03], [2, 0x08, 0x05, 0x7A, 0x00],
    [3] + hex("52130a0175120e706c616e7465642d736563726574"),
    [4] + hex("52030a0163"), [4, 0x08, 0x02], [4, 0x08, 0x04, 0x72, 0x00], [5, 0x52, 0x00], [5, 0x08, 0x06],
    [5, 0x08, 0x02, 0x52, 0x00], [5] + hex("0802521a12167b226e6f64655f6964223a2261737369676e6564227d1816"),
    [5] + hex("08045207120378787818c801"), [5] + hex("080452080838120378787818c801"),
    [6] + hex("5203a20100"),
    [6] + hex("10015a25a201220a2007a37cbc142093c8b755dc1b10e86cb426374ad16aa853ed0bdfc0b2b86d1c7c"),
    [6] + hex("10015a270802b201221220c06eeb980dfe7718087e1bac9a245b1101a12268f6751a2286e79b854bc6fa1c"), [7, 0x2D],
]

private let endpoints: [Endpoint] = [
    .config, .scan, .control, .userMapping, .challengeResponse, .claim, .session, .version,
]

@Suite("The board, fuzzed")
struct DeviceFuzzTests {
    private static func configuration(
        _ security: SecurityVersion, _ association: DeviceConfiguration.Association
    ) -> DeviceConfiguration {
        DeviceConfiguration(
            nodeID: [0x41], security: security, association: association, isClaimed: association == .none,
            provisioning: ProvisioningOptions(attempts: 2, stopsByItself: false, wrongProofLimit: 0))
    }

    @Test("every handler answers or refuses, in whatever state the requests before left the board")
    func handlers() async throws {
        try await withOwnProcessInSoak {
            let radio = SimulatedRadio(accessPoints: neighbourhood, joinDelay: 100, channelDelay: 1)
            func freshBoards() -> [Board] {
                [.userMapping, .challengeResponse, .none].map {
                    Board(Self.configuration(.security0, $0), radio: radio)
                }
            }
            var boards = freshBoards()
            var round = 0
            let report = fuzz("board in clear", from: examples, seed: 31) { input in
                round += 1
                if round.isMultiple(of: 200) { boards = freshBoards() }
                let endpoint = endpoints[Int(input.first ?? 0) % endpoints.count]
                for index in boards.indices {
                    if boards[index].send(Array(input.dropFirst()), endpoint) == .later {
                        boards[index].wait(500)
                        _ = boards[index].core.delayedAnswer(now: boards[index].now)
                    }
                    boards[index].wait(20)
                    _ = boards[index].core.takeEvents()
                    _ = boards[index].core.nextPublication
                }
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }

    @Test("a secured board answers or refuses, and never takes what was not encrypted for it")
    func secured() async throws {
        try await withOwnProcessInSoak {
            var core = Core(
                configuration: Self.configuration(.security1, .userMapping),
                radio: SimulatedRadio(accessPoints: neighbourhood),
                security: .security1(
                    Security1Device(proofOfPossession: Array("abcd1234".utf8), random: ReproducibleRandom(seed: 1))),
                signer: nil)
            var now: UInt64 = 0
            let report = fuzz("secured board", from: examples, seed: 32) { input in
                now += 10
                let endpoint = endpoints[Int(input.first ?? 0) % endpoints.count]
                let answer = core.respond(to: Array(input.dropFirst()), on: endpoint, session: 1, now: now)
                if endpoint != .version, endpoint != .session { #expect(answer == .refused) }
                #expect(!core.takeEvents().contains(.sessionEstablished))
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }
}
