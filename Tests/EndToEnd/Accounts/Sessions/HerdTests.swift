// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import TestSupport
import Testing
import RainCore

/// Many programs, one session, one expired token: the cloud ends the session of who presents a refresh token twice.
@Suite("One session for many programs", .serialized)
struct HerdTests {
    static let rounds = Gateway.isSoak ? 100 : 2
    static let processes = 64

    @Test("of 64 processes on an expired token one renews it, and all get one that the cloud accepts")
    func herd() async throws {
        try await withTemporaryFolder { folder in
            // A minute, so that a busy machine has no second token expire before the round is over.
            let gateway = try await Gateway(in: folder, options: ["--access-ttl", "60"])
            for round in 1...Self.rounds {
                try await gateway.expire()
                let before = try gateway.refreshes().count
                let outcomes = try await withThrowingTaskGroup(of: Maker.Outcome.self) { group in
                    for _ in 0..<Self.processes {
                        group.addTask { try await gateway.maker.rainctl("account", "token") }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                let failures = outcomes.filter { $0.status != 0 }
                #expect(failures.isEmpty, "round \(round): \(failures.first?.standardError ?? "")")
                #expect(outcomes.count == Self.processes)
                for token in Set(outcomes.map { $0.standardOutput.split(separator: "\n").joined() }) {
                    #expect(try await gateway.accepts(token))
                }
                #expect(try Array(gateway.refreshes()[before...]) == ["rotated"], "round \(round)")
            }
            #expect(try await gateway.maker.rainctl("whoami").status == 0)
        }
    }

    @Test("a hundred calls of one program renew an expired token once, and who leaves disturbs nobody")
    func calls() async throws {
        try await withTemporaryFolder { folder in
            let gateway = try await Gateway(in: folder)
            try await gateway.expire()
            let account = try gateway.account()
            let url = "\(gateway.cloud.api)/v1/user2"
            let calls = (0..<100).map { _ in
                Task { try await account.send(HTTPRequest(method: .get, url: url)).status }
            }
            for task in calls.prefix(10) { task.cancel() }
            for task in calls.dropFirst(10) { #expect(try await task.value == 200) }
            for task in calls.prefix(10) { _ = await task.result }
            #expect(try gateway.refreshes() == ["rotated"])
        }
    }

    @Test("a token that the cloud refuses before its time is renewed once, by whoever notices")
    func refusedEarly() async throws {
        try await withTemporaryFolder { folder in
            let gateway = try await Gateway(in: folder)
            try await gateway.control("expire", ["user": .string(SimulatedCloud.user)])
            let account = try gateway.account()
            let url = "\(gateway.cloud.api)/v1/user2"
            let calls = (0..<100).map { _ in
                Task { try await account.send(HTTPRequest(method: .get, url: url)).status }
            }
            for task in calls { #expect(try await task.value == 200) }
            #expect(try gateway.refreshes() == ["rotated"])
        }
    }

    // MARK: An answer that is lost

    @Test("an answer that is lost loses no session while the cloud has grace, and only then", arguments: [10, 0])
    func lostAnswer(grace: Int) async throws {
        try await withTemporaryFolder { folder in
            let gateway = try await Gateway(in: folder, options: ["--refresh-grace", "\(grace)"])
            try await gateway.expire()
            try await gateway.control(
                "faults",
                [
                    "rules": [
                        ["method": "POST", "path": "/v1/login2", "action": "reset", "processed": true, "count": 1]
                    ]
                ])
            let lost = try await gateway.maker.rainctl("account", "token", "--json")
            #expect(lost.status == 75)
            #expect(lost.failure?["reason"] == "network")
            #expect(try await gateway.session() != nil)
            let next = try await gateway.maker.rainctl("account", "token", "--json")
            if grace > 0 {
                #expect(next.status == 0)
                #expect(try await gateway.accepts(next.standardOutput.split(separator: "\n").joined()))
                #expect(try gateway.refreshes() == ["rotated", "grace"])
            } else {
                #expect(next.status == 77)
                #expect(next.failure?["reason"] == "expired")
                #expect(try await gateway.session() == nil)
                #expect(try gateway.refreshes() == ["rotated", "reused"])
            }
        }
    }

    @Test("a session that the cloud has revoked ends once, for everybody")
    func revoked() async throws {
        try await withTemporaryFolder { folder in
            let gateway = try await Gateway(in: folder)
            try await gateway.expire()
            try await gateway.control("revoke", ["user": .string(SimulatedCloud.user)])
            let outcomes = try await withThrowingTaskGroup(of: Maker.Outcome.self) { group in
                for _ in 0..<8 { group.addTask { try await gateway.maker.rainctl("account", "token", "--json") } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.allSatisfy { $0.status == 77 })
            let reasons = outcomes.compactMap { $0.failure?["reason"]?.string }
            #expect(reasons.count { $0 == "expired" } == 1)
            #expect(reasons.count { $0 == "not_signed_in" } == 7)
            #expect(try gateway.refreshes().count == 1)
        }
    }
}
