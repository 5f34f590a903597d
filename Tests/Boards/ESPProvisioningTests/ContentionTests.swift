// SPDX-License-Identifier: Apache-2.0
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

    @Test("begins anew once the other has been gone for a while")
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

    @Test("lasts two seconds where nothing has answered yet")
    func noAnswer() {
        let all = rests([.zero, .seconds(1), .seconds(2)], hasAnswered: false)
        #expect(all.map { $0 != nil } == [true, true, false])
    }
}
