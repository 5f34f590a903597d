// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import RainKitTesting
import TestSupport
import Testing

/// A token of another type must not be sent as a bearer token (RFC 6749, section 7.1).
@Suite("Types of tokens, and of other members of their answer")
struct TokenTypeTests {
    private func signIn(_ answer: String, _ members: String = "") async throws -> AccountError? {
        let bench = try ProviderBench(members)
        bench.http.expect(.post, "/token", answer)
        return await accountError { () async throws(AccountError) in
            try await bench.provider.signIn(.password(user: "ada", password: Secret("p")))
        }
    }

    @Test("Bearer is accepted in every spelling", arguments: ["Bearer", "bearer", "BEARER", ""])
    func bearer(type: String) async throws {
        #expect(try await signIn(#"{"access_token":"a","token_type":"\#(type)"}"#) == nil)
        #expect(try await signIn(#"{"access_token":"a"}"#) == nil)
    }

    @Test(
        "another type is refused by its name",
        arguments: ["mac", "DPoP", "pop", "N_A", "example", "Bearer ", "BearerToken", "Basic"])
    func other(type: String) async throws {
        let error = try await signIn(#"{"access_token":"a","token_type":"\#(type)"}"#)
        #expect(error?.code == .unsupported && error?.message.contains("\"\(type)\"") == true, "\(error as Any)")
        let provider = try ProviderBench("").provider
        let direct = await accountError { () async throws(AccountError) in
            try await provider.signIn(
                .tokens(TokenResponse(accessToken: Secret("a"), tokenType: type), isDirect: true))
        }
        #expect(direct?.code == .unsupported, "\(direct as Any)")
    }

    @Test(
        "a member of the wrong type is refused by its name",
        arguments: [
            (#""id_token":{"a":1}"#, "id_token"), (#""refresh_token":7"#, "refresh_token"),
            (#""expires_in":["3600"]"#, "expires_in"), (#""token_type":["Bearer"]"#, "token_type"),
        ])
    func members(member: String, name: String) async throws {
        let error = try await signIn(#"{"access_token":"a",\#(member)}"#)
        #expect(error?.code == .malformedAnswer && error?.message.contains("\"\(name)\"") == true, "\(error as Any)")
    }

    @Test("so is one that only this provider sends: an expiry, or a stored value")
    func ownMembers() async throws {
        let expiry = #""expiry":[{"field":"ends_at","format":"date"},{"field":"expires_in","format":"seconds"}]"#
        let end = try await signIn(#"{"access_token":"a","expires_in":60,"ends_at":[2030]}"#, expiry)
        #expect(end?.code == .malformedAnswer && end?.message.contains("\"ends_at\"") == true, "\(end as Any)")
        let kept = try await signIn(#"{"access_token":"a","principal":{"id":"x"}}"#, #""keep":["principal"]"#)
        #expect(kept?.code == .malformedAnswer && kept?.message.contains("\"principal\"") == true, "\(kept as Any)")
    }

    @Test(
        "after a user's id of another type, the next member is not used",
        arguments: [#"{"sub":true,"id":"other"}"#, #"{"sub":["ada"],"id":"other"}"#, #"{"sub":{"a":1},"user_id":"x"}"#])
    func users(answer: String) async throws {
        let bench = try ProviderBench("")
        bench.http.expect(.get, "/me", answer)
        let error = await accountError { () async throws(AccountError) in
            try await bench.provider.user(Tokens(access: Secret("a"), received: UnixTime(seconds: 0)))
        }
        #expect(error?.code == .malformedAnswer, "\(error as Any)")
    }

    @Test("the user endpoint's subject is compared whatever its type", arguments: ["5", #""ada""#, "6", "[5]"])
    func subject(answer: String) async throws {
        let bench = try ProviderBench("")
        bench.http.expect(.get, "/me", #"{"sub":\#(answer),"id":"x"}"#)
        var tokens = Tokens(access: Secret("a"), received: UnixTime(seconds: 0))
        tokens.identity = Secret(token("a", ["sub": "5"]))
        let given = tokens
        let error = await accountError { () async throws(AccountError) in try await bench.provider.user(given) }
        #expect((error == nil) == (answer == "5"), "\(error as Any)")
    }
}
