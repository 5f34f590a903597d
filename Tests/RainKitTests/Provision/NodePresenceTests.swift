// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainMaker
import Testing

@testable import RainKit

@Suite("Whether the cloud has seen a node since it got the command to join")
struct NodePresenceTests {
    private static func said(_ isConnected: Bool, since: Double? = nil, asOf: Double? = nil) -> Node.Connectivity {
        Node.Connectivity(
            isConnected: isConnected, since: since.map { UnixTime(seconds: $0) },
            asOf: asOf.map { UnixTime(seconds: $0) })
    }

    // The two clocks are unrelated: this machine's was at 100 s, and the cloud's at 5000 s, when the board got the command to join.
    private static let told = Duration.seconds(100)

    /// Returns the verdict after each of these reports.
    private func verdicts(_ said: (Node.Connectivity, at: Int)...) -> [Bool] {
        var presence = NodePresence(toldToJoin: Self.told)
        return said.map { presence.isOnline($0.0, at: .seconds($0.at)) }
    }

    @Test("a connection that is newer than the command to join counts, by the cloud's own clock")
    func younger() {
        #expect(verdicts((Self.said(true, since: 5002.5, asOf: 5012), at: 112)) == [true])
    }

    @Test("an older connection belongs to a node that has lost its power without the cloud noticing yet")
    func older() {
        let verdicts = verdicts(
            (Self.said(true, since: 4990, asOf: 5012), at: 112), (Self.said(true, since: 4990, asOf: 5040), at: 140))
        #expect(verdicts == [false, false])
    }

    @Test("a report of a cloud without a clock counts once an earlier one was different")
    func withoutClock() {
        let renewed = verdicts(
            (Self.said(true, since: 4990), at: 112), (Self.said(true, since: 4990), at: 113),
            (Self.said(true, since: 5003), at: 114))
        #expect(renewed == [false, false, true])
        let timeless = verdicts((Self.said(true), at: 112), (Self.said(false), at: 113), (Self.said(true), at: 114))
        #expect(timeless == [false, false, true])
    }

    @Test("a node that is not connected is not online, however new the report is")
    func gone() { #expect(verdicts((Self.said(false, since: 5003, asOf: 5012), at: 112)) == [false]) }
}
