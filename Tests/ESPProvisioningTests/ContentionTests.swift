// SPDX-License-Identifier: Apache-2.0
import Logging
import Protocomm
import ProtocommCore
import RainCore
import RainCryptoOpenSSL
import RainKitTesting
import Testing

@testable import ESPProvisioning

@Suite("Giving way to another client")
struct ContentionTests {
    private func rests(
        _ times: [Duration], isCertain: Bool = true, hasAnswered: Bool = true, chance: UInt8 = 255
    ) -> [Duration?] {
        var contention = Contention()
        return times.map { contention.rest(now: $0, isCertain: isCertain, hasAnswered: hasAnswered, chance: chance) }
    }

    @Test("takes longer each time, up to two seconds, and ends after twenty")
    func grows() {
        let all = rests((0..<22).map { .seconds($0) })
        #expect(all.prefix(3) == [.milliseconds(100), .milliseconds(200), .milliseconds(400)])
        #expect(all[10] == .seconds(2))
        #expect(all.prefix(20).allSatisfy { $0 != nil } && all[20] == nil)
    }

    @Test("is a matter of chance, so that two do not go on meeting")
    func chance() {
        #expect(rests([.zero], chance: 0) == [.milliseconds(25)])
        #expect(rests([.zero], chance: 255) == [.milliseconds(100)])
    }

    @Test("starts again once the other has been gone for a while")
    func forgets() {
        #expect(
            rests([.zero, .seconds(1), .seconds(12)]) == [.milliseconds(100), .milliseconds(200), .milliseconds(100)])
        var contention = Contention()
        #expect(!contention.isRecent(.zero))
        _ = contention.rest(now: .zero, isCertain: true, hasAnswered: true, chance: 0)
        #expect(contention.isRecent(.seconds(10)) && !contention.isRecent(.seconds(11)))
    }

    @Test("goes on once where only a broken connection speaks of another client, since a board may count proofs")
    func uncertain() {
        #expect(rests([.zero, .zero, .zero], isCertain: false).map { $0 != nil } == [true, false, false])
    }

    @Test("begins with up to a second where the board may have counted a proof")
    func costly() {
        var contention = Contention()
        let rests = (0..<3).map {
            contention.rest(now: .seconds($0), isCertain: true, hasAnswered: true, isCostly: true, chance: 255)
        }
        #expect(rests == [.seconds(1), .seconds(2), .seconds(2)])
    }

    @Test("lasts two seconds where nothing has answered yet")
    func noAnswer() {
        let all = rests([.zero, .seconds(1), .seconds(2)], hasAnswered: false)
        #expect(all.map { $0 != nil } == [true, true, false])
    }

    /// A client under Security 1 whose connection another one takes whenever that is asked for the exchange of that number. They are
    /// numbered from 0: the version, then two for each handshake.
    private func board(
        proof: String, taken: @escaping @Sendable (Int) -> Bool
    ) -> ProtocommBoard<OpenSSLCrypto, OpenSSLRandom> {
        let device = Security1Device<OpenSSLCrypto, OpenSSLRandom>(
            proofOfPossession: Array("abcd1234".utf8), random: OpenSSLRandom())
        let firmware = SecuredBoard(
            device, version: #"{"prov":{"ver":"v1.1","sec_ver":1,"sec_patch_ver":0,"cap":["wifi_scan"]}}"#
        ) { _, _ in [] }
        let transport = InMemoryTransport(fault: { number, _ in taken(number) ? .fail(.evicted) : nil }) {
            await firmware.answer($0, on: $1)
        }
        return ProtocommBoard(
            transport: transport, credentials: BoardCredentials { ProofOfPossession(proof) },
            suite: OpenSSLCrypto.self, random: OpenSSLRandom(),
            clock: InstantClock(), logger: Logger(label: "test"))
    }

    @Test("never costs the board more than four proofs, whose verdicts may have been lost")
    func proofsInDoubt() async throws {
        // After each proof, the board may have counted it before the other client came.
        let error = await #expect(throws: BoardError.self) {
            try await self.board(proof: "abcd1234") { $0 >= 2 && $0.isMultiple(of: 2) }.secure()
        }
        #expect(error?.code == .busy)
        try await board(proof: "abcd1234") { [2, 4, 6].contains($0) }.secure()
        // Nothing has been proven yet where the first command of the handshake is cut off.
        try await board(proof: "abcd1234") { (1...4).contains($0) }.secure()
        let wrong = await #expect(throws: BoardError.self) {
            try await self.board(proof: "wrong") { [2, 4, 6].contains($0) || $0 >= 9 }.secure()
        }
        #expect(wrong?.code == .wrongProofOfPossession, "the fourth is the last")
    }
}
