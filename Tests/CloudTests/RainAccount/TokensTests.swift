// SPDX-License-Identifier: Apache-2.0
import TestSupport
import IdentityProviders
import RainAccount
import RainJSON
import Testing
import RainCore

@Suite("Tokens")
struct TokensTests {
    private func made(_ claims: JSONValue, received: Double = 1000) -> Tokens {
        Tokens(
            jsonWebToken: Secret(token("t", claims)), refresh: nil, identity: nil, received: UnixTime(seconds: received)
        )
    }

    @Test("the stated lifetime is counted from the arrival, so a wrong clock does not matter")
    func skew() {
        let tokens = made(["iat": 5_000_000, "exp": 5_003_600])
        #expect(tokens.expires == UnixTime(seconds: 4600))
    }

    @Test("without the time of issue the stated expiry counts")
    func noIssue() {
        #expect(made(["exp": 5000]).expires == UnixTime(seconds: 5000))
    }

    @Test(
        "a token without a readable expiry never expires by itself",
        arguments: [
            "", "a.b", "a.b.c", "a.!!.c", "a.e30.c", "a.bnVsbA.c", "a.eyJleHAiOiJ4In0.c", "a.eyJleHAi.c", "....",
        ])
    func unreadable(text: String) {
        let tokens = Tokens(
            jsonWebToken: Secret(text), refresh: nil, identity: nil, received: UnixTime(seconds: 0))
        #expect(tokens.expires == nil)
        #expect(!tokens.shouldBeRenewed(at: UnixTime(seconds: 1e12)))
    }

    @Test(
        "renewal is due a minute before the expiry, or a tenth of a short lifetime",
        arguments: [(3600.0, 3540.0), (100, 90), (1, 0.9)])
    func margin(life: Double, due: Double) {
        let tokens = made(["iat": 0, "exp": .number(life)])
        #expect(!tokens.shouldBeRenewed(at: UnixTime(seconds: 1000 + due - 0.01)))
        #expect(tokens.shouldBeRenewed(at: UnixTime(seconds: 1000 + due + 0.01)))
        #expect(!tokens.haveExpired(at: UnixTime(seconds: 1000 + life - 0.01)))
        #expect(tokens.haveExpired(at: UnixTime(seconds: 1000 + life)))
    }

    @Test(
        "tokens that arrived later than now have an unknown expiry: they are renewed, and have not expired",
        arguments: [(500.0, true), (939, true), (941, false), (1000, false)])
    func setBack(now: Double, isDue: Bool) {
        let tokens = made(["iat": 0, "exp": 3600])
        #expect(tokens.shouldBeRenewed(at: UnixTime(seconds: now)) == isDue)
        #expect(!tokens.haveExpired(at: UnixTime(seconds: now)))
    }

    @Test("claims in base64url are read, also with the letters of its own alphabet")
    func alphabet() {
        // "?>?>" and similar text gives - and _ in base64url.
        let tokens = made(["x": "???>>>ÿÿÿ~~~", "exp": 77])
        #expect(tokens.expires == UnixTime(seconds: 77))
    }

    @Test("a session survives its own serialization")
    func serialization() throws {
        var session = savedSession("a")
        #expect(try SavedSession(serialized: session.serialized) == session)
        session.tokens = Tokens(access: Secret("x"), received: UnixTime(seconds: 1.5))
        #expect(try SavedSession(serialized: session.serialized) == session)
    }

    @Test(
        "text that is not a session of a known version is refused",
        arguments: [
            "", "{}", "<html>", #"{"schemaVersion":2}"#, #"{"schemaVersion":1}"#,
            #"{"schemaVersion":1,"provider":"x","userID":"","userName":"u","accessToken":"t","received":0}"#,
            #"{"schemaVersion":1,"provider":"x","userID":"u","userName":"u","accessToken":7,"received":0}"#,
        ])
    func notASession(text: String) async {
        let error = await accountError { () throws(AccountError) in try SavedSession(serialized: Secret(text)) }
        #expect(error?.code == .storeUnreadable)
    }

    @Test(
        "a member of the wrong type is named, and never counts as absent",
        arguments: [
            ("kind", "5"), ("refreshToken", "[1]"), ("identityToken", "{}"), ("expires", #""2030""#),
            ("refreshExpires", "true"), ("signsInAgain", #""true""#), ("renewalMargin", #""60""#), ("extras", "[]"),
            ("extras", #"{"a":5}"#), ("context", #""x""#), ("context", #"{"base_url":5}"#), ("attributes", "5"),
            ("serverIsAhead", #""1""#), ("schemaVersion", #""1""#), ("received", #""0""#),
        ])
    func types(name: String, value: String) async {
        let usual = ["schemaVersion": "2", "provider": #""x""#, "userID": #""u""#, "userName": #""u""#]
            .merging(["accessToken": #""t""#, "received": "0"]) { $1 }.merging([name: value]) { $1 }
        let text = "{" + usual.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
        let error = await accountError { () throws(AccountError) in try SavedSession(serialized: Secret(text)) }
        let isNamed = error?.message.contains("\"\(name)") == true
        #expect(error?.code == .storeUnreadable && isNamed, "\(error as Any)")
    }

    @Test("a session of a newer program is reported as one")
    func newer() async {
        let error = await accountError { () throws(AccountError) in
            try SavedSession(serialized: Secret(#"{"schemaVersion":3,"userID":[1]}"#))
        }
        #expect(error?.message.contains("a newer version of this program wrote the stored session (format 3") == true)
    }
}
