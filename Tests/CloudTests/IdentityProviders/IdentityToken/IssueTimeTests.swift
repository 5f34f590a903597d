// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
import Testing

@Suite("The time of issue of an ID token, and the types of its claims")
struct IssueTimeTests {
    private static let now = 1_800_000_000.0

    private func check(_ more: JSONValue, now: Double? = now, isOpenID: Bool = true) -> AccountError? {
        let claims: JSONValue = [
            "iss": "https://x", "sub": "ada", "aud": "app-1", "iat": .number(Self.now), "exp": .number(Self.now + 3600),
        ]
        let all = JSONValue.object((claims.members ?? []).filter { more[$0.name] == nil } + (more.members ?? []))
        let check = IdentityTokenCheck(
            clientID: "app-1", issuer: "https://x", nonce: nil, now: now.map { UnixTime(seconds: $0) },
            isOpenID: isOpenID)
        do throws(AccountError) {
            try check.check(Secret(token("a", all)))
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "a token that was issued well in the future is refused",
        arguments: [
            (-3600.0, true), (0, true), (60, true), (599, true), (601, false), (3600, false), (86_400, false),
            (1e9, false), (1_798_200_000_000, false),
        ] as [(Double, Bool)])
    func issued(after seconds: Double, isTaken: Bool) {
        let error = check(["iat": .number(Self.now + seconds), "exp": .number(Self.now + 1e15)])
        #expect((error == nil) == isTaken, "\(error as Any)")
        guard let error else { return }
        #expect(error.code == .untrustedAnswer && error.message.contains("was issued in the future (iat)"))
        #expect(error.message.contains("clock of this machine"))
    }

    @Test("a token that is not valid yet is refused")
    func notBefore() {
        #expect(check(["nbf": .number(Self.now + 30)]) == nil)
        #expect(check(["nbf": .number(Self.now + 1800)])?.message.contains("is not valid yet (nbf)") == true)
    }

    @Test("a token that expired before it was issued is refused, whatever the local clock shows")
    func impossible() {
        let error = check(["iat": .number(Self.now + 7200)], now: nil)
        #expect(error?.message.contains("(iat)") == true, "\(error as Any)")
    }

    @Test(
        "a claim of the wrong type is an error that names it",
        arguments: [
            ("exp", "1800003600"), ("exp", true), ("iat", "1800000000"), ("iat", []), ("nbf", "0"), ("iss", 5),
            ("iss", ["https://x"]), ("sub", 5), ("sub", ["ada"]), ("aud", 5), ("aud", ["app-1": true]),
            ("aud", ["app-1", 5]),
            ("azp", 5), ("nonce", 5), ("at_hash", 5),
        ] as [(String, JSONValue)])
    func types(name: String, value: JSONValue) {
        let error = check([name: value])
        #expect(error?.code == .untrustedAnswer && error?.message.contains("\"\(name)") == true, "\(error as Any)")
    }

    @Test("other servers may use numbers for their users")
    func numbers() {
        #expect(check(["sub": 5], isOpenID: false) == nil)
    }

    @Test("an access token with unreadable times does not count as one that never expires", arguments: ["exp", "iat"])
    func accessTokens(name: String) {
        #expect(throws: AccountError.self) { try JSONWebToken.checkTimes(of: Secret(token("a", [name: "1800003600"]))) }
        #expect(throws: Never.self) { try JSONWebToken.checkTimes(of: Secret(token("a", [name: 1_800_003_600]))) }
        #expect(throws: Never.self) { try JSONWebToken.checkTimes(of: Secret("opaque")) }
    }
}
