// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CloudSimulator

@Suite struct MappingTableTests {
    private static func status(_ table: MappingTable, _ id: String, of user: String = "anna") -> MappingRequest.Status?
    {
        table.request(id, of: user)?.status
    }

    private static func asked(
        _ table: inout MappingTable, _ id: String = "r1", user: String = "anna", secret: String = "secret",
        at now: Int64 = 0
    ) { _ = table.request(id: id, nodeID: "node", userID: user, secret: secret, at: now) }

    private static func reported(
        _ table: inout MappingTable, user: String = "anna", secret: String = "secret", isReset: Bool = false,
        at now: Int64 = 0
    ) { _ = table.report(nodeID: "node", userID: user, secret: secret, isReset: isReset, at: now) }

    @Test("the user asks first: it is requested until the node agrees")
    func userFirst() {
        var table = MappingTable()
        Self.asked(&table)
        #expect(Self.status(table, "r1") == .requested)
        #expect(table.nodes(of: "anna").isEmpty)
        Self.reported(&table, at: 7)
        #expect(Self.status(table, "r1") == .confirmed)
        #expect(table.request("r1", of: "anna")?.decidedAt == 7)
        #expect(table.nodes(of: "anna") == ["node"])
    }

    @Test("the node speaks first: the request is confirmed at once")
    func nodeFirst() {
        var table = MappingTable()
        Self.reported(&table)
        #expect(table.nodes(of: "anna").isEmpty, "a node alone maps nothing")
        Self.asked(&table)
        #expect(Self.status(table, "r1") == .confirmed)
    }

    @Test(
        "another secret or another user from the node discards the request",
        arguments: [("anna", "other"), ("bert", "secret")])
    func contradiction(user: String, secret: String) {
        var table = MappingTable()
        Self.asked(&table)
        Self.reported(&table, user: user, secret: secret)
        #expect(Self.status(table, "r1") == .discarded)
        #expect(table.nodes(of: "anna").isEmpty && table.nodes(of: "bert").isEmpty)
    }

    @Test("an earlier word of the node does not harm a newer request, which it has yet to answer")
    func staleReport() {
        var table = MappingTable()
        Self.reported(&table, secret: "first attempt")
        Self.asked(&table, secret: "second attempt")
        #expect(Self.status(table, "r1") == .requested)
        Self.reported(&table, secret: "second attempt")
        #expect(Self.status(table, "r1") == .confirmed)
    }

    @Test("a client that lost the answer asks again and is confirmed again")
    func repeatedRequest() {
        var table = MappingTable()
        Self.asked(&table)
        Self.reported(&table)
        Self.asked(&table, "r2")
        #expect(Self.status(table, "r2") == .confirmed)
        #expect(table.nodes(of: "anna") == ["node"])
    }

    @Test("either half waits as long as patience goes, and no longer")
    func timeouts() {
        var asked = MappingTable()
        Self.asked(&asked)
        Self.reported(&asked, at: asked.patience)
        #expect(Self.status(asked, "r1") == .timedout)
        #expect(asked.nodes(of: "anna").isEmpty)

        var reported = MappingTable()
        Self.reported(&reported)
        Self.asked(&reported, at: reported.patience)
        #expect(Self.status(reported, "r1") == .requested)
    }

    @Test("a request belongs to its user alone")
    func privacy() {
        var table = MappingTable()
        Self.asked(&table)
        #expect(table.request("r1", of: "bert") == nil)
        #expect(table.request("r2", of: "anna") == nil)
    }

    @Test("a node that was reset forgets its users before, one that was not gets a second user")
    func reset() {
        for isReset in [true, false] {
            var table = MappingTable()
            Self.asked(&table)
            Self.reported(&table)
            Self.asked(&table, "r2", user: "bert")
            Self.reported(&table, user: "bert", isReset: isReset)
            #expect(table.isPrimary(isReset ? "bert" : "anna", of: "node"))
            #expect(table.isMapped("node", to: "anna") == !isReset)
            #expect(table.isMapped("node", to: "bert"))
        }
    }

    @Test("a factory reset reported by the node ends all its mappings")
    func factoryReset() {
        var table = MappingTable()
        Self.asked(&table)
        Self.reported(&table)
        let changes = table.report(nodeID: "node", userID: "esp-rmaker", secret: "failed", isReset: true, at: 0)
        #expect(changes == [MappingChange(what: .removed, nodeID: "node", userID: "anna")])
        #expect(table.nodes(of: "anna").isEmpty)
    }

    @Test("a user may give a node back and take it again")
    func again() {
        var table = MappingTable()
        Self.asked(&table)
        Self.reported(&table)
        #expect(table.remove("node", from: "bert") == nil)
        #expect(table.remove("node", from: "anna") == [MappingChange(what: .removed, nodeID: "node", userID: "anna")])
        #expect(table.nodes(of: "anna").isEmpty)
        Self.asked(&table, "r2")
        #expect(Self.status(table, "r2") == .requested, "what the node said before is used up")
        Self.reported(&table)
        #expect(Self.status(table, "r2") == .confirmed)
    }

    @Test("a challenge is good for one answer, by its user, in time")
    func challenge() {
        var table = MappingTable()
        func answer(_ id: String, _ user: String = "anna", valid: Bool = true, at now: Int64 = 0) -> MappingTable
            .ChallengeRefusal?
        {
            table.answerChallenge(id: id, userID: user, nodeID: "node", at: now) { $0 == "text" && valid }.refusal
        }
        for id in ["good", "bad", "late", "never"] {
            let patience: Int64? = id == "never" ? nil : 1000
            _ = table.issueChallenge(id: id, userID: "anna", challenge: "text", patience: patience, at: 0)
        }
        #expect(answer("nonsense") == .unknownRequest)
        #expect(answer("good", "bert") == .unknownRequest)
        #expect(answer("bad", valid: false) == .wrongResponse)
        #expect(answer("bad") == .decided)
        #expect(table.nodes(of: "anna").isEmpty)
        #expect(answer("good", at: 999) == nil)
        #expect(table.nodes(of: "anna") == ["node"])
        #expect(answer("good") == .alreadyConfirmed)
        #expect(answer("late", at: 1000) == .timedOut)
        #expect(answer("never", at: .max / 2) == nil)
    }

    @Test("a mapping by secret cannot be confirmed as if it were a challenge")
    func kinds() {
        var table = MappingTable()
        Self.asked(&table)
        let outcome = table.answerChallenge(id: "r1", userID: "anna", nodeID: "node", at: 0) { _ in true }
        #expect(outcome.refusal == .unknownRequest)
        #expect(Self.status(table, "r1") == .requested)
    }

    @Test("old requests are forgotten before they fill the memory")
    func bounded() {
        var table = MappingTable()
        for number in 0...MappingTable.maximumRequests { Self.asked(&table, "r\(number)") }
        #expect(Self.status(table, "r0") == nil)
        #expect(Self.status(table, "r1") == .requested)
    }
}
