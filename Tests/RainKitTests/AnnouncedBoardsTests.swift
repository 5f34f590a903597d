// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore
import RainDBus
import Testing

@testable import RainKit

/// How a search on the network interprets announcements, tested without a network.
@Suite("Boards that announce themselves")
struct AnnouncedBoardsTests {
    private static func board(
        _ name: String, node: String? = nil, host: String = "h.local", address: String = "10.0.0.1",
        _ text: [String: String] = [:]
    ) -> AnnouncedBoard {
        var text = text
        text["node_id"] = node
        return AnnouncedBoard(DiscoveredService(name: name, host: host, address: address, port: 80, text: text))
    }

    private static func heard(_ boards: [AnnouncedBoard], wanted: String?) -> AnnouncedBoards {
        var heard = AnnouncedBoards(wanted: wanted)
        for board in boards { _ = heard.take(board) }
        return heard
    }

    @Test(
        "a board of RainMaker Neo announces what it serves, and counts if it signs challenges",
        arguments: [(nil, true), ("ch_resp", true), ("local_ctrl, ch_resp", true), ("local_ctrl", false), ("", false)]
            as [(String?, Bool)])
    func capabilities(announced: String?, counts: Bool) {
        let board = Self.board("Lamp", node: "n1", announced.map { ["cap": $0] } ?? [:])
        #expect(board.signsChallenges == counts)
    }

    @Test("one board at two interfaces counts once, and two boards of one name on two links count as two")
    func identity() {
        let both = Self.heard(
            [Self.board("Lamp", node: "n1"), Self.board("Lamp", node: "n1", address: "10.9.0.1")], wanted: nil)
        #expect(both.candidates.count == 1)
        let apart = Self.heard([Self.board("Lamp", node: "n1"), Self.board("Lamp", node: "n2")], wanted: "Lamp")
        let error = #expect(throws: BoardError.self) { try apart.choice() }
        #expect(error?.reason == "several_boards" && error?.remedies == [.boardName(["n1", "n2"])])
    }

    @Test(
        "a name that was taken means any board of that name; a node id or a numbered name means one board",
        arguments: [("lamp", nil), ("Lamp #2", "n2"), ("n1", "n1"), ("N2", "n2"), ("h2", "n2"), ("h1.local", "n1")])
    func names(wanted: String, node: String?) throws {
        let heard = Self.heard(
            [
                Self.board("Lamp", node: "n1", host: "h1.local"), Self.board("Lamp #2", node: "n2", host: "h2.local"),
                Self.board("Fan", node: "n3", host: "h3.local"),
            ], wanted: wanted)
        if let node {
            #expect(try heard.choice().nodeID == node)
        } else {
            #expect(throws: BoardError.self) { try heard.choice() }
        }
    }

    @Test("a board with a number in its own name is found only by its whole name")
    func ownNumber() throws {
        #expect(try Self.heard([Self.board("Lamp-2000", node: "n1")], wanted: "Lamp-2000").choice().nodeID == "n1")
        #expect(Self.heard([Self.board("Lamp-2000", node: "n1")], wanted: "Lamp").candidates.isEmpty)
    }

    @Test(
        "the TXT record has the security scheme, or does not mention it",
        arguments: [
            (["sec_version": "0"], 0, false), (["sec_version": "1", "pop_required": "true"], 1, true),
            (["sec_version": "1", "pop_required": "false"], 1, false), (["sec_version": "2"], 2, true),
        ])
    func security(text: [String: String], version: Int, proof: Bool) {
        #expect(
            Self.board("x", text).security == SecurityRequirement(version: version, needsProofOfPossession: proof))
    }

    @Test("an invalid version is not a security scheme", arguments: ["3", "-1", "", "one", "99999999999999999999"])
    func noSecurity(text: String) { #expect(Self.board("x", ["sec_version": text]).security == nil) }

    @Test("an IPv6 address is written in brackets, with its zone")
    func place() throws {
        let place = Self.board("x", address: "fe80::1%eth0").place
        #expect(place == "[fe80::1%eth0]:80")
        #expect(try HostAndPort(place).host == "[fe80::1%eth0]")
    }

    @Test(
        "a zone is an interface's name in an IPv6 address, and no other address has one",
        arguments: [
            "fe80::1%eth0", "[fe80::1%]", "[fe80::1%a/b]", "[fe80::1%eth0%eth1]", "host%eth0",
            "[fe80::1%0123456789abcdef]",
        ])
    func badZones(text: String) { #expect(throws: BoardError.self) { try HostAndPort(text) } }
}
