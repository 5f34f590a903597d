// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite("What the identity systems remember and write")
struct IdentityValueTests {
    @Test("a table holds its maximum: first what has expired goes, then the oldest")
    func eviction() {
        var table = ExpiringTable<Int>(maximum: 3)
        table.insert(1, key: "a", until: 100, at: 0)
        table.insert(2, key: "b", until: 10, at: 0)
        table.insert(3, key: "c", until: 100, at: 0)
        table.insert(4, key: "d", until: 100, at: 50)
        #expect(table.value("a", at: 50) == 1 && table.value("b", at: 5) == nil && table.count == 3)
        table.insert(5, key: "e", until: 100, at: 50)
        #expect(table.value("a", at: 50) == nil && table.value("c", at: 50) == 3 && table.count == 3)
        table.insert(6, key: "c", until: 100, at: 50)
        #expect(table.count == 3 && table.value("d", at: 50) == 4, "replacing needs no place")
    }

    @Test("among any operations, it holds what a table that looks at everything each time would")
    func evictionModel() {
        struct Entry { var key: Int, value: Int, end: Int64 }
        var random = SeededGenerator(seed: 7)
        for maximum in [1, 2, 5] {
            var table = ExpiringTable<Int>(maximum: maximum)
            // In the order of their insertion.
            var model: [Entry] = []
            for step in 0..<4000 {
                let (key, now) = (Int.random(in: 0..<12, using: &random), Int64(step / 4))
                let end = now + Int64.random(in: 0..<40, using: &random)
                switch Int.random(in: 0..<8, using: &random) {
                case 0:
                    table.extend("\(key)", until: end)
                    for index in model.indices where model[index].key == key { model[index].end = end }
                case 1:
                    #expect(
                        table.take("\(key)", at: now) == model.first { $0.key == key && $0.end > now }?.value)
                    model.removeAll { $0.key == key && $0.end > now }
                case 2:
                    table.expireAll(at: now) { $0 % 3 == 0 }
                    for index in model.indices where model[index].value % 3 == 0 {
                        model[index].end = min(model[index].end, now)
                    }
                case 3:
                    table.removeAll { $0 % 7 == 0 }
                    model.removeAll { $0.value % 7 == 0 }
                default:
                    table.insert(step, key: "\(key)", until: end, at: now)
                    if model.count >= maximum, !model.contains(where: { $0.key == key }) {
                        model.removeAll { $0.end <= now }
                        if model.count >= maximum { model.removeFirst() }
                    }
                    model.removeAll { $0.key == key }
                    model.append(Entry(key: key, value: step, end: end))
                }
                #expect(table.count == model.count, "step \(step)")
                for entry in model {
                    #expect(table.end(of: "\(entry.key)") == entry.end, "step \(step), \(entry.key)")
                }
            }
        }
    }

    @Test("expired values are distinguished from unknown ones, until their place is needed")
    func expiry() {
        var table = ExpiringTable<Int>(maximum: 3)
        table.insert(1, key: "a", until: 100, at: 0)
        #expect(table.value("a", at: 99) == 1 && table.value("a", at: 100) == nil)
        guard case .expired(1) = table.find("a", at: 100), case .unknown = table.find("b", at: 0) else {
            Issue.record("not told apart")
            return
        }
        #expect(table.take("a", at: 100) == nil)
        table.extend("a", until: 200)
        #expect(table.take("a", at: 150) == 1 && table.take("a", at: 150) == nil)
    }

    @Test("dates as OCLC's documents print them, and as SPiD's SDKs send them")
    func dates() {
        // "Example 1" of the sample application; the seconds by date(1).
        #expect(utcDate(1_388_923_046) == "2014-01-05 11:57:26Z")
        for text in [
            "2014-01-05 11:57:26Z", "2014-01-05 11:57:26+0000", "2014-01-05T11:57:26+00:00", "2014-01-05 11:57:26",
        ] { #expect(seconds(ofDate: text) == 1_388_923_046, "\(text)") }
        for text in ["2014-01-05", "2014-13-05 11:57:26Z", "2014-01-05 24:00:00Z", "x", ""] {
            #expect(seconds(ofDate: text) == nil, "\(text)")
        }
    }

    @Test("base64 of the standard alphabet, padded, with line breaks or without; nothing else")
    func standardBase64() {
        // RFC 4648, 10.
        for (plain, encoded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            #expect(Base64.text(Array(plain.utf8)) == encoded && decodedBase64(encoded) == Array(plain.utf8))
        }
        #expect(Base64.text([0xFB, 0xFF]) == "+/8=" && decodedBase64("+/8=") == [0xFB, 0xFF])
        #expect(decodedBase64("Zm9v\nYmFy\r\n") == Array("foobar".utf8))
        for wrong in ["Zg", "Zg=", "Z===", "-_8=", "Zh==", "Zg==Zg==", "Zm 9"] {
            #expect(decodedBase64(wrong) == nil, "\(wrong)")
        }
    }

    @Test("servers in one process have ports, clocks and people of their own")
    func servers() async throws {
        let first = try IdentityServer(provider: .neo)
        let second = try IdentityServer(provider: .neo, clock: { 1_000_000_000_000 })
        defer {
            first.stop()
            second.stop()
        }
        #expect(first.url != second.url)
        let body: JSONValue = ["username": "ada@example.com", "password": "correct-horse"]
        let tokens = try await APIClient(base: second.url).send("POST", "/v1/user/auth/token", body).body
        #expect(try claims(tokens["access_token"]?.string)["iat"] == 1_000_000_000)
        let client = APIClient(base: first.url)
        client.token = "Bearer \(tokens.access)"
        #expect(try await client.send("GET", "/v1/users/me").status == 401, "another server's token")
    }

    @Test("many at once: each refresh token is replaced once, whoever comes first", arguments: [IdentitySystem.neo])
    func concurrency(system: IdentitySystem) async throws {
        let neo = try TestIdentity(system)
        let tokens = neo.json("/v1/user/auth/token", ["username": "ada@example.com", "password": "correct-horse"]).body
        let statuses = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    neo.json("/v1/user/auth/token/refresh", ["refresh_token": .string(tokens.refresh)]).status
                }
            }
            return await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(statuses.count { $0 == 200 } == 1 && statuses.count { $0 == 401 } == 49)
    }
}
