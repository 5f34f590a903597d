// SPDX-License-Identifier: Apache-2.0
import RainAccount
import Testing

@Suite("Names of stored sessions")
struct CredentialKeyTests {
    @Test("a deployment alone, and one with an account, have names of their own that are safe for files")
    func names() throws {
        #expect(try CredentialKey("lab").name == "lab")
        #expect(try CredentialKey("lab", account: "dev+x@example.com").name == "lab+dev+x@example.com")
        #expect(try CredentialKey("lab", account: "../a b/ü").name == "lab+..%2Fa%20b%2F%C3%BC")
        #expect(try CredentialKey("lab", account: "dev@example.com").description == "dev@example.com at lab")
    }

    @Test("different accounts never share a name", arguments: ["a%2F", "a/", "a%252F", "A/", "a", "a+", "+a"])
    func different(account: String) throws {
        let others = ["a%2F", "a/", "a%252F", "A/", "a", "a+", "+a"].filter { $0 != account }
        let name = try CredentialKey("lab", account: account).name
        for other in others { #expect(try CredentialKey("lab", account: other).name != name) }
    }

    @Test("an impossible name is refused", arguments: ["", "a\nb", String(repeating: "x", count: 300), "\u{7F}"])
    func refused(account: String) {
        let error = #expect(throws: AccountError.self) { try CredentialKey("lab", account: account) }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test("a deployment's name has only plain characters", arguments: ["", ".hidden", "a/b", "a+b", "a b", "ü"])
    func deployments(name: String) {
        #expect(throws: AccountError.self) { try CredentialKey(name) }
    }
}
