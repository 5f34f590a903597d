// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite struct DeletionTests {
    @Test("an account is deleted by request and code, and nothing of it stays", arguments: ["user2", "user"])
    func journey(path: String) throws {
        let cloud = try TestCloud(nodes: ["node1"])
        let session = try cloud.signIn()
        try cloud.map("node1", token: session.access)
        #expect(cloud.send("DELETE", "/v1/\(path)?request=true&locale=en", token: session.access).status == 200)
        #expect(cloud.send("GET", "/v1/user2", token: session.access).status == 200, "not yet")
        let code = try cloud.code(.deletion)
        let wrong = TestCloud.wrong(code).string ?? ""
        #expect(
            cloud.send("DELETE", "/v1/\(path)?verification_code=\(wrong)", token: session.access).errorCode == 119005)
        #expect(cloud.send("DELETE", "/v1/\(path)?verification_code=\(code)", token: session.access).status == 200)
        #expect(cloud.send("GET", "/v1/user2", token: session.access).status == 401)
        #expect(throws: SimulatorError.self) { try cloud.signIn() }
        let removed = try cloud.journal.entries(where: ["event": "mapping", "state": "removed", "node": "node1"])
        #expect(removed.count == 1)
        #expect(cloud.signUp(TestCloud.user).status == 201, "the name is free again")
    }

    @Test("what is wrong with a deletion is said by code, and the account stays")
    func refused() throws {
        let cloud = try TestCloud()
        let session = try cloud.signIn()
        func delete(_ query: String) -> Response {
            cloud.send("DELETE", "/v1/user2\(query)", token: session.access)
        }
        #expect(delete("").errorCode == 119007)
        #expect(delete("?request=maybe").errorCode == 100021)
        #expect(delete("?request=true&locale=x").errorCode == 112048)
        #expect(delete("?verification_code=000000").errorCode == 119015)
        #expect(delete("?request=true").status == 200)
        let code = try cloud.code(.deletion)
        let wrong = TestCloud.wrong(code).string ?? ""
        for _ in 0..<5 { #expect(delete("?verification_code=\(wrong)").errorCode == 119005) }
        #expect(delete("?verification_code=\(code)").errorCode == 119016)
        #expect(delete("?request=true").status == 200)
        let second = try cloud.code(.deletion)
        cloud.pass(.seconds(3600))
        let fresh = try cloud.signIn()
        #expect(
            cloud.send("DELETE", "/v1/user2?verification_code=\(second)", token: fresh.access).errorCode == 119015)
        #expect(cloud.send("GET", "/v1/user2", token: fresh.access).status == 200)
    }

    @Test("a super-admin stays")
    func superAdmin() throws {
        let cloud = try TestCloud()
        try cloud.api.promote(name: TestCloud.user)
        let session = try cloud.signIn()
        #expect(cloud.send("DELETE", "/v1/user2?request=true", token: session.access).errorCode == 119017)
    }

    @Test("nobody unknown becomes super-admin")
    func promotion() throws {
        let cloud = try TestCloud()
        #expect(throws: SimulatorError.self) { try cloud.api.promote(name: "nobody") }
    }
}
